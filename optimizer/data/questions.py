"""Questions in our own form: id, question, choices, answer, task, and the other fields of an item; evidence may be left out.

`answer` is the letter or the exact text of a choice, a number, a text, a list of those, or {"answer": ..., "aliases": [...]}.
Without a `task`, a question with choices is one of choice, one whose answers are all numbers is one of number, and else of text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from optimizer.data.item import LETTERS, Item, Task
from optimizer.data.numbers import read_number

QUESTION_FIELDS = ("question", "choices", "answer", "task")
_TASKS = (Task.CHOICE, Task.NUMBER, Task.TEXT)
Names = Mapping[str, str]


def is_question(row: Mapping[str, Any], names: Names) -> bool:
    """Whether a row asks a question: it has one and no claim, or both and a task that is a question's."""
    if _missing(row.get(names["question"])):
        return False
    return _missing(row.get(names["claim"])) or row.get(names["task"]) in _TASKS


def question_item(row: Mapping[str, Any], names: Names, require_answer: bool = True) -> Item:
    """The question of a row.

    Args:
        row: column -> value.
        names: our field -> the row's column.
        require_answer: whether a question without an answer is an error.

    Raises:
        ValueError: a field is missing or bad, or the answer is none of the choices or could mean two of them.
    """
    question = _text(row, names["question"])
    if not question:
        raise ValueError(f"column {names['question']!r} is empty; a question needs one")
    choices = tuple(_texts(row.get(names["choices"]), names["choices"], listed=True))
    given = tuple(dict.fromkeys(_answers(row.get(names["answer"]))))
    if require_answer and not given:
        raise ValueError(f"column {names['answer']!r} is empty; give the question's answer")
    task = _task(_text(row, names["task"])) if _text(row, names["task"]) else _task_of(choices, given)
    _check_choices(task, choices)
    evidence = tuple(_texts(row.get(names["evidence"]), names["evidence"]))
    return Item(
        id=_text(row, names["id"]) or f"item-{_digest([question, choices, evidence])}",
        claim=question,
        evidence=evidence,
        label=None,
        # As for claims: what shares its evidence, or without any its question, is not independent.
        cluster=_text(row, names["cluster"])
        or (f"evidence-{_digest(evidence)}" if evidence else f"question-{_digest(question)}"),
        source=_text(row, names["source"]),
        category=_text(row, names["category"]),
        domain=_text(row, names["domain"]),
        difficulty=_text(row, names["difficulty"]),
        rationale=_text(row, names["rationale"]),
        task=task,
        choices=choices,
        answers=tuple(dict.fromkeys(_right(answer, task, choices) for answer in given)),
        split=_text(row, names.get("split", "split")),
    )


def _task(name: str) -> Task:
    if name not in _TASKS:
        raise ValueError(f"task {name!r} of a question is none of {', '.join(_TASKS)}")
    return Task(name)


def _task_of(choices: tuple[str, ...], answers: tuple[str, ...]) -> Task:
    if choices:
        return Task.CHOICE
    return Task.NUMBER if answers and all(read_number(answer) is not None for answer in answers) else Task.TEXT


def _check_choices(task: Task, choices: tuple[str, ...]) -> None:
    if task is not Task.CHOICE:
        if choices:
            raise ValueError(
                f"a question of task {task} has no choices, but this one has {len(choices)}; leave out one of the two"
            )
        return
    if not 2 <= len(choices) <= len(LETTERS):
        raise ValueError(f"has {len(choices)} choices; give 2 to {len(LETTERS)}")
    for index, choice in enumerate(choices):
        if choice in choices[:index]:
            raise ValueError(f"choice {choice!r} stands there twice, so an answer could not be told from another")


def _right(answer: str, task: Task, choices: tuple[str, ...]) -> str:
    """An answer in the form in which an item has it."""
    if task is Task.NUMBER and read_number(answer) is None:
        raise ValueError(f"answer {answer!r} is no number; give one, or the task text")
    if task is not Task.CHOICE:
        return answer
    letters = LETTERS[: len(choices)]
    named = {letters[choices.index(answer)]} if answer in choices else set()
    if answer.upper() in letters and len(answer) == 1:
        named.add(answer.upper())
    if len(named) > 1:
        raise ValueError(
            f"answer {answer!r} is the letter of one choice and the text of another; write the other's letter or text"
        )
    if not named:
        raise ValueError(
            f"answer {answer!r} is neither the letter nor the exact text of a choice; choices are {', '.join(choices)}"
        )
    return named.pop()


def _answers(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        unknown = sorted(set(value) - {"answer", "aliases"})
        if unknown or "answer" not in value:
            raise ValueError(
                f"an answer that is an object has the fields answer and aliases, but has {', '.join(map(str, value))}"
            )
        yield from _answers(value["answer"])
        yield from _answers(value.get("aliases"))
    elif isinstance(value, (list, tuple)):
        for part in value:
            if isinstance(part, (list, tuple, Mapping)) or _missing(part):
                raise ValueError(f"a list of answers holds texts and numbers, but this one holds {part!r:.40}")
            yield from _answers(part)
    elif not _missing(value):
        yield _as_text(value, "answer")


def _texts(value: object, column: str, listed: bool = False) -> Iterator[str]:
    """The texts of a column; with `listed`, a single one that is no list is an error."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)  # a list that was written into one CSV cell
        except ValueError as error:
            raise ValueError(f'column {column!r} begins like a list but is no JSON; write ["one", "two"]') from error
    if isinstance(value, (list, tuple)):
        for part in value:
            if isinstance(part, (list, tuple, Mapping)) or _missing(part):
                raise ValueError(f"column {column!r} must be a list of texts, but holds {part!r:.40}")
            yield _as_text(part, column)
    elif not _missing(value):
        if listed:
            raise ValueError(f"column {column!r} must be a list of texts, but is {value!r:.40}")
        yield _as_text(value, column)


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    return "" if _missing(value) else _as_text(value, column)


def _as_text(value: object, column: str) -> str:
    if isinstance(value, (bool, list, tuple, Mapping)):
        raise ValueError(f"column {column!r} must be text, but is a {type(value).__name__}")
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return text.strip()


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value)) or (isinstance(value, str) and not value.strip())


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]

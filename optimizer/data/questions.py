"""Questions in our own form: id, question, choices, answer, task, and the other fields of an item; evidence may be left out.

`answer` is the letter or the exact text of a choice, a number, a text, a list of those, or {"answer": ..., "aliases": [...]}.
Without a `task`, a question with choices is one of choice, one whose answers are all numbers is one of number, and else of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from optimizer.data.fields import Row, answer_texts, cell_value, is_missing, short_text, text_of
from optimizer.data.item import LETTERS, Item, Task
from optimizer.data.numbers import read_number

QUESTION_FIELDS = ("question", "choices", "answer", "task")
_TASKS = (Task.CHOICE, Task.NUMBER, Task.TEXT)


def is_question(row: Row, names: Mapping[str, str]) -> bool:
    """Whether a row asks a question: it has one and no claim, or both and a task that is a question's."""
    if _is_empty(row.get(names["question"])):
        return False
    return _is_empty(row.get(names["claim"])) or row.get(names["task"]) in _TASKS


def asked(row: Row, names: Mapping[str, str], require_answer: bool) -> tuple[Task, tuple[str, ...], tuple[str, ...]]:
    """The task, the choices and the right answers of a row's question, in the form in which an item has them.

    Args:
        row: column -> value.
        names: our field -> the row's column.
        require_answer: whether a question without an answer is an error.

    Raises:
        ValueError: a field is bad, or the answer is none of the choices or could mean two of them.
    """
    choices = tuple(_choices(row.get(names["choices"]), names["choices"]))
    value = row.get(names["answer"])
    _check_answers(value)
    given = answer_texts(value)
    if require_answer and not given:
        raise ValueError(f"column {names['answer']!r} is empty; give the question's answer")
    task = _task(text_of(row, names["task"]).strip(), choices, given)
    _check_choices(task, choices)
    return task, choices, tuple(dict.fromkeys(_right(answer, task, choices) for answer in given))


def answers_as_given(item: Item) -> list[str]:
    """A question's answers as `asked` reads them back: a letter with its text where the letter alone is another choice's text."""

    def written(answer: str) -> str:
        own = LETTERS.find(answer)
        is_anothers = any(choice == answer for index, choice in enumerate(item.choices) if index != own)
        return item.lettered[own] if is_anothers else answer

    return [written(answer) for answer in item.answers]


def _task(name: str, choices: tuple[str, ...], answers: tuple[str, ...]) -> Task:
    if name:
        if name not in _TASKS:
            raise ValueError(f"task {name!r} of a question is none of {', '.join(_TASKS)}")
        return Task(name)
    if choices:
        return Task.CHOICE
    return Task.NUMBER if answers and all(read_number(answer) is not None for answer in answers) else Task.TEXT


def _choices(value: object, column: str) -> Iterator[str]:
    value = cell_value(value, column)
    if isinstance(value, (list, tuple)):
        for part in value:
            if isinstance(part, (list, tuple, Mapping)) or _is_empty(part):
                raise ValueError(f"column {column!r} must be a list of texts, but holds {part!r:.40}")
            yield short_text(part, column)
    elif not _is_empty(value):
        raise ValueError(f"column {column!r} must be a list of texts, but is {value!r:.40}")


def _check_choices(task: Task, choices: tuple[str, ...]) -> None:
    if task is not Task.CHOICE:
        if choices:
            raise ValueError(
                f"a question of task {task} has no choices, but this one has {len(choices)}; leave out one of the two"
            )
    elif not 2 <= len(choices) <= len(LETTERS):
        raise ValueError(f"has {len(choices)} choices; give 2 to {len(LETTERS)}")


def _right(answer: str, task: Task, choices: tuple[str, ...]) -> str:
    """An answer in the form in which an item has it."""
    if task is Task.NUMBER and read_number(answer) is None:
        raise ValueError(f"answer {answer!r} is no number; give one, or the task text")
    if task is not Task.CHOICE:
        return answer
    letters = LETTERS[: len(choices)]
    named = {letter for letter, choice in zip(letters, choices, strict=True) if answer in (choice, f"{letter}) {choice}")}
    if len(answer) == 1 and answer.upper() in letters:
        named.add(answer.upper())
    if len(named) > 1:
        raise ValueError(
            f"answer {answer!r} could mean the choices {' and '.join(sorted(named))}, since a letter or a text stands there for "
            f"two; write it in full, {min(named)}) {choices[letters.index(min(named))]}"
        )
    if not named:
        raise ValueError(
            f"answer {answer!r} is neither the letter nor the exact text of a choice; choices are {', '.join(choices)}"
        )
    return named.pop()


def _check_answers(value: object, within: bool = False) -> None:
    """Raise ValueError for what published data may have around its answers and our own form has not."""
    if isinstance(value, Mapping) and not within:
        if set(value) - {"answer", "aliases"} or "answer" not in value:
            raise ValueError(
                f"an answer that is an object has the fields answer and aliases, but has {', '.join(map(str, value))}"
            )
        for part in value.values():
            _check_answers(part)
    elif isinstance(value, (list, tuple)) and not within:
        for part in value:
            _check_answers(part, within=True)
    elif isinstance(value, (list, tuple, Mapping)) or (within and _is_empty(value)):
        raise ValueError(f"a list of answers holds texts and numbers, but this one holds {value!r:.40}")


def _is_empty(value: object) -> bool:
    """Whether nothing stands there. Words for a missing value may be an answer or a choice: None is one."""
    return (isinstance(value, str) and not value.strip()) or (not isinstance(value, str) and is_missing(value))

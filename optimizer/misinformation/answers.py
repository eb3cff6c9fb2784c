"""The one rule-based extractor of this package: an answer read out of a text, for claims and for questions alike.

A claim's canonical answer is its label; a question's is what `optimizer.debate.extract` makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from optimizer.data.item import LETTERS, Item, Label, Task
from optimizer.data.passages import Passage, PassageKind
from optimizer.debate.extract import Extracted, Status, extract
from optimizer.debate.extract import is_right as question_is_right
from optimizer.debate.parse import parse_answer
from optimizer.debate.protocol import Protocol
from optimizer.debate.render import answer_words
from optimizer.debate.verdict import Outcome

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?![\w]|[.,]\d)")
_OTHER_LABEL = {Label.GROUNDED: Label.NOT_GROUNDED, Label.NOT_GROUNDED: Label.GROUNDED}


def read_text(text: str, item: Item, protocol: Protocol, finish_reason: str = "stop") -> Extracted:
    """Read the answer that a text gives. What abstains, refuses or is cut before its answer has none."""
    if item.task is not Task.CLAIM:
        return extract(text, item)
    verdict = parse_answer(text, finish_reason, protocol.words)
    if verdict.outcome is Outcome.OK and verdict.label is not None:
        return Extracted(Status.PARSED, str(verdict.label))
    return Extracted(Status.AMBIGUOUS if verdict.detail == "ambiguous" else Status.NONE)


def is_right(found: Extracted, item: Item) -> bool:
    """Whether an answer was read and is right."""
    if found.status is not Status.PARSED:
        return False
    if item.task is Task.CLAIM:
        return item.label is not None and found.answer == item.label.value
    return question_is_right(found.answer, item)


def intended(passage: Passage, item: Item) -> str:
    """The canonical answer that a passage speaks for; empty for one that speaks for none, or where it is not known."""
    if passage.kind is PassageKind.TRUE:
        return _right_answer(item)
    if passage.kind is not PassageKind.FALSE:
        return ""
    if item.task is Task.CLAIM:
        return _OTHER_LABEL[item.label].value if item.label is not None else ""
    if passage.answer:
        found = extract(passage.answer, item)
        return found.answer if found.status is Status.PARSED else passage.answer
    wrong = [letter for letter in LETTERS[: len(item.choices)] if letter not in item.answers]
    return wrong[0] if item.task is Task.CHOICE and len(wrong) == 1 else ""


def support_is_enough(item: Item, rule: str) -> bool:
    """Whether a passage is verified where its judges say that it supports the wrong answer, contradiction or not.

    That is so for fictional items with two answers, where nothing that is known can be contradicted: `rule` is the setting that
    says which those are.
    """
    two = item.task is Task.CLAIM or len(item.choices) == 2
    return rule == "always" or (rule == "claims" and item.task is Task.CLAIM) or (rule == "two_answers" and two)


def names_answer(passage: Passage, item: Item) -> bool:
    """Whether a passage names the answer that it speaks for verbatim: by its judges where it has them, else by its words.

    A claim's answers are verdicts on it, so there the claim itself is looked for.
    """
    if passage.flags:
        return all(flag.names_wrong for flag in passage.flags.values())
    answer = intended(passage, item)
    if item.task is Task.CLAIM:
        answer = item.claim.strip().rstrip(".")
    elif item.task is Task.CHOICE and answer in LETTERS[: len(item.choices)] and answer:
        answer = item.choices[LETTERS.index(answer)]
    return bool(answer) and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", passage.text, re.IGNORECASE) is not None


def read_vote(text: str, options: Sequence[str], item: Item, protocol: Protocol) -> Extracted:
    """Which option a ballot is for: its number, or the answer in words. Two different ones are no vote.

    Args:
        text: what was written.
        options: canonical answers in the order in which they were numbered, from 1.
    """
    for number, option in enumerate(options, 1):
        line = f"{number}. {answer_words(option, item, protocol)}"
        if text.strip().strip("*` ").casefold() == line.casefold():
            return Extracted(Status.PARSED, option)
    numbers = {int(match) for match in _NUMBER.findall(text)}
    named = [options[number - 1] for number in sorted(numbers) if 1 <= number <= len(options)]
    if len(named) == 1:
        return Extracted(Status.PARSED, named[0])
    if named:
        return Extracted(Status.AMBIGUOUS)
    found = read_text(text, item, protocol)
    return found if found.status is not Status.PARSED or found.answer in options else Extracted(Status.NONE)


def _right_answer(item: Item) -> str:
    if item.task is Task.CLAIM:
        return item.label.value if item.label is not None else ""
    if not item.answers:
        return ""
    found = extract(item.answers[0], item)
    return found.answer if found.status is Status.PARSED else item.answers[0]

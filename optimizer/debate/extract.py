"""Reads the answer to a question out of what a model wrote: a choice, a number or a short text. Never guesses.

In order, as for claims: a content filter; thinking is set aside; JSON anywhere; tags; prose, by the reader of the item's task.
Two different answers are ambiguous wherever they stand. What is read is canonical: a letter in capitals, a number by its value
(`12.0` is `12`), a text without case, articles and punctuation; so equal answers are equal strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from optimizer.data.item import Item, Task
from optimizer.data.numbers import read_number
from optimizer.debate.answers.choice import read_choice_answer
from optimizer.debate.answers.number import UNREADABLE, read_number_answer
from optimizer.debate.answers.text import canonical_text, contains, read_text_answer, read_text_value
from optimizer.debate.json_answers import ANSWER_KEYS, ConflictingKeys, cut_answers, field, find_objects, load_text, verdict_field
from optimizer.debate.parse import is_refusal, without_thought
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.debate.wording import clean, find_confidence, read_confidence

_BESIDE = ("reason", "confidence")
_OWN_OBJECT = re.compile(r"\{\s*[\"'](?:reason|confidence|answer)[\"']\s*:")
_TAGGED = re.compile(r"<(?:final_)?(?:answer|verdict)>\s*([^<]*?)\s*</", re.IGNORECASE)


class Status(StrEnum):
    """PARSED is one answer; AMBIGUOUS two or more different ones; NONE nothing that is an answer."""

    PARSED = "parsed"
    AMBIGUOUS = "ambiguous"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was read: `answer` is canonical (a letter, a number as text, a normalised text), empty unless parsed."""

    status: Status
    answer: str = ""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The different answers found, and what stands beside them."""

    answers: frozenset[str]
    confidence: float | None = None
    reason: str = ""


def extract(text: str, item: Item) -> Extracted:
    """Read the answer to `item` from a model's text; whole words, signs, and a stated final answer before a first match."""
    return _status(_read(_answer_part(text, item), item, cut=False))


def read_question(text: str, item: Item, finish_reason: str = "stop") -> Verdict:
    """Read one answer to a question as a verdict, whose label is the canonical answer.

    Args:
        text: what the model wrote.
        item: the question.
        finish_reason: as the server gave it; `length` makes an incomplete answer truncated, not unparsed.
    """
    if finish_reason == "content_filter":
        return Verdict(Outcome.REFUSED)
    cut = finish_reason == "length"
    answer = _answer_part(text, item)
    reading = _read(answer, item, cut)
    found = _status(reading)
    if found.status is Status.PARSED:
        return Verdict(Outcome.OK, found.answer, reading.confidence, reading.reason)
    if found.status is Status.NONE and cut:
        return Verdict(Outcome.TRUNCATED)
    if found.status is Status.NONE and is_refusal(answer):
        return Verdict(Outcome.REFUSED, reason=answer.strip())
    return Verdict(Outcome.UNPARSED, detail=found.status)


def is_right(answer: str | None, item: Item) -> bool:
    """Whether an answer is right: a claim's label, one of a question's right answers; no answer is wrong.

    A number is right by its value. A text is right if it contains a right answer or an alias as whole words.
    """
    if not answer:
        return False
    match item.task:
        case Task.CLAIM:
            return answer == item.label
        case Task.CHOICE:
            return answer in item.answers
        case Task.NUMBER:
            value = read_number(answer)
            return value is not None and value in map(read_number, item.answers)
        case Task.TEXT:
            given = canonical_text(answer)
            return any(contains(given, canonical_text(right)) for right in item.answers)


def _status(reading: _Reading) -> Extracted:
    if len(reading.answers) == 1:
        (answer,) = reading.answers
        return Extracted(Status.PARSED, answer) if answer != UNREADABLE else Extracted(Status.NONE)
    return Extracted(Status.AMBIGUOUS if reading.answers else Status.NONE)


def _answer_part(text: str, item: Item) -> str:
    return without_thought(clean(text), lambda rest: bool(_read(rest, item, False).answers))


def _read(text: str, item: Item, cut: bool) -> _Reading:
    whole = load_text(text)
    if isinstance(whole, str):
        return _read(whole, item, cut)
    try:
        objects, broken = find_objects(text)
    except ConflictingKeys:
        return _Reading(frozenset({"one", "other"}))
    fields = [found for found in (verdict_field(record, keys=ANSWER_KEYS) for record in objects) if found is not None]
    if fields:
        record = fields[-1][1]
        reason = field(record, "reason") or field(record, "rationale") or field(record, "explanation") or ""
        answers = _union(_value(value, item) for value, _ in fields)
        return _Reading(answers, read_confidence(field(record, "confidence")), str(reason))
    if broken and (values := cut_answers(broken if cut else broken + "}")):
        return _Reading(_union(_value(value, item) for value in values))
    if any(name in _BESIDE for record in objects for name in record) or (broken and _OWN_OBJECT.match(broken)):
        return _Reading(frozenset())  # our own form without its answer: what a reason mentions is none
    if tagged := _TAGGED.findall(text):
        return _Reading(_union(_value(value, item) for value in tagged))
    if item.task is Task.TEXT and is_refusal(text):
        return _Reading(frozenset())
    return _Reading(frozenset(_prose(text, item, cut)), find_confidence(text), text.strip())


def _union(answers: Iterable[set[str]]) -> frozenset[str]:
    return frozenset().union(*answers)


def _value(value: Any, item: Item) -> set[str]:
    """A field's value as answers."""
    if value is None:
        return set()
    text = value if isinstance(value, str) else json.dumps(value)
    return read_text_value(text) if item.task is Task.TEXT else _prose(text, item, cut=False)


def _prose(text: str, item: Item, cut: bool) -> set[str]:
    if item.task is Task.CHOICE:
        return read_choice_answer(text, item.choices, cut)
    if item.task is Task.NUMBER:
        return read_number_answer(text, cut)
    if item.task is Task.TEXT:
        return read_text_answer(text, cut)
    raise ValueError(f"item {item.id!r} is a claim; parse_answer reads its answers")

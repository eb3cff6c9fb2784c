"""The item: one claim with its evidence, a gold label and a cluster; or a question with its right answers."""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

LETTERS = string.ascii_uppercase  # what choices are called, in their order


class Label(StrEnum):
    """What a claim is, given its evidence. UNSURE exists only in ternary answers and never as a gold label."""

    GROUNDED = "grounded"
    NOT_GROUNDED = "not_grounded"
    UNSURE = "unsure"


class Task(StrEnum):
    """What is asked of an item: a claim's label, one of several choices, a number, or a short text."""

    CLAIM = "claim"
    CHOICE = "choice"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Shown:
    """What makes an item a variant of another: under `condition`, the personas `to` read `passage`, and nobody else does.

    `item` is the id of the item that it is a variant of. Without a passage nobody is shown anything.
    """

    item: str
    condition: str
    passage: str = ""
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One claim to judge, or one question to answer (task other than claim: `claim` is then the question).

    `label` is None for questions, and for claims that are judged without being scored. `cluster` names the document or claim
    family that items share: items of one cluster are not independent, and no cluster is ever split. `choices` are a
    question's options in their order, called A, B, C … ; `answers` are its right answers: the letter of a choice, a number as
    text, or a text and its aliases, the first being the one that is shown. `split` is where the data set’s authors put it.
    `shown` is set on variants, of which one item has several: same claim, evidence, label and cluster, an id of their own.
    """

    id: str
    claim: str
    evidence: tuple[str, ...]
    label: Label | None
    cluster: str
    source: str = ""
    category: str = ""
    domain: str = ""
    difficulty: str = ""
    rationale: str = ""
    task: Task = Task.CLAIM
    choices: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    split: str = ""
    shown: Shown | None = None

    @property
    def base(self) -> str:
        """The id of the item that this is a variant of, or its own."""
        return self.shown.item if self.shown else self.id

    def passage_for(self, persona: str) -> str:
        """What a persona alone is shown; empty where that is nothing."""
        return self.shown.passage if self.shown and persona in self.shown.to else ""

    @property
    def read(self) -> str:
        """All that somebody may read of it: evidence, claim or question with its choices, and the passage of a variant."""
        return "\n".join([self.evidence_text, self.claim, *self.lettered, self.shown.passage if self.shown else ""])

    @property
    def evidence_text(self) -> str:
        """The evidence passages, one a line, just as they were given."""
        return "\n".join(self.evidence)

    @property
    def lettered(self) -> tuple[str, ...]:
        """The choices as they are shown: `A) …`."""
        return tuple(f"{letter}) {choice}" for letter, choice in zip(LETTERS, self.choices, strict=False))

    @property
    def gold(self) -> str:
        """What is right, for people to read: the label, or a question's right answers, a choice with its text."""
        if self.task is Task.CLAIM:
            return str(self.label)
        return " or ".join(self.lettered[LETTERS.index(each)] if self.choices else each for each in self.answers)

    @property
    def stratum(self) -> str | None:
        """What splits keep in balance: a claim's label, the letter of a question's right choice, otherwise its task."""
        if self.task is Task.CLAIM:
            return self.label
        return f"{self.task} {self.answers[0]}" if self.task is Task.CHOICE and self.answers else self.task

    @property
    def content_hash(self) -> str:
        """A hash of everything that a judge or a scorer sees, 16 hex digits; the rationale is left out."""
        record = asdict(self)
        for name in ("rationale", "source", "category", "domain", "difficulty", "split"):
            record.pop(name)
        if self.shown is None:
            record.pop("shown")
        if self.task is Task.CLAIM:
            # Claims keep the hash that runs and seals of earlier versions know them by.
            record = {name: record[name] for name in record if name not in ("task", "choices", "answers")}
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16]


def items_hash(items: Iterable[Item]) -> str:
    """The content hash of a set of items, whatever their order."""
    joined = "\n".join(sorted(item.content_hash for item in items))
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


def sealed_hash(items: Iterable[Item]) -> str:
    """The name of a test set in the seal register: the hash of its items, or of those that its variants are of.

    Who has looked at an item under one condition has looked at the item.
    """
    return items_hash({item.base: replace(item, id=item.base, shown=None) for item in items}.values())

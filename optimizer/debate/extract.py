"""Reads the answer to a question out of what a model wrote: a choice, a number or a short text. Never guesses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from optimizer.data.item import Item


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


def extract(text: str, item: Item) -> Extracted:
    """Read the answer to `item` from a model's text; whole words, signs, and a stated final answer before a first match."""
    raise NotImplementedError


def is_right(answer: str, item: Item) -> bool:
    """Whether a canonical answer is one of the item's right answers; a text is right if it contains one as whole words."""
    raise NotImplementedError

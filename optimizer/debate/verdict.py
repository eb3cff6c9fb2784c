"""What one agent answered in one round."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from optimizer.data.item import Label

# From left to right: what is a label in a record is one again.
Answer = Annotated[Label | str, Field(union_mode="left_to_right")]


class Outcome(StrEnum):
    """What became of an answer. Only OK is a vote; FAILED is infrastructure, is missing, and is never scored."""

    OK = "ok"
    ABSTAINED = "abstained"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSED = "unparsed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One agent's answer, confidence (0 to 100) and reason.

    `detail` says why an answer is unparsed: none, ambiguous, or not on the ballot. `label` is a claim's label, or the canonical
    answer to a question: equal answers are equal texts.
    """

    outcome: Outcome
    label: Answer | None = None
    confidence: float | None = None
    reason: str = ""
    detail: str = ""

    @property
    def vote(self) -> Answer | None:
        """The answer if this counts as a vote."""
        return self.label if self.outcome is Outcome.OK else None

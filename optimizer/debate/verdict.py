"""What one agent answered in one round."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from optimizer.data.item import Label


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
    """One agent's label, confidence (0 to 100) and reason. `detail` says why an answer is unparsed: none or ambiguous."""

    outcome: Outcome
    label: Label | None = None
    confidence: float | None = None
    reason: str = ""
    detail: str = ""

    @property
    def vote(self) -> Label | None:
        """The label if this counts as a vote."""
        return self.label if self.outcome is Outcome.OK else None

"""The budget in calls: hard, and with the sealed test's share set aside first."""

from __future__ import annotations

from typing import Protocol


class BudgetSpent(Exception):
    """The next step would exceed the budget."""


class Meter(Protocol):
    """What counts the spending: a ledger."""

    @property
    def distinct(self) -> int:
        """How many different requests were made."""


class Budget:
    """Counts the run's different requests, cached or not: a warm and a cold run decide alike.

    Args:
        limit: different requests that the run may make, the sealed test included.
        ledger: counts them.
        set_aside: kept for the sealed test until `release`.
    """

    def __init__(self, limit: int, ledger: Meter, set_aside: int = 0) -> None:
        self.limit, self._ledger, self._set_aside = limit, ledger, set_aside

    @property
    def spent(self) -> int:
        return self._ledger.distinct

    @property
    def left(self) -> int:
        """What may still be spent now."""
        return self.limit - self._set_aside - self.spent

    def affords(self, calls: int) -> bool:
        """Whether so many calls, at the worst, stay within the limit."""
        return calls <= self.left

    def release(self) -> None:
        """Give the share of the sealed test free: it is being opened."""
        self._set_aside = 0

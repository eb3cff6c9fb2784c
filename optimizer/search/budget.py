"""The budget: calls, and beside them tokens, money and minutes; hard, and with the sealed test's share set aside first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from optimizer.models.ledger import Ledger
from optimizer.sections import SearchSettings

_PLENTY = 10**9


class BudgetSpent(Exception):
    """The next step would exceed the budget."""


class Meter(Protocol):
    """What counts the spending: a ledger."""

    @property
    def distinct(self) -> int:
        """How many different requests were made."""


@dataclass(frozen=True, slots=True)
class DebateMeter:
    """Counts a ledger's calls but those of reflection, which are charged when they are asked."""

    ledger: Ledger

    @property
    def distinct(self) -> int:
        return self.ledger.spent.debate_calls


@dataclass(frozen=True, slots=True)
class Allowance:
    """A limit beside that in calls.

    Attributes:
        limit: in its unit.
        spent: of it so far.
        a_call: the most that one more call of a debate takes.
        reserve: kept for a reflection, whose calls are longer.
    """

    limit: float
    spent: Callable[[], float]
    a_call: Callable[[], float]
    reserve: Callable[[], float] = lambda: 0.0

    @property
    def calls(self) -> int:
        """How many calls of debates it still buys, at the least."""
        each = self.a_call()
        return int((self.limit - self.spent() - self.reserve()) // each) if each > 0 else _PLENTY


class Budget:
    """Counts the run's different requests, cached or not: a warm and a cold run decide alike.

    Args:
        limit: different requests that the run may make, the sealed test included; 0 is no limit.
        ledger: counts them.
        set_aside: kept for the sealed test until `release`.
        allowances: what limits it beside.
    """

    def __init__(self, limit: int, ledger: Meter, set_aside: int = 0, allowances: Sequence[Allowance] = ()) -> None:
        self.limit, self._ledger, self._set_aside, self._allowances = limit or _PLENTY, ledger, set_aside, tuple(allowances)
        self._charged = 0

    @property
    def spent(self) -> int:
        """Calls so far: those that the ledger counts, and those that were charged when they were asked."""
        return self._ledger.distinct + self._charged

    def charge(self, calls: int) -> None:
        """Count calls that the meter does not: they are under way, and when they end must not matter."""
        self._charged += calls

    @property
    def left(self) -> int:
        """How many calls may still be made now."""
        return min(self.limit - self.spent, *(each.calls for each in self._allowances), _PLENTY) - self._set_aside

    def affords(self, calls: int) -> bool:
        """Whether so many calls, at the worst, stay within the limit."""
        return calls <= self.left

    def release(self) -> None:
        """Give the share of the sealed test free: it is being opened."""
        self._set_aside = 0


def allowances(search: SearchSettings, ledger: Ledger, longer: int, reflection: int) -> list[Allowance]:
    """The limits of the settings beside calls.

    Args:
        search: the limits.
        ledger: counts tokens and dollars.
        longer: tokens by which a debate's call may still exceed the largest seen: of items that have not come yet.
        reflection: tokens that reflecting may take at once.
    """
    spent, found = ledger.spent, []

    def dearest() -> float:
        # What is read costs no more than what is written, so the average of a call bounds it.
        return spent.dearest.get("debate", 0.0) + longer * spent.a_token

    if search.budget_tokens:
        found.append(
            Allowance(
                search.budget_tokens,
                lambda: spent.tokens,
                lambda: spent.largest.get("debate", 0) + longer if spent.debate_calls else 0,
                lambda: max(reflection, spent.largest.get("other", 0)),
            )
        )
    if search.budget_usd:
        found.append(
            Allowance(
                search.budget_usd,
                lambda: spent.cost,
                dearest,
                lambda: spent.dearest.get("other", 0.0) or 4 * dearest(),
            )
        )
    if search.budget_minutes:
        began, before = time.monotonic(), ledger.counts["paid"]

        def minutes() -> float:
            return (time.monotonic() - began) / 60

        found.append(Allowance(search.budget_minutes, minutes, lambda: minutes() / max(1, ledger.counts["paid"] - before)))
    return found

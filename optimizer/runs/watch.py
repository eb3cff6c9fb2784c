"""What a run tells while it goes on. The command shows it; a library user may ignore it."""

from __future__ import annotations

from typing import Protocol

from optimizer.models.ledger import Ledger


class Ended(Protocol):
    """Whatever a watcher counts when it ends: a debate, or another record of a run."""

    @property
    def failed(self) -> bool:
        """Whether it got no answer."""


class Watcher(Protocol):
    """Hears of progress. Every method may do nothing."""

    def begin(self, ledger: Ledger, calls: int) -> None:
        """Work begins: the ledger counts on from now, and so many calls are made at the most."""

    def note(self, text: str) -> None:
        """One line worth reading."""

    def phase(self, text: str) -> None:
        """What is being done from now on."""

    def incumbent(self, text: str) -> None:
        """Who leads the search now."""

    def debate_done(self, debate: Ended) -> None:
        """A debate ended, or was taken from the record."""


class Silent:
    """A watcher that says nothing."""

    def begin(self, ledger: Ledger, calls: int) -> None:
        return

    def note(self, text: str) -> None:
        return

    def phase(self, text: str) -> None:
        return

    def incumbent(self, text: str) -> None:
        return

    def debate_done(self, debate: Ended) -> None:
        return

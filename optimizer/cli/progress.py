"""Shows a run while it goes: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from optimizer.cli.console import duration, plain
from optimizer.models.ledger import Ledger
from optimizer.runs.watch import Ended

_PLAIN_EVERY = 20.0


class RunProgress:
    """A watcher that prints. Used as a context manager, so that the bar is gone when the run is."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, emoji=False)
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), console=self._console,
            disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("starting", total=None, state="")
        self._ledger: Ledger | None = None
        self._calls = 0
        self._debates = self._failed = 0
        self._started = self._last_line = time.monotonic()
        self._phase = self._best = ""

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def begin(self, ledger: Ledger, calls: int) -> None:
        """Count from this ledger, against so many calls at the most."""
        self._ledger, self._calls, self._started = ledger, calls, time.monotonic()
        self._debates = self._failed = 0
        self._bar.update(self._task, total=calls)

    def note(self, text: str) -> None:
        """A line that stays."""
        self._console.print(plain(text), markup=True, soft_wrap=True)

    def phase(self, text: str) -> None:
        """Name what is being done."""
        self._phase = text
        self._bar.update(self._task, description=plain(text))

    def incumbent(self, text: str) -> None:
        """Remember who leads."""
        self._best = f", best {plain(text)}"

    def debate_done(self, debate: Ended) -> None:
        """Count a debate, and show where the run is."""
        self._debates += 1
        self._failed += debate.failed
        state = self._state()
        self._bar.update(self._task, completed=self._ledger.distinct if self._ledger else 0, state=state)
        if not self._console.is_terminal and time.monotonic() - self._last_line > _PLAIN_EVERY:
            self._last_line = time.monotonic()
            sys.stderr.write(f"{self._phase}: {state}\n")

    def _state(self) -> str:
        if self._ledger is None:
            return ""
        counts = self._ledger.counts
        done, elapsed = self._ledger.distinct, time.monotonic() - self._started
        left = f", at most {duration(elapsed / done * (self._calls - done))} left" if done and self._calls > done else ""
        failed = f", {self._failed} failed" if self._failed else ""
        tokens = counts["prompt_tokens"] + counts["completion_tokens"]
        return (
            f"{done}/{self._calls} calls, {counts['hits']} from cache, {self._debates} debates{failed}, "
            f"{tokens / 1000:.0f}k tokens{self._best}{left}"
        )


class Counter:
    """A bar on standard error for work that is counted in steps; nothing elsewhere than on a terminal."""

    def __init__(self, what: str, steps: int) -> None:
        console = Console(stderr=True)
        self._bar = Progress(TextColumn("{task.description}"), BarColumn(), console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task(what, total=steps)

    def __enter__(self) -> Counter:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def step(self) -> None:
        """One step is done."""
        self._bar.advance(self._task)

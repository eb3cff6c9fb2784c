"""Evaluates candidates on items, remembers every debate, and takes from the record what an earlier start already did."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence

from optimizer.data.item import Item
from optimizer.debate.conditions import calls_of, first_round_requests
from optimizer.debate.executor import DebateExecutor, DebateJob
from optimizer.debate.records import Debate
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.runs.events import EventLog
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.candidate import Candidate


class Evaluator:
    """Debates by candidate and item id, never by position.

    Args:
        executor: holds the debates.
        events: each finished debate is written there at once.
        recorded: debates of an earlier start of this run; they are used instead of being held again.
    """

    def __init__(
        self, executor: DebateExecutor, events: EventLog, recorded: Iterable[Debate] = (), watcher: Watcher | None = None
    ) -> None:
        self.executor = executor
        self._events = events
        self._recorded = {(debate.candidate, debate.item, debate.sample): debate for debate in recorded}
        self._debates: dict[str, dict[str, Debate]] = {}
        self._items: dict[str, Item] = {}
        self._watcher: Watcher = watcher or Silent()

    @property
    def batch(self) -> int:
        """How many debates keep the servers busy."""
        return max(1, self.executor.in_flight)

    async def evaluate(self, candidate: Candidate, items: Sequence[Item]) -> dict[str, Debate]:
        """The candidate's debates on these items by item id; failed ones are held again.

        Raises:
            UserError: the endpoint is gone.
        """
        known = self._debates.setdefault(candidate.id, {})
        self._items |= {item.id: item for item in items}
        missing = [item for item in items if item.id not in known or known[item.id].failed]
        jobs = []
        for item in missing:
            earlier = self._recorded.get((candidate.id, item.id, 0))
            if earlier is None:
                jobs.append(DebateJob(item, candidate.id, candidate.texts))
                continue
            for key in earlier.keys:
                self.executor.client.ledger.touch(key)
            known[item.id] = earlier
            self._watcher.debate_done(earlier)
        await self.executor.run(jobs, self._done)
        return {item.id: known[item.id] for item in items}

    def known(self, candidate: Candidate) -> dict[str, Debate]:
        """What there is of a candidate so far, by item id."""
        return self._debates.get(candidate.id, {})

    def scores(self, candidate: Candidate, items: Iterable[Item]) -> dict[str, float]:
        """Scores by item id over the debates that there are; failed ones are missing."""
        known = self.known(candidate)
        found = {item.id: known[item.id].score(item) for item in items if item.id in known}
        return {item: score for item, score in found.items() if score is not None}

    def tried(self, candidate: Candidate, items: Iterable[Item]) -> int:
        """On how many of these items it was evaluated, failed debates included."""
        known = self.known(candidate)
        return sum(item.id in known for item in items)

    def personas(self, candidate: Candidate) -> list[str]:
        """Who speaks in its debates."""
        return [name for name in candidate.texts if name != SOURCE_SKEPTICISM]

    def cost_bound(self, candidate: Candidate, parent: Candidate, items: Sequence[Item]) -> int:
        """The most calls that evaluating can take, given what the parent's debates on the same items already asked."""
        have, personas = self.known(candidate), self.personas(candidate)
        asked = [item for item in items if item.id not in have or have[item.id].failed]
        same = candidate.texts.get(SOURCE_SKEPTICISM) == parent.texts.get(SOURCE_SKEPTICISM)
        unchanged = [name for name in personas if same and candidate.texts[name] == parent.texts.get(name)]
        bases = {item.base for item in asked}
        known = first_round_requests(self._held(candidate, bases), personas)
        known |= first_round_requests(self._held(parent, bases), unchanged)
        return calls_of(asked, personas, self.executor.protocol, len(first_round_requests(asked, personas) - known))

    def _held(self, candidate: Candidate, bases: Collection[str]) -> list[Item]:
        """What of these items, or their variants, a candidate was asked without failing."""
        held = [self._items[name] for name, debate in self.known(candidate).items() if not debate.failed]
        return [item for item in held if item.base in bases]

    def _done(self, debate: Debate) -> None:
        self._debates[debate.candidate][debate.item] = debate
        if debate.failed:
            # A failure is information and no result: each is written, and the debate stays owed.
            self._events.record("failed_debate", f"{debate.candidate}:{debate.item}:{time.time_ns()}", debate=debate.to_json())
        else:
            self._events.record("debate", f"{debate.candidate}:{debate.item}:{debate.sample}", debate=debate.to_json())
        self._watcher.debate_done(debate)

"""Sequential coordinate ascent: improve one component with the others fixed, freeze it, go to the next."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from optimizer.config import SearchSettings
from optimizer.data.splits import Splits
from optimizer.debate.voices import REFLECTION
from optimizer.models.transport import CallFailed
from optimizer.prompts.library import Alternative
from optimizer.runs.events import EventLog
from optimizer.search.budget import Budget
from optimizer.search.candidate import Candidate, objection
from optimizer.search.duel import DuelResult, duel
from optimizer.search.evaluate import Evaluator
from optimizer.search.reflection import Lesson, Reflected, reflect
from optimizer.search.watch import Silent, Watcher


@dataclass(slots=True)
class SearchOutcome:
    """What a search found: the incumbent at its end, all candidates tried in order, their duels, and why it stopped."""

    incumbent: Candidate
    candidates: list[Candidate] = field(default_factory=list)
    duels: list[DuelResult] = field(default_factory=list)
    rejected: int = 0
    stopped: str = ""


class _BudgetSpent(Exception):
    """The next step would exceed the budget."""


class CoordinateAscent:
    """One search. Every step follows from the seed, the settings and the answers, so a replay takes the same steps.

    Args:
        evaluator: holds and remembers debates.
        splits: train is read by reflection, dev decides duels; test is not touched here.
        alternatives: by component, tried in turn with reflections.
        settings: lead, trail, reflections, sweeps, token cap.
        budget: hard.
        seed: shuffles dev for each duel, and seeds reflection.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        splits: Splits,
        alternatives: Mapping[str, Sequence[Alternative]],
        settings: SearchSettings,
        budget: Budget,
        events: EventLog,
        seed: int = 0,
        watcher: Watcher | None = None,
    ) -> None:
        self._evaluator, self._splits, self._alternatives = evaluator, splits, alternatives
        self._settings, self._budget, self._events, self._seed = settings, budget, events, seed
        self._watcher: Watcher = watcher or Silent()
        self._tried: dict[str, Candidate] = {}
        self._lost: list[str] = []

    async def run(self, start: Candidate, components: Sequence[str]) -> SearchOutcome:
        """Climb from `start` over the components, in their order.

        Raises:
            UserError: the endpoint is gone.
        """
        outcome = SearchOutcome(start, [start])
        self._tried[start.id] = start
        try:
            self._watcher.phase("seed on dev")
            await self._complete(start)
            for _ in range(self._settings.sweeps):
                before = outcome.incumbent
                for component in components:
                    await self._climb(component, outcome)
                if outcome.incumbent is before:
                    outcome.stopped = "nothing changed in a whole sweep" if self._settings.sweeps > 1 else ""
                    break
            outcome.stopped = outcome.stopped or "all proposals tried"
        except _BudgetSpent:
            outcome.stopped = "budget spent"
        return outcome

    async def _climb(self, component: str, outcome: SearchOutcome) -> None:
        self._lost = []
        async for challenger in self._proposals(component, outcome):
            self._watcher.phase(f"{component}: {challenger.origin}")
            result = await duel(
                self._evaluator,
                outcome.incumbent,
                challenger,
                self._splits.dev,
                self._settings.lead,
                self._settings.trail,
                self._budget,
                self._seed,
            )
            outcome.candidates.append(challenger)
            outcome.duels.append(result)
            self._events.record("duel", f"{result.incumbent}:{result.challenger}", duel=asdict(result))
            score = f"+{result.wins}/-{result.losses} on {result.compared} dev items, {result.ended}"
            self._watcher.note(f"{component} {challenger.origin}: {'accepted' if result.accepted else 'dropped'} ({score})")
            if result.accepted:
                await self._complete(challenger, outcome.incumbent)
                outcome.incumbent = challenger
            else:
                self._lost.append(challenger.texts[component])
            if result.ended == "budget":
                raise _BudgetSpent

    async def _complete(self, candidate: Candidate, parent: Candidate | None = None) -> None:
        """Evaluate on all of dev: an incumbent is compared on every item sooner or later, and headroom needs it whole."""
        if not self._budget.affords(self._evaluator.cost_bound(candidate, parent or candidate, self._splits.dev)):
            raise _BudgetSpent
        await self._evaluator.evaluate(candidate, self._splits.dev)
        scores = self._evaluator.scores(candidate, self._splits.dev)
        self._watcher.incumbent(f"{candidate.origin} {sum(scores.values()):g}/{len(scores)} on dev")

    async def _proposals(self, component: str, outcome: SearchOutcome) -> AsyncIterator[Candidate]:
        """Alternatives and reflections in turn, so that a small budget tries both."""
        alternatives = self._alternatives.get(component, ())
        for number in range(max(len(alternatives), self._settings.reflections)):
            if number < len(alternatives):
                alternative = alternatives[number]
                origin = f"alternative:{alternative.name}"
                challenger = outcome.incumbent.with_text(component, alternative.text, origin, alternative.idea)
                if self._admit(challenger, component, outcome):
                    yield challenger
            if number < self._settings.reflections:
                reflected = await self._reflect(component, outcome, number)
                origin = f"reflection:{number + 1}"
                if reflected.problem:
                    self._reject(component, origin, "", reflected.problem, outcome)
                    continue
                challenger = outcome.incumbent.with_text(component, reflected.text, origin)
                if self._admit(challenger, component, outcome):
                    yield challenger

    async def _reflect(self, component: str, outcome: SearchOutcome, number: int) -> Reflected:
        incumbent, train = outcome.incumbent, self._splits.train
        cost = self._evaluator.cost_bound(incumbent, outcome.candidates[0], train)
        if not self._budget.affords(cost + 1):
            raise _BudgetSpent
        self._watcher.phase(f"{component}: reading train debates")
        debates = await self._evaluator.evaluate(incumbent, train)
        lessons = [Lesson(item, debates[item.id]) for item in train if not debates[item.id].failed]
        if not any(lesson.debate.score(lesson.item) == 0.0 for lesson in lessons):
            return Reflected(problem="the incumbent makes no mistake on train, so there is nothing to reflect on")
        self._watcher.phase(f"{component}: reflecting")
        executor, settings = self._evaluator.executor, self._settings
        try:
            return await reflect(
                executor.voice(REFLECTION).client, executor.protocol, incumbent, component, lessons, self._lost,
                settings.token_cap, sample=self._seed * 1000 + number,
            )  # fmt: skip
        except CallFailed as failure:
            return Reflected(problem=f"the call failed: {failure}")

    def _admit(self, challenger: Candidate, component: str, outcome: SearchOutcome) -> bool:
        """Whether a proposal is worth a call; it is written down either way, and never proposed twice."""
        text = challenger.texts[component]
        # The cap keeps reflection from growing prompts for ever; what a person wrote is taken as it is.
        cap = self._settings.token_cap if challenger.origin.startswith("reflection") else len(text)
        problem = objection(text, outcome.incumbent.texts[component], cap, self._splits.train)
        if not problem and challenger.id in self._tried:
            problem = f"was tried before, as {self._tried[challenger.id].origin}"
        if problem:
            self._reject(component, challenger.origin, text, problem, outcome)
            return False
        self._tried[challenger.id] = challenger
        self._events.record(
            "candidate", challenger.id, component=component, origin=challenger.origin, parent=challenger.parent,
            idea=challenger.idea, texts=dict(challenger.texts),
        )  # fmt: skip
        return True

    def _reject(self, component: str, origin: str, text: str, problem: str, outcome: SearchOutcome) -> None:
        outcome.rejected += 1
        identity = f"{outcome.incumbent.id}:{component}:{origin}"
        self._events.record("rejected", identity, component=component, origin=origin, text=text, problem=problem)
        self._watcher.note(f"{component} {origin}: not tried, {problem}")

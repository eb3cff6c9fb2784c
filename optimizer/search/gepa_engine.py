"""gepa's own engine on our panel, so that anyone can compare: its selection and acceptance; our debates, reflection and budget.

Its engine is synchronous, so it runs in a thread and hands every evaluation to the event loop. Answers come from the run's
record where they were given before, so a resumed run takes the same steps. Its contract asks for a number for every item: a
failed debate counts as wrong here, and only here.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from optimizer.data.item import Item
from optimizer.debate.voices import REFLECTION
from optimizer.models.chat import CallTag
from optimizer.models.transport import CallFailed
from optimizer.runs.events import Journal
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.ascent import Climb, SearchOutcome
from optimizer.search.budget import Budget
from optimizer.search.candidate import Candidate, Rejection, objection
from optimizer.search.evaluate import Evaluator
from optimizer.search.lessons import Lesson
from optimizer.search.objective import Objective
from optimizer.search.reflection import reading_for
from optimizer.sections import SearchSettings

_T = TypeVar("_T")
_IDLE_ROUNDS = 4  # passes over train without a new call


class GepaSearch:
    """One search by gepa: train is its training set, dev its validation set.

    Args:
        evaluator: holds and remembers debates.
        climb: splits and seed; the schedule is gepa's.
        settings: the minibatch on which a proposal is accepted before it goes through dev, and how reflection asks.
        objective: what its scores are.
        budget: hard; an iteration begins only where its dearest course is affordable.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        climb: Climb,
        settings: SearchSettings,
        objective: Objective,
        budget: Budget,
        events: Journal,
        watcher: Watcher | None = None,
    ) -> None:
        self._evaluator, self._climb, self._settings, self._objective = evaluator, climb, settings, objective
        self._budget, self._events = budget, events
        self._idle, self._last_spent = 0, -1
        self._watcher: Watcher = watcher or Silent()

    async def run(self, start: Candidate, components: Sequence[str]) -> SearchOutcome:
        """Search from `start` over the components.

        Raises:
            UserError: the endpoint is gone.
        """
        from gepa.api import optimize

        outcome = SearchOutcome(start, [start], stopped="budget spent")
        climb = self._climb
        if not self._affords_iteration(start):
            return outcome
        adapter = _Adapter(self, start, components, outcome, asyncio.get_running_loop())
        result: Any = await asyncio.to_thread(
            optimize,
            {name: start.texts[name] for name in components},
            list(climb.train),
            list(climb.dev),
            adapter=adapter,
            reflection_minibatch_size=min(self._settings.minibatch, len(climb.train)),
            stop_callbacks=lambda state: self._ends(start, outcome),
            seed=climb.seed,
            logger=_Quiet(),
        )
        outcome.incumbent = adapter.candidate(result.best_candidate)
        return outcome

    def _ends(self, start: Candidate, outcome: SearchOutcome) -> bool:
        """Whether the next iteration is one too many: it cannot be paid, or for long none has asked anything new.

        gepa passes over a minibatch that is all right; with nothing wrong on train it would do so for ever.
        """
        spent = self._budget.spent
        self._idle = self._idle + 1 if spent == self._last_spent else 0
        self._last_spent = spent
        if self._idle > _IDLE_ROUNDS * len(self._climb.train):
            outcome.stopped = "gepa asks nothing new: no mistake on train is left to reflect on"
            return True
        return not self._affords_iteration(start)

    def _affords_iteration(self, start: Candidate) -> bool:
        """Parent and child on a minibatch, a reflection, and the child on all of dev."""
        debate = self._evaluator.executor.protocol.calls(len(self._evaluator.personas(start)))
        return self._budget.affords(debate * (2 * self._settings.minibatch + len(self._climb.dev)) + 1)


@dataclass
class _Adapter:
    """What gepa calls. Candidates are dicts of the searched components; the rest of the texts is the seed's."""

    search: GepaSearch
    start: Candidate
    components: Sequence[str]
    outcome: SearchOutcome
    loop: asyncio.AbstractEventLoop
    propose_new_texts: Any = None

    def __post_init__(self) -> None:
        self.propose_new_texts = self._propose
        self._lessons: list[Lesson] = []
        self._parent = self.start
        self._known = {self.start.id: self.start}
        self._proposals = 0
        self._turns: Counter[str] = Counter()
        self._best = -1.0

    def candidate(self, texts: Mapping[str, str]) -> Candidate:
        """Ours for gepa's dict, with the parent that it was proposed from."""
        full = {**self.start.texts, **texts}
        found = Candidate(full)
        if found.id not in self._known:
            changed = "+".join(name for name in self.components if full[name] != self._parent.texts[name])
            found = Candidate(full, f"gepa:{self._proposals}", changed, self._parent.id)
            self._known[found.id] = found
            self.outcome.candidates.append(found)
            self.search._events.record(
                "candidate", found.id, component=found.component, origin=found.origin, parent=found.parent, idea="", texts=full
            )
        return self._known[found.id]

    def evaluate(self, batch: list[Item], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        from gepa.core.adapter import EvaluationBatch

        ours, evaluator = self.candidate(candidate), self.search._evaluator
        self.search._watcher.phase(f"gepa: {ours.origin}")
        debates = self._wait(evaluator.evaluate(ours, batch))
        lessons = [Lesson(item, debates[item.id]) for item in batch]
        scores = [_number(self.search._objective.score(lesson.debate, lesson.item)) for lesson in lessons]
        if {item.id for item in batch} == {item.id for item in self.search._climb.dev}:
            self._tell(ours, sum(scores), len(scores))
        return EvaluationBatch([lesson.debate for lesson in lessons], scores, lessons if capture_traces else None)

    def _tell(self, candidate: Candidate, right: float, items: int) -> None:
        """On all of dev: the best score leads, as gepa has it."""
        self.search._watcher.note(f"{candidate.origin}: {right:g}/{items} on dev")
        if right > self._best:
            self._best, spent = right, self.search._budget.spent
            self.search._watcher.incumbent(f"{candidate.origin} {right:g}/{items} on dev")
            self.search._events.record("leader", f"{candidate.id}:{spent}", candidate=candidate.id, calls=spent)

    def make_reflective_dataset(self, candidate: dict[str, str], batch: Any, components: list[str]) -> Any:
        self._lessons, self._parent = list(batch.trajectories), self.candidate(candidate)
        return {name: [{"Inputs": lesson.item.claim} for lesson in self._lessons] for name in components}

    def _propose(self, candidate: dict[str, str], dataset: Any, components: list[str]) -> dict[str, str]:
        """New texts by our own reflection; the old one where it gives none, which gepa then does not accept."""
        return {component: self._wait(self._reflect(component)) for component in components}

    async def _reflect(self, component: str) -> str:
        from optimizer.search.program import reflect  # dspy takes half a second to load

        climb, executor, parent = self.search._climb, self.search._evaluator.executor, self._parent
        settings, client = self.search._settings, executor.voice(REFLECTION).client
        self._proposals += 1
        self._turns[component] += 1
        current, origin = parent.texts[component], f"gepa:{self._proposals}"
        lessons = [lesson for lesson in self._lessons if not lesson.debate.failed]
        reading = reading_for(
            client, executor.protocol, parent, component, lessons, (), settings.token_cap, self._turns[component] - 1
        )
        self.search._budget.charge(1)
        try:
            tag = CallTag(REFLECTION, parent.id, persona=component)
            reflected = await reflect(client, reading, tag, settings, climb.seed * 1000 + self._proposals)
        except CallFailed as failure:
            return self._refused(component, origin, "", f"the call failed: {failure}", current)
        problem = reflected.problem or objection(reflected.text, current, settings.token_cap, climb.train)
        return self._refused(component, origin, reflected.text, problem, current) if problem else reflected.text

    def _refused(self, component: str, origin: str, text: str, problem: str, current: str) -> str:
        self.outcome.refused += 1
        self.outcome.rejected.append(Rejection(component, origin, text, problem))
        return current

    def _wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


class _Quiet:
    def log(self, message: str) -> None:
        return


def _number(score: float | None) -> float:
    return 0.0 if score is None else score

"""Coordinate ascent: improve one component at a time with the others fixed.

Who leads is read from the quality model after every duel, over all candidates ever tried: one that was taken by luck loses the
lead again when its children show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from optimizer.data.item import Item
from optimizer.errors import UserError
from optimizer.runs.events import Journal
from optimizer.search.budget import Budget, BudgetSpent
from optimizer.search.candidate import Candidate, Rejection, objection
from optimizer.search.duel import DuelResult, Scorer, duel, duel_order, too_many_missing
from optimizer.search.proposers import Context, Proposer
from optimizer.search.quality import QualityModel
from optimizer.search.stopping import EffectPrior, StoppingRule, stopping_rule
from optimizer.search.watch import Silent, Watcher

Schedule = Literal["sequential", "round_robin"]

_SHRINKAGE = 0.4  # of the spread of effects, as the model's prior: its evidence looks surer than it is
_LEAST_SPREAD = 0.1
_USABLE = 0.8  # of an answer's information; the rest goes into the item's difficulty
_MOST_REFUSED = 8  # proposals of one kind in a row that are not worth a call


@dataclass(slots=True)
class SearchOutcome:
    """What a search found.

    Attributes:
        incumbent: who leads at the end.
        candidates: all that were tried, in order, the seed first.
        duels: how each went.
        rejected: what was proposed and not tried, or tried and did not help.
        stopped: why it ended.
    """

    incumbent: Candidate
    candidates: list[Candidate] = field(default_factory=list)
    duels: list[DuelResult] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    refused: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Climb:
    """What a search is told.

    Attributes:
        dev: items that decide duels.
        train: items that reflection reads; nothing may be copied from them.
        schedule: "sequential" ends a component before the next begins; "round_robin" gives each one proposal in turn.
        sweeps: rounds over all components; it ends earlier when nothing changes.
        token_cap: the longest text taken from a proposer that writes.
        seed: shuffles dev for each duel.
    """

    dev: Sequence[Item]
    train: Sequence[Item] = ()
    schedule: Schedule = "sequential"
    sweeps: int = 1
    token_cap: int = 120
    seed: int = 0


class CoordinateAscent:
    """One search. Every step follows from the seed, the settings and the answers, so a replay takes the same steps.

    Args:
        scorer: holds and remembers debates.
        proposers: each is asked by what its texts have won so far against its price.
        budget: hard.
        events: written there: candidates, duels and rejections.
    """

    def __init__(
        self,
        scorer: Scorer,
        proposers: Sequence[Proposer],
        climb: Climb,
        budget: Budget,
        events: Journal,
        watcher: Watcher | None = None,
    ) -> None:
        self._scorer, self._proposers, self._climb, self._budget, self._events = scorer, proposers, climb, budget, events
        self._watcher: Watcher = watcher or Silent()
        self._model = QualityModel([item.id for item in climb.dev])
        self._pool: dict[str, Candidate] = {}
        self._asked: dict[tuple[str, str], int] = {}  # component and kind -> proposals of this sweep
        self._drawn: dict[str, int] = {}  # kind -> proposals of the whole run
        self._refused_in_a_row: dict[str, int] = {}

    async def run(self, start: Candidate, components: Sequence[str]) -> SearchOutcome:
        """Climb from `start` over the components, in their order.

        Raises:
            UserError: the endpoint is gone, or a proposer that writes gives nothing usable.
        """
        outcome = SearchOutcome(start, [start])
        try:
            self._watcher.phase("seed on dev")
            await self._begin(start)
            for _ in range(self._climb.sweeps):
                before = outcome.incumbent
                self._asked = {}
                await self._sweep(components, outcome)
                if outcome.incumbent is before and self._climb.sweeps > 1:
                    outcome.stopped = "nothing changed in a whole sweep"
                    break
            outcome.stopped = outcome.stopped or "all proposals tried"
        except BudgetSpent:
            outcome.stopped = "budget spent"
        await self._complete(outcome)
        return outcome

    async def _complete(self, outcome: SearchOutcome) -> None:
        """The leader on the rest of dev, where the budget has room: comparison and headroom want it whole."""
        leader, dev = outcome.incumbent, self._climb.dev
        if leader.id in self._pool and self._budget.affords(self._scorer.cost_bound(leader, outcome.candidates[0], dev)):
            await self._scorer.evaluate(leader, dev)
            self._model.observe(leader.id, self._scorer.scores(leader, dev))
            self._model.fit()
            outcome.incumbent = self._leader(outcome.candidates[0], outcome.candidates)

    async def _begin(self, start: Candidate) -> None:
        """The seed on all of dev: everything is compared with it in the end."""
        dev = self._climb.dev
        if not self._budget.affords(self._scorer.cost_bound(start, start, dev)):
            raise BudgetSpent
        self._pool[start.id] = start
        self._model.add(start.id)
        await self._scorer.evaluate(start, dev)
        self._model.observe(start.id, self._scorer.scores(start, dev))
        self._model.fit()
        self._tell_leader(start)

    async def _sweep(self, components: Sequence[str], outcome: SearchOutcome) -> None:
        open_ones = list(components)
        if self._climb.schedule == "round_robin":
            while open_ones:
                open_ones = [component for component in open_ones if await self._try_one(component, outcome, 0)]
            return
        for index, component in enumerate(open_ones):
            # What a component may spend leaves as much for each that is still to come.
            reserve = self._budget.left - self._budget.left // (len(open_ones) - index)
            while await self._try_one(component, outcome, reserve):
                pass

    async def _try_one(self, component: str, outcome: SearchOutcome, reserve: int) -> bool:
        """One proposal and its duel; whether there may be another. `reserve` is left to the components still to come."""
        parent = outcome.incumbent
        chosen = self._choose(component, outcome)
        if chosen is None:
            return False
        proposer, context, rule, cost = chosen
        if reserve and self._budget.left - reserve < proposer.price(context) + cost:
            return False
        key = (component, proposer.kind)
        self._asked[key] = context.number + 1
        self._drawn[proposer.kind] = context.sample + 1
        proposed = await proposer.propose(context)
        challenger, problem = proposed.candidate, proposed.problem
        if challenger is not None:
            problem = self._objection(challenger, parent, component)
        if challenger is None or problem:
            text = challenger.texts[component] if challenger is not None else ""
            self._refuse(Rejection(component, proposed.origin, text, problem), parent, proposer.kind, outcome)
            return True
        self._refused_in_a_row[proposer.kind] = 0
        await self._hold_duel(challenger, parent, component, rule, outcome)
        return True

    def _choose(self, component: str, outcome: SearchOutcome) -> tuple[Proposer, Context, StoppingRule, int] | None:
        """The proposer with the best rate of gain by what is known of its kind, and the bounds for its next candidate."""
        parent, dev = outcome.incumbent, self._climb.dev
        information = self._model.information(parent.id, [item.id for item in dev])
        batch = duel_order(dev, parent.id, self._climb.seed, information)[: self._scorer.batch]  # one like the next will be
        step = max(0.05, _USABLE * sum(information[item.id] for item in batch))
        cost = max(1, self._scorer.cost_bound(parent.with_text(component, "", ""), parent, batch))
        steps = min(-(-len(dev) // len(batch)), max(1, self._budget.left // cost))
        everything = self._learned()
        best: tuple[float, Proposer, Context, StoppingRule] | None = None
        for proposer in self._proposers:
            number, sample = self._asked.get((component, proposer.kind), 0), self._drawn.get(proposer.kind, 0)
            context = Context(parent, component, number, sample, tuple(self._pool.values()), tuple(outcome.rejected))
            if not proposer.has_more(context):
                continue
            own = [self._model.evidence(each.id) for each in self._pool.values() if each.origin.split(":")[0] == proposer.kind]
            prior = everything.learn(own) if len(self._proposers) > 1 else everything
            rule = stopping_rule(prior, proposer.price(context), cost, step, steps)
            if best is None or rule.rate > best[0]:
                best = (rule.rate, proposer, context, rule)
        return None if best is None else (*best[1:], cost)

    async def _hold_duel(
        self, challenger: Candidate, parent: Candidate, component: str, rule: StoppingRule, outcome: SearchOutcome
    ) -> None:
        dev = self._climb.dev
        self._pool[challenger.id] = challenger
        self._model.add(challenger.id, parent.id)
        self._events.record(
            "candidate", challenger.id, component=component, origin=challenger.origin, parent=challenger.parent,
            idea=challenger.idea, texts=dict(challenger.texts),
        )  # fmt: skip
        self._watcher.phase(f"{component}: {challenger.origin}")
        information = self._model.information(parent.id, [item.id for item in dev])
        order = duel_order(dev, challenger.id, self._climb.seed, information)
        result = await duel(self._scorer, self._model, rule, parent, challenger, order, self._budget)
        outcome.incumbent = self._leader(outcome.candidates[0], [*outcome.candidates, challenger])
        result = replace(result, accepted=outcome.incumbent.id == challenger.id)
        outcome.candidates.append(challenger)
        outcome.duels.append(result)
        self._events.record("duel", f"{result.incumbent}:{result.challenger}", duel=asdict(result))
        score = f"+{result.wins}/-{result.losses} on {result.compared} dev items, {result.ended}"
        self._watcher.note(f"{component} {challenger.origin}: {'leads' if result.accepted else 'dropped'} ({score})")
        if not result.accepted:
            reason = f"won {result.wins} and lost {result.losses} of {result.compared} items"
            outcome.rejected.append(Rejection(component, challenger.origin, challenger.texts[component], reason))
        if outcome.incumbent.id != parent.id:
            self._tell_leader(outcome.incumbent)
        if result.ended == "budget":
            raise BudgetSpent

    def _learned(self) -> EffectPrior:
        """What the run has seen of edits; the model is told their spread."""
        prior = EffectPrior().learn([self._model.evidence(each) for each in self._pool if self._model.parent(each) is not None])
        self._model.effect_spread = max(_LEAST_SPREAD, _SHRINKAGE * prior.spread)
        return prior

    def _leader(self, start: Candidate, candidates: Sequence[Candidate]) -> Candidate:
        """Whose expected quality is best: the seed's, and the effects of all edits on the way."""
        prior = self._learned()
        children = [each for each in candidates if self._model.parent(each.id) is not None]
        means = prior.means([self._model.evidence(each.id) for each in children])
        worth: dict[str, float] = {start.id: 0.0}
        for child, mean in zip(children, means, strict=True):
            worth[child.id] = worth[self._model.parent(child.id) or start.id] + mean
        fit = [each for each in candidates if not too_many_missing(self._scorer, each, self._climb.dev)]
        return max(fit or [start], key=lambda each: worth[each.id])

    def _tell_leader(self, candidate: Candidate) -> None:
        scores = self._scorer.scores(candidate, self._climb.dev)
        self._watcher.incumbent(f"{candidate.origin} {sum(scores.values()):g}/{len(scores)} on dev")

    def _objection(self, challenger: Candidate, parent: Candidate, component: str) -> str:
        """Why a proposal is not worth a call, or an empty string."""
        text = challenger.texts[component]
        # The cap keeps writers from growing prompts for ever; what a person wrote is taken as it is.
        written = challenger.origin.startswith("reflection")
        problem = objection(text, parent.texts[component], self._climb.token_cap if written else len(text), self._climb.train)
        if not problem and challenger.id in self._pool:
            problem = f"was tried before, as {self._pool[challenger.id].origin}"
        return problem

    def _refuse(self, rejection: Rejection, parent: Candidate, kind: str, outcome: SearchOutcome) -> None:
        outcome.refused += 1
        outcome.rejected.append(rejection)
        self._events.record(
            "rejected", f"{parent.id}:{rejection.component}:{rejection.origin}", component=rejection.component,
            origin=rejection.origin, text=rejection.text, problem=rejection.reason,
        )  # fmt: skip
        self._watcher.note(f"{rejection.component} {rejection.origin}: not tried, {rejection.reason}")
        self._refused_in_a_row[kind] = self._refused_in_a_row.get(kind, 0) + 1
        if kind == "reflection" and self._refused_in_a_row[kind] >= _MOST_REFUSED:
            raise UserError(
                f"{_MOST_REFUSED} reflections in a row gave no usable prompt, the last: {rejection.reason}; reflect with a "
                "larger model (roles.reflection), or search the alternatives alone: --set search.reflections=0"
            )

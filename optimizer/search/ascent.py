"""Coordinate ascent: improve one component at a time with the others fixed.

Who leads is read from the quality model after every duel, over all candidates ever tried: one that was taken by luck loses the
lead again when its children show it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean

from optimizer.data.item import Item
from optimizer.errors import UserError
from optimizer.runs.events import Journal
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.budget import Budget, BudgetSpent
from optimizer.search.candidate import Candidate, Rejection, instruction_tokens, objection
from optimizer.search.duel import DuelResult, Scorer, batches, duel, duel_order, too_many_missing
from optimizer.search.proposers import Context, Proposer
from optimizer.search.quality import QualityModel
from optimizer.search.stopping import EffectPrior, Handicap, Rule, WholeSplit, stopping_rule
from optimizer.sections import WHOLE, Schedule, Selector

_SHRINKAGE = 0.4  # of the spread of effects, as the model's prior: its evidence looks surer than it is
_LEAST_SPREAD = 0.1
_USABLE = 0.8  # of an answer's information; the rest goes into the item's difficulty
_EPSILON = 0.1
_MOST_REFUSED = 8  # proposals of one kind in a row that are not worth a call


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A candidate with the tokens of its instructions in a debate, and the accuracy on dev that the model expects of it."""

    candidate: str
    tokens: int
    expected: float


@dataclass(slots=True)
class SearchOutcome:
    """What a search found.

    Attributes:
        incumbent: who leads at the end.
        candidates: all that were tried, in order, the seed first.
        duels: how each went.
        rejected: what was proposed and not tried, or tried and did not help.
        stopped: why it ended.
        front: accuracy against tokens: who is not beaten by a shorter one.
    """

    incumbent: Candidate
    candidates: list[Candidate] = field(default_factory=list)
    duels: list[DuelResult] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    refused: int = 0
    stopped: str = ""
    front: list[FrontPoint] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Climb:
    """What a search is told.

    Attributes:
        dev: items that decide duels.
        train: items that reflection reads; nothing may be copied from them.
        schedule, parent: as in the settings.
        sweeps: rounds over all components; it ends earlier when nothing changes.
        token_cap: the longest text taken from a proposer that writes.
        token_price: share of accuracy that 1,000 tokens of instructions in a debate must bring.
        readings: how often a persona reads its instructions in a debate, at the most; second questions are not counted.
        seed: shuffles dev for each duel.
    """

    dev: Sequence[Item]
    train: Sequence[Item] = ()
    schedule: Schedule = "sequential"
    parent: Selector = "incumbent"
    sweeps: int = 1
    token_cap: int = 120
    token_price: float = 0.0
    readings: int = 1
    seed: int = 0


class CoordinateAscent:
    """One search. Every step follows from the seed, the settings and the answers, so a replay takes the same steps.

    Args:
        scorer: holds and remembers debates.
        proposers: each is asked by what its texts have won so far against its price.
        budget: hard.
        events: written there: candidates, duels, rejections, and who leads from when on.
        taken: why a candidate is left to another worker, or an empty string.
        barred: why a candidate that was tried may not lead, or an empty string.
    """

    def __init__(
        self,
        scorer: Scorer,
        proposers: Sequence[Proposer],
        climb: Climb,
        budget: Budget,
        events: Journal,
        watcher: Watcher | None = None,
        taken: Callable[[Candidate], str] | None = None,
        barred: Callable[[Candidate], str] | None = None,
    ) -> None:
        self._taken = taken or (lambda candidate: "")
        self._barred = barred or (lambda candidate: "")
        self._scorer, self._proposers, self._climb, self._budget, self._events = scorer, proposers, climb, budget, events
        self._watcher: Watcher = watcher or Silent()
        self._model = QualityModel([item.id for item in climb.dev])
        self._pool: dict[str, Candidate] = {}
        self._asked: dict[tuple[str, str], int] = {}  # component and kind -> proposals of this sweep
        self._drawn: dict[str, int] = {}  # kind -> proposals of the whole run
        self._turns: dict[tuple[str, str], int] = {}  # component and kind -> the same
        self._refused_in_a_row: dict[str, int] = {}
        self._unproven: set[str] = set()  # won no more than they lost against their parent: the model alone gives no lead

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
        outcome.front = self._front([each for each in outcome.candidates if each.id in self._pool])
        return outcome

    async def _complete(self, outcome: SearchOutcome) -> None:
        """The leader on the rest of dev, where the budget has room: comparison and headroom want it whole."""
        leader, dev = outcome.incumbent, self._climb.dev
        if leader.id in self._pool and self._budget.affords(self._scorer.cost_bound(leader, outcome.candidates[0], dev)):
            await self._scorer.evaluate(leader, dev)
            self._model.observe(leader.id, self._scorer.scores(leader, dev))
            self._model.fit()
            outcome.incumbent = self._leader(outcome.candidates[0], outcome.candidates)
            if outcome.incumbent is not leader:
                self._tell_leader(outcome.incumbent)

    async def _begin(self, start: Candidate) -> None:
        """The seed on all of dev: everything is compared with it in the end."""
        dev = self._climb.dev
        self._pool[start.id] = start
        self._model.add(start.id)
        # The first batch shows what a call takes, before the rest is begun.
        for some in (dev[: self._scorer.batch], dev):
            if not self._budget.affords(self._scorer.cost_bound(start, start, dev)):
                raise BudgetSpent
            await self._scorer.evaluate(start, some)
        self._model.observe(start.id, self._scorer.scores(start, dev))
        self._model.fit()
        self._tell_leader(start)

    async def _sweep(self, components: Sequence[str], outcome: SearchOutcome) -> None:
        if self._climb.schedule == "all_at_once":
            while await self._try_one(components, outcome):
                pass
            return
        if self._climb.schedule in ("round_robin", "random"):
            open_ones = list(components)
            while open_ones:
                open_ones = [component for component in open_ones if await self._try_one([component], outcome)]
            return
        for index, component in enumerate(components):
            # What a component may spend leaves as much for each that is still to come.
            reserve = self._budget.left - self._budget.left // (len(components) - index)
            while await self._try_one([component], outcome, reserve):
                pass

    async def _try_one(self, components: Sequence[str], outcome: SearchOutcome, reserve: int = 0) -> bool:
        """One proposal for these components, and its duel; whether there may be another. `reserve` is left unspent."""
        parent = self._parent(outcome)
        chosen = self._choose(components, parent, outcome)
        if chosen is None:
            return False
        proposer, rule, cost = chosen
        if reserve and self._budget.left - reserve < cost:
            return False
        child, changed, origin = parent, [], ""
        for component in components:
            context = self._context(component, parent, proposer, outcome)
            if not proposer.has_more(context):
                continue
            self._asked[component, proposer.kind] = context.number + 1
            self._drawn[proposer.kind] = context.sample + 1
            self._turns[component, proposer.kind] = context.turn + 1
            proposed = await proposer.propose(context)
            joined, problem = proposed.candidate, proposed.problem
            if joined is not None:
                joined = replace(joined, texts={**child.texts, component: joined.texts[component]})
                problem = self._objection(joined, parent, component)
            if joined is None or problem:
                text = joined.texts[component] if joined else ""
                self._refuse(Rejection(component, proposed.origin, text, problem), parent, proposer.kind, outcome)
                continue
            self._refused_in_a_row[proposer.kind] = 0
            child, origin = joined, proposed.origin
            changed.append(component)
        if changed:
            challenger = replace(child, component="+".join(changed), parent=parent.id, origin=origin)
            await self._hold_duel(challenger, parent, rule, outcome)
        return True

    def _parent(self, outcome: SearchOutcome) -> Candidate:
        """Whom the next proposal starts from."""
        if self._climb.parent == "incumbent":
            return outcome.incumbent
        draw = random.Random(f"{self._climb.seed}:{sum(self._drawn.values())}")
        pool = [each for each in outcome.candidates if not too_many_missing(self._scorer, each, self._climb.dev)]
        if self._climb.parent == "epsilon":
            return draw.choice(pool or [outcome.incumbent]) if draw.random() < _EPSILON else outcome.incumbent
        shares = best_shares({each.id: self._scorer.scores(each, self._climb.dev) for each in pool})
        return draw.choices(pool, [shares[each.id] for each in pool])[0] if any(shares.values()) else outcome.incumbent

    def _context(self, component: str, parent: Candidate, proposer: Proposer, outcome: SearchOutcome) -> Context:
        number, sample = self._asked.get((component, proposer.kind), 0), self._drawn.get(proposer.kind, 0)
        turn = self._turns.get((component, proposer.kind), 0)
        return Context(parent, component, number, sample, turn, tuple(self._pool.values()), tuple(outcome.rejected))

    def _choose(self, components: Sequence[str], parent: Candidate, outcome: SearchOutcome) -> tuple[Proposer, Rule, int] | None:
        """Who proposes next, the bounds for its candidate, and what proposal and first batch cost at the most.

        It is the one with the best rate of gain, by what is known of its kind; under "random" any, under "exhaustive" the first.
        """
        dev = self._climb.dev
        information = self._model.information(parent.id, [item.id for item in dev])
        # One like the next will be.
        batch = next(batches(duel_order(dev, parent.id, self._climb.seed, information), self._scorer.batch))
        step = max(0.05, _USABLE * sum(information[item.id] for item in batch))
        changed = replace(parent, texts={**parent.texts, **dict.fromkeys(components, "")})
        cost = max(1, self._scorer.cost_bound(changed, parent, batch))
        steps = min(-(-len(dev) // len(batch)), max(1, self._budget.left // cost))
        everything = self._learned()
        found: list[tuple[float, Proposer, Rule, int]] = []
        for proposer in self._proposers:
            contexts = [self._context(component, parent, proposer, outcome) for component in components]
            contexts = [context for context in contexts if proposer.has_more(context)]
            if not contexts:
                continue
            price = proposer.price(contexts)
            if self._whole:
                found.append((0.0, proposer, WholeSplit(), price + cost))
                continue
            own = [self._model.evidence(each.id) for each in self._pool.values() if each.origin.split(":")[0] == proposer.kind]
            prior = everything.learn(own) if len(self._proposers) > 1 else everything
            rule = stopping_rule(prior, price, cost, step, steps)
            found.append((rule.rate, proposer, rule, price + cost))
        if not found:
            return None
        if self._climb.schedule == "random":
            return random.Random(f"{self._climb.seed}:{sum(self._drawn.values())}").choice(found)[1:]
        return max(found, key=lambda each: each[0])[1:]

    @property
    def _whole(self) -> bool:
        return self._climb.schedule in WHOLE

    async def _hold_duel(self, challenger: Candidate, parent: Candidate, rule: Rule, outcome: SearchOutcome) -> None:
        dev, component = self._climb.dev, challenger.component
        self._pool[challenger.id] = challenger
        self._model.add(challenger.id, parent.id)
        self._events.record(
            "candidate", challenger.id, component=component, origin=challenger.origin, parent=challenger.parent,
            idea=challenger.idea, texts=dict(challenger.texts),
        )  # fmt: skip
        self._watcher.phase(f"{component}: {challenger.origin}")
        information = self._model.information(parent.id, [item.id for item in dev])
        order = duel_order(dev, challenger.id, self._climb.seed, information)
        rule = Handicap(rule, -self._token_cost(challenger, parent))
        result = await duel(self._scorer, self._model, rule, parent, challenger, order, self._budget)
        if self._model.copies and result.margin <= 0 and not self._climb.token_price:
            self._unproven.add(challenger.id)
        outcome.incumbent = self._leader(outcome.candidates[0], [*outcome.candidates, challenger])
        result = replace(result, accepted=outcome.incumbent.id == challenger.id)
        outcome.candidates.append(challenger)
        outcome.duels.append(result)
        self._events.record("duel", f"{result.incumbent}:{result.challenger}", duel=asdict(result))
        score = f"+{result.wins}/-{result.losses} on {result.compared} dev items, {result.ended}"
        self._watcher.note(f"{component} {challenger.origin}: {'leads' if result.accepted else 'dropped'} ({score})")
        if not result.accepted:
            reason = self._barred(challenger) or f"won {result.wins} and lost {result.losses} of {result.compared} items"
            outcome.rejected += [
                Rejection(name, challenger.origin, challenger.texts[name], reason, tried=True) for name in component.split("+")
            ]
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
        """Whose expected quality is best: the seed's, and the effects of all edits on the way; the first of equals."""
        proven = [each for each in candidates if each.id not in self._unproven and not self._barred(each)]
        fit = [each for each in proven if not too_many_missing(self._scorer, each, self._climb.dev)] or [start]
        prior = self._learned()
        if self._whole:
            scores = {each.id: self._scorer.scores(each, self._climb.dev) for each in fit}
            whole = [each for each in fit if self._scorer.tried(each, self._climb.dev) == len(self._climb.dev)]
            return max(whole, key=lambda each: fmean(scores[each.id].values())) if whole else start
        children = [each for each in candidates if self._model.parent(each.id) is not None]
        means = prior.means([self._model.evidence(each.id) for each in children])
        worth: dict[str, float] = {start.id: 0.0}
        for child, mean in zip(children, means, strict=True):
            worth[child.id] = worth[self._model.parent(child.id) or start.id] + mean
        return max(fit, key=lambda each: round(worth[each.id] - self._token_cost(each, start), 6))

    def _token_cost(self, candidate: Candidate, reference: Candidate) -> float:
        """What its instructions cost more than those of another, in log-odds near that one."""
        if not self._climb.token_price:
            return 0.0
        longer = self._tokens(candidate) - self._tokens(reference)
        return self._climb.token_price * longer / 1000 / self._model.slope(reference.id)

    def _tokens(self, candidate: Candidate) -> int:
        return instruction_tokens(candidate.texts, self._climb.readings)

    def _front(self, candidates: Sequence[Candidate]) -> list[FrontPoint]:
        """Those that no other beats in expected accuracy at as few tokens; the shortest first."""
        points = [FrontPoint(each.id, self._tokens(each), self._model.expected(each.id)) for each in candidates]
        front: list[FrontPoint] = []
        for point in sorted(points, key=lambda each: (each.tokens, -each.expected)):
            if not front or point.expected > front[-1].expected:
                front.append(point)
        return front

    def _tell_leader(self, candidate: Candidate) -> None:
        scores = self._scorer.scores(candidate, self._climb.dev)
        self._watcher.incumbent(f"{candidate.origin} {sum(scores.values()):g}/{len(scores)} on dev")
        spent = self._budget.spent
        self._events.record("leader", f"{candidate.id}:{spent}", candidate=candidate.id, calls=spent)

    def _objection(self, challenger: Candidate, parent: Candidate, component: str) -> str:
        """Why a proposal is not worth a call, or an empty string."""
        text = challenger.texts[component]
        # The cap keeps writers from growing prompts for ever; what a person wrote is taken as it is.
        written = challenger.origin.startswith("reflection")
        problem = objection(text, parent.texts[component], self._climb.token_cap if written else len(text), self._climb.train)
        if not problem and challenger.id in self._pool:
            problem = f"was tried before, as {self._pool[challenger.id].origin}"
        return problem or self._taken(challenger)

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


def best_shares(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The weight of each candidate on the per-item Pareto front: an item's point is shared by those who are best on it.

    Args:
        scores: candidate -> item -> score; items that one candidate alone was asked say nothing of who is best.
    """
    by_item: dict[str, dict[str, float]] = {}
    for candidate, own in scores.items():
        for item, score in own.items():
            by_item.setdefault(item, {})[candidate] = score
    shares = dict.fromkeys(scores, 0.0)
    for asked in by_item.values():
        if len(asked) > 1 or len(scores) == 1:
            best = [candidate for candidate, score in asked.items() if score == max(asked.values())]
            for candidate in best:
                shares[candidate] += 1 / len(best)
    return shares

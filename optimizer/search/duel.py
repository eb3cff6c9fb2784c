"""The duel: challenger against incumbent, batch by batch, until going on is not worth its cost. It claims nothing.

What it learns goes into the quality model; who leads afterwards is read from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from optimizer.data.item import Item
from optimizer.search.budget import Budget
from optimizer.search.candidate import Candidate
from optimizer.search.quality import QualityModel
from optimizer.search.stopping import Rule
from optimizer.stats.anytime import shuffled_clusters

MOST_MISSING = 0.1  # of a challenger's items; with more it does not take over, whatever the rest says
_INFORMATIVE = 0.4  # of all information: the items that hold it come first
_AHEAD, _AT_LEAST = 1.5, 20  # the incumbent is known this much better than its challengers: all are compared with it


class Scorer(Protocol):
    """Evaluates candidates on items and remembers. `batch` is how many debates keep the servers busy."""

    @property
    def batch(self) -> int: ...

    async def evaluate(self, candidate: Candidate, items: Sequence[Item]) -> object:
        """Hold what was not held yet."""

    def scores(self, candidate: Candidate, items: Sequence[Item]) -> dict[str, float]:
        """Scores in [0, 1] by item id over what was held; failed debates are missing."""

    def tried(self, candidate: Candidate, items: Sequence[Item]) -> int:
        """On how many of these items it was evaluated, failed debates included."""

    def cost_bound(self, candidate: Candidate, parent: Candidate, items: Sequence[Item]) -> int:
        """The most calls that evaluating can take, given what the parent was asked on the same items."""


@dataclass(frozen=True, slots=True)
class DuelResult:
    """How a duel went.

    Attributes:
        accepted: whether the challenger leads the search after it.
        wins, losses: items won and lost over those compared.
        margin: scores won less scores lost; the same as wins less losses where the objective is accuracy.
        compared, missing: items on which both have a score, and where one has none.
        ended: why, in words.
        order: ids of the items in the order in which they were looked at.
    """

    challenger: str
    incumbent: str
    accepted: bool
    wins: int
    losses: int
    compared: int
    missing: int
    ended: str
    margin: float
    order: tuple[str, ...]


def duel_order(items: Sequence[Item], challenger: str, seed: int, information: Mapping[str, float]) -> list[Item]:
    """The informative items by shuffled cluster, then the others likewise; those of a cluster in a row.

    Variants of an item are in a row too, in the clusters' order alone: an early lead is then also seen for what it costs, and
    items that are hard under every condition, which would look informative, do not crowd out the others.

    The order within both depends on the seed and the challenger alone, so neither timing nor parallelism changes the result,
    and the anytime-valid p may bet on one cluster after the other.
    """
    place = {cluster: index for index, cluster in enumerate(shuffled_clusters((i.cluster for i in items), seed, challenger))}
    if any(item.shown for item in items):
        return sorted(items, key=lambda item: (place[item.cluster], item.base, item.id))
    ranked = sorted(items, key=lambda item: (-round(information[item.id], 6), place[item.cluster], item.id))
    needed = _INFORMATIVE * sum(information.values())
    first: set[str] = set()
    for item in ranked:
        if needed <= 0:
            break
        first.add(item.id)
        needed -= information[item.id]
    return sorted(items, key=lambda item: (item.id not in first, place[item.cluster], item.id))


def batches(order: Sequence[Item], size: int) -> Iterator[list[Item]]:
    """The items in their order, so many at a time; an item and its variants count once, since one item's say much the same."""
    batch: list[Item] = []
    for item in order:
        bases = {each.base for each in batch}
        if len(bases) >= size and item.base not in bases:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


async def duel(
    scorer: Scorer,
    model: QualityModel,
    rule: Rule,
    incumbent: Candidate,
    challenger: Candidate,
    order: Sequence[Item],
    budget: Budget,
) -> DuelResult:
    """Compare on the items in their order, until the rule, the items or the budget end it.

    `accepted` of the result is left False: the caller knows who leads.
    """
    looked: list[Item] = []
    ended = "items used up"
    for batch in batches(order, scorer.batch):
        reference = batch if model.seen(incumbent.id) < _AHEAD * (len(looked) + len(batch)) + _AT_LEAST else []
        cost = scorer.cost_bound(incumbent, incumbent, reference) + scorer.cost_bound(challenger, incumbent, batch)
        if not budget.affords(cost):
            ended = "budget"
            break
        await asyncio.gather(scorer.evaluate(incumbent, reference), scorer.evaluate(challenger, batch))
        looked += batch
        model.observe(incumbent.id, scorer.scores(incumbent, reference))
        model.observe(challenger.id, scorer.scores(challenger, batch))
        model.fit()
        if too_many_missing(scorer, challenger, looked, _AT_LEAST):
            ended = "too many debates failed"
            break
        evidence = model.evidence(challenger.id)
        # Where prompts mostly answer alike, what is to be taken has to win more than it loses first.
        shown = evidence.total <= 0 or not model.copies or _margin(scorer, incumbent, challenger, looked) > 0
        if shown and not rule.goes_on(evidence):
            ended = "decided"
            break
    ours, theirs = scorer.scores(incumbent, looked), scorer.scores(challenger, looked)
    both = [item.id for item in looked if item.id in ours and item.id in theirs]
    return DuelResult(
        challenger.id,
        incumbent.id,
        accepted=False,
        wins=sum(theirs[item] > ours[item] for item in both),
        losses=sum(theirs[item] < ours[item] for item in both),
        compared=len(both),
        missing=sum(item.id not in theirs for item in looked),
        ended=ended,
        margin=_margin(scorer, incumbent, challenger, looked),
        order=tuple(item.id for item in looked),
    )


def _margin(scorer: Scorer, incumbent: Candidate, challenger: Candidate, items: Sequence[Item]) -> float:
    """Items won less items lost, of those that both have."""
    ours, theirs = scorer.scores(incumbent, items), scorer.scores(challenger, items)
    return sum(score - ours[item] for item, score in theirs.items() if item in ours)


def too_many_missing(scorer: Scorer, candidate: Candidate, items: Sequence[Item], at_least: int = 0) -> bool:
    """Whether more of a candidate's debates failed than one may overlook; their number counts as `at_least` so many."""
    tried = scorer.tried(candidate, items)
    return tried - len(scorer.scores(candidate, items)) > MOST_MISSING * max(tried, at_least)

"""The duel: challenger against incumbent, item by item, until one leads by enough. It moves the incumbent and claims nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.data.item import Item
from optimizer.search.budget import Budget
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator
from optimizer.stats.anytime import shuffled_clusters

MOST_MISSING = 0.1  # of a challenger's items; with more it does not take over, whatever the rest says


@dataclass(frozen=True, slots=True)
class DuelResult:
    """How a duel went: discordant items won and lost over the items compared, those without a score, and why it ended."""

    challenger: str
    incumbent: str
    accepted: bool
    wins: int
    losses: int
    compared: int
    missing: int
    ended: str


def duel_order(items: Sequence[Item], challenger: str, seed: int) -> list[Item]:
    """The items by shuffled cluster, those of a cluster in a row: the anytime-valid p bets on whole clusters."""
    place = {cluster: index for index, cluster in enumerate(shuffled_clusters((i.cluster for i in items), seed, challenger))}
    return sorted(items, key=lambda item: (place[item.cluster], item.id))


async def duel(
    evaluator: Evaluator,
    incumbent: Candidate,
    challenger: Candidate,
    items: Sequence[Item],
    lead: int,
    trail: int,
    budget: Budget,
    seed: int,
) -> DuelResult:
    """Compare on shuffled items, a batch at a time, decided item by item in their order.

    Accepted at wins - losses = lead; dropped at -trail, when the items are used up, or when the budget is. The order
    depends on the seed and the challenger alone, so neither timing nor parallelism changes the result.
    """
    order = duel_order(items, challenger.id, seed)
    wins = losses = compared = missing = 0
    batch_size = max(1, evaluator.executor.in_flight)

    def result(accepted: bool, ended: str) -> DuelResult:
        return DuelResult(challenger.id, incumbent.id, accepted, wins, losses, compared, missing, ended)

    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        cost = evaluator.cost_bound(incumbent, incumbent, batch) + evaluator.cost_bound(challenger, incumbent, batch)
        if not budget.affords(cost):
            return result(False, "budget")
        await evaluator.evaluate(incumbent, batch)
        await evaluator.evaluate(challenger, batch)
        ours, theirs = evaluator.scores(incumbent, batch), evaluator.scores(challenger, batch)
        for item in batch:
            if item.id not in ours or item.id not in theirs:
                missing += 1
                continue
            compared += 1
            wins += theirs[item.id] > ours[item.id]
            losses += theirs[item.id] < ours[item.id]
            if wins - losses >= lead:
                few = missing <= MOST_MISSING * (compared + missing)
                return result(few, "leads" if few else "too many debates failed")
            if losses - wins >= trail:
                return result(False, "trails")
    return result(False, "items used up")

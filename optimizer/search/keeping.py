"""Under conditions: what a candidate wins under false passages, what it loses under true ones and none, and what follows.

The search bars a candidate from the lead on dev; the sealed test has the last word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.data.item import Item
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator
from optimizer.search.objective import gained_on, kept_on
from optimizer.stats.clusters import design_effect
from optimizer.stats.noninferiority import NonInferiority, Reading, items_for_margin, non_inferiority
from optimizer.stats.paired import PairedDifference, paired_difference, paired_sums

_ALPHA = 0.25  # one-sided, for who may lead: a lead is no claim, and losing it is no verdict


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One condition of the test: both accuracies on the items that both have, and the difference. It decides nothing."""

    condition: str
    seed: float
    winner: float
    difference: PairedDifference


@dataclass(frozen=True, slots=True)
class Kept:
    """True passages and none, pooled debate by debate: is anything lost there?

    `needed` is how many debates rule out a loss of the margin with 80 % power if there is none, at the share of debates that
    differed here and their design effect; None where none differed.
    """

    items: int
    clusters: int
    wins: int
    losses: int
    test: NonInferiority
    needed: int | None


@dataclass(frozen=True, slots=True)
class ConditionsResult:
    """The sealed test by condition. `kept` is None where no condition is to be kept."""

    rows: tuple[ConditionRow, ...]
    kept: Kept | None


def conditions_result(
    before: Mapping[str, float], after: Mapping[str, float], items: Sequence[Item], margin: float
) -> ConditionsResult:
    """Seed and winner by condition.

    Args:
        before, after: scores of variants by id, of the seed and of the winner.
        items: the variants.
        margin: of the loss that is to be ruled out.
    """
    clusters = {item.id: item.cluster for item in items}
    rows = []
    for name in dict.fromkeys(item.shown.condition for item in items if item.shown):
        both = [i.id for i in items if i.shown and i.shown.condition == name and i.id in before and i.id in after]
        old, new = {item: before[item] for item in both}, {item: after[item] for item in both}
        size = max(1, len(both))
        rows.append(ConditionRow(name, sum(old.values()) / size, sum(new.values()) / size, paired_difference(old, new, clusters)))
    return ConditionsResult(tuple(rows), kept(before, after, kept_on(items), margin))


def kept(
    before: Mapping[str, float], after: Mapping[str, float], items: Sequence[Item], margin: float, alpha: float = 0.05
) -> Kept | None:
    """Non-inferiority on these items, pooled; None where both have none of them."""
    clusters = {item.id: item.cluster for item in items}
    old, new = ({item: scores[item] for item in clusters if item in scores} for scores in (before, after))
    common, data = paired_sums(old, new, clusters)
    if not common:
        return None
    differences, of = [new[item] - old[item] for item in common], [clusters[item] for item in common]
    wins, losses = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    discordance = (wins + losses) / len(common)
    needed = items_for_margin(margin, discordance, design_effect(differences, of)) if discordance else None
    return Kept(len(common), len(data.sums), wins, losses, non_inferiority(data, margin, alpha), needed)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Who may not lead a search under conditions, whatever the objective says of it.

    Args:
        evaluator: has the debates.
        seed: what is compared with.
        dev: the variants.
        margin: a candidate that probably loses more is barred; one that was asked about a single cluster, if it loses anything.
        shorter: whether being shorter is worth something, so that a lead takes no gain.
    """

    evaluator: Evaluator
    seed: Candidate
    dev: Sequence[Item]
    margin: float
    shorter: bool = False

    def barred(self, candidate: Candidate) -> str:
        """Why it may not lead, or an empty string: it loses under true passages or none, or wins nothing under false ones."""
        if candidate.id == self.seed.id:
            return ""
        before, after = self.evaluator.scores(self.seed, self.dev), self.evaluator.scores(candidate, self.dev)
        found = kept(before, after, kept_on(self.dev), self.margin, _ALPHA)
        if found is not None and (found.test.reading is Reading.WORSE or (found.clusters < 2 and found.test.difference < 0)):
            return f"lost {found.losses} and won {found.wins} of {found.items} claims under true passages and none"
        both = [item.id for item in gained_on(self.dev) if item.id in before and item.id in after]
        net = sum(after[item] - before[item] for item in both)
        if net < 0 or (net == 0 and not self.shorter):
            return f"is right no more often than the seed under false passages, on {len(both)} claims"
        return ""

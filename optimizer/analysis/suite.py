"""A panel against a reference on several data sets: a reading of each, corrected over the suite, and of all of them together.

Items have one identity in the whole suite, so that an item which two data sets share (a mixture and its source) counts once where
they are pooled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.bootstrap import Estimate, clustered_estimates
from optimizer.stats.clusters import FEW_CLUSTERS, Floats, cluster_sums
from optimizer.stats.multiplicity import holm
from optimizer.stats.paired import PairedDifference, paired_difference, sign_flip_test

ALPHA = 0.05
MOST_MISSING = 0.1  # of a data set's items; with more, who is missing may decide


class Reading(StrEnum):
    """Does the panel do better than the reference?"""

    GAIN = "reliable gain"
    LOSS = "reliable loss"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Scores:
    """What two judges scored on one data set.

    `clusters` has every item that was asked, `panel` and `reference` those with a score in [0, 1]. Items and clusters go by
    names that hold for the whole suite.
    """

    name: str
    run: str
    panel: Mapping[str, float]
    reference: Mapping[str, float]
    clusters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One data set, or all items pooled (p_holm None, run empty).

    Accuracies are over the items that both judges have a score for; `missing` counts the others. `reading` is by the cluster
    bootstrap interval of the difference alone, `corrected` by `p_holm`: the sign-flip p corrected over the suite's data sets.
    """

    name: str
    run: str
    missing: int
    panel: Accuracy
    reference: Accuracy
    difference: PairedDifference
    reading: Reading
    p_holm: float | None
    corrected: Reading | None

    @property
    def few(self) -> bool:
        """Whether there are too few clusters for figures that are more than rough."""
        return self.difference.clusters < FEW_CLUSTERS


@dataclass(frozen=True, slots=True)
class SuiteMean:
    """The plain mean over the data sets that have scores, each counting alike.

    `p` is of the cluster sign-flip test with items so weighted; `clusters` is the smallest number that a data set has.
    """

    benchmarks: int
    clusters: int
    panel: float
    reference: float
    difference: Estimate
    p: float
    reading: Reading

    @property
    def few(self) -> bool:
        """Whether some data set has too few clusters."""
        return self.clusters < FEW_CLUSTERS


@dataclass(frozen=True, slots=True)
class SuiteComparison:
    """A row a data set in the order given, the pooled row, and the mean; `shared` items are in several data sets."""

    reference: str
    rows: tuple[SuiteRow, ...]
    pooled: SuiteRow
    mean: SuiteMean
    shared: int


def compare_suite(scores: Sequence[Scores], reference: str) -> SuiteComparison:
    """Read the panel against one reference on every data set.

    Args:
        scores: of each data set, at least one.
        reference: what the reference is called.

    Raises:
        ValueError: there is no data set.
    """
    if not scores:
        raise ValueError("a suite needs at least one data set with scores")
    plain = [_row(each) for each in scores]
    corrected = holm([row.difference.p for row in plain])
    pooled = _pooled(scores)
    return SuiteComparison(
        reference,
        tuple(_corrected(row, p) for row, p in zip(plain, corrected, strict=True)),
        _row(pooled),
        _mean(scores, pooled.clusters),
        sum(count > 1 for count in Counter(item for each in scores for item in each.clusters).values()),
    )


def read_interval(low: float, high: float, clusters: int) -> Reading:
    """Whether an interval of a difference excludes 0. That of a single cluster has no width, and says nothing."""
    if clusters > 1 and low > 0:
        return Reading.GAIN
    return Reading.LOSS if clusters > 1 and high < 0 else Reading.INCONCLUSIVE


def _row(scores: Scores) -> SuiteRow:
    both = scores.panel.keys() & scores.reference.keys()
    difference = paired_difference(scores.reference, scores.panel, scores.clusters)
    missing = len(scores.clusters) - len(both)
    return SuiteRow(
        scores.name,
        scores.run,
        missing,
        accuracy_of({item: scores.panel[item] for item in both}, scores.clusters),
        accuracy_of({item: scores.reference[item] for item in both}, scores.clusters),
        difference,
        Reading.INCONCLUSIVE
        if missing > MOST_MISSING * len(scores.clusters)
        else read_interval(difference.low, difference.high, difference.clusters),
        None,
        None,
    )


def _corrected(row: SuiteRow, p_holm: float) -> SuiteRow:
    gain = row.difference.difference
    enough = row.missing <= MOST_MISSING * (row.missing + row.difference.items)
    reading = (Reading.GAIN if gain > 0 else Reading.LOSS) if enough and p_holm <= ALPHA else Reading.INCONCLUSIVE
    return replace(row, p_holm=p_holm, corrected=reading)


def _pooled(scores: Sequence[Scores]) -> Scores:
    """All items, each once, with what the first data set that has it scored."""
    panel: dict[str, float] = {}
    reference: dict[str, float] = {}
    clusters: dict[str, str] = {}
    for each in reversed(scores):
        panel |= each.panel
        reference |= each.reference
        clusters |= each.clusters
    return Scores("all items", "", panel, reference, clusters)


def _mean(scores: Sequence[Scores], clusters: Mapping[str, str]) -> SuiteMean:
    """The mean over data sets; all of them share the drawn clusters, so that items in several of them stay together."""
    sets = [(each, sorted(each.panel.keys() & each.reference.keys())) for each in scores]
    sets = [(each, both) for each, both in sets if both]
    if not sets:
        nan = float("nan")
        return SuiteMean(0, 0, nan, nan, Estimate(nan, nan, nan), 1.0, Reading.INCONCLUSIVE)
    place = {item: index for index, item in enumerate(sorted({item for _, both in sets for item in both}))}
    columns = np.zeros((len(place), 2 * len(sets)))  # differences of each data set, then which items it has
    for column, (each, both) in enumerate(sets):
        rows = [place[item] for item in both]
        columns[rows, column] = [each.panel[item] - each.reference[item] for item in both]
        columns[rows, len(sets) + column] = 1
    names = [clusters[item] for item in place]

    def mean(totals: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # a resample may miss a small data set: it says nothing then, and is left out
            means: Floats = (totals[:, : len(sets)] / totals[:, len(sets) :]).mean(axis=1, keepdims=True)
        return means

    difference = clustered_estimates(columns, names, mean)[0]
    weighted = (columns[:, : len(sets)] / columns[:, len(sets) :].sum(axis=0)).sum(axis=1) / len(sets)
    fewest = min(len({each.clusters[item] for item in both}) for each, both in sets)
    return SuiteMean(
        len(sets),
        fewest,
        float(np.mean([np.mean([each.panel[item] for item in both]) for each, both in sets])),
        float(np.mean([np.mean([each.reference[item] for item in both]) for each, both in sets])),
        difference,
        sign_flip_test(cluster_sums(weighted.tolist(), names).sums),
        read_interval(difference.low, difference.high, fewest),
    )

"""The accuracy of a judge on clustered items, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.stats.bootstrap import cluster_bootstrap
from optimizer.stats.clusters import cluster_sums
from optimizer.stats.intervals import wilson_interval


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Right answers of a candidate on a set of items, fractions where repeats were averaged.

    The interval is a 95 % cluster bootstrap; Wilson where all are right or all wrong, since resampling shows no spread then.
    """

    items: int
    right: float
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.right / self.items if self.items else float("nan")


def accuracy_of(scores: Mapping[str, float], clusters: Mapping[str, str]) -> Accuracy:
    """The accuracy over the items that have a score."""
    ids = sorted(scores)
    right = sum(scores[item] for item in ids)
    if right in (0, len(ids)):
        low, high = wilson_interval(int(right), len(ids))
        return Accuracy(len(ids), right, low, high)
    interval = cluster_bootstrap(cluster_sums([scores[item] for item in ids], [clusters[item] for item in ids]))
    return Accuracy(len(ids), right, interval.low, interval.high)

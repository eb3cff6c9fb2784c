"""Shares whose denominators differ from cluster to cluster: one alone, the difference of two, and one difference over another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.stats.bootstrap import Interval, resampled_means
from optimizer.stats.clusters import Floats, cluster_sums
from optimizer.stats.intervals import wilson_interval

_UNDEFINED = 0.025  # of resamples may lack the denominator of a ratio


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `total`, with a 95 % cluster bootstrap interval; Wilson where all or none are hits, NaN without any."""

    hits: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.hits / self.total if self.total else math.nan


def share_of(hits: Sequence[bool], clusters: Sequence[str]) -> Share:
    """The share of hits among observations, shape (n,), of which each belongs to a cluster."""
    count = sum(hits)
    if count in (0, len(hits)):
        return Share(count, len(hits), *wilson_interval(count, len(hits)))
    data = cluster_sums([float(hit) for hit in hits], clusters)
    return Share(count, len(hits), *_ends(resampled_means(data.sums[:, None], data.sizes[:, None])[:, 0]))


def share_difference(
    first: tuple[Sequence[bool], Sequence[str]], second: tuple[Sequence[bool], Sequence[str]]
) -> tuple[float, Interval]:
    """First share minus second, with its 95 % interval: whole clusters are drawn, with all that they hold of either.

    Args:
        first, second: hits and their clusters; the same clusters may be in both.

    Returns:
        NaN where one of them has no observation.
    """
    if not first[0] or not second[0]:
        return math.nan, Interval(math.nan, math.nan)
    names = sorted({*first[1], *second[1]})
    place = {name: index for index, name in enumerate(names)}
    sums, sizes = np.zeros((len(names), 2)), np.zeros((len(names), 2))
    for column, (hits, clusters) in enumerate((first, second)):
        for hit, cluster in zip(hits, clusters, strict=True):
            sums[place[cluster], column] += hit
            sizes[place[cluster], column] += 1
    drawn = resampled_means(sums, sizes)
    means = sums.sum(axis=0) / sizes.sum(axis=0)
    return float(means[0] - means[1]), _ends(drawn[:, 0] - drawn[:, 1])


def gain_ratio(part: Mapping[str, float], whole: Mapping[str, float], clusters: Mapping[str, str]) -> tuple[float, Interval]:
    """A mean difference as a share of another one on the same items, with its 95 % interval.

    Args:
        part, whole: item -> difference; items that are missing in one of them are left out.
        clusters: item -> cluster.

    Returns:
        NaN where the whole is not above zero: there is no gain to have a share of. The interval is NaN where more than one
        resample in forty has no such gain: a ratio over zero has no bounds.
    """
    items = sorted(set(part) & set(whole))
    of_item = [clusters[item] for item in items]
    top = cluster_sums([part[item] for item in items], of_item).sums
    bottom = cluster_sums([whole[item] for item in items], of_item).sums
    if not items or bottom.sum() <= 0:
        return math.nan, Interval(math.nan, math.nan)
    drawn = resampled_means(np.column_stack([top, bottom]), np.ones((len(top), 2)))
    value, gained = float(top.sum() / bottom.sum()), drawn[:, 1] > 0
    if gained.mean() < 1 - _UNDEFINED:
        return value, Interval(math.nan, math.nan)
    return value, _ends(drawn[gained, 0] / drawn[gained, 1])


def _ends(statistics: Floats) -> Interval:
    kept = statistics[np.isfinite(statistics)]
    if not len(kept):
        return Interval(math.nan, math.nan)
    low, high = np.quantile(kept, [0.025, 0.975])
    return Interval(float(low), float(high))

"""The cluster bootstrap: intervals of a mean over items, by drawing whole clusters with replacement.

A resample's statistic is (sum of drawn sums) / (sum of drawn sizes). All cells of a table share their resamples, so that a
table of dozens costs one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from optimizer.stats.clusters import ClusterSums, Floats

RESAMPLES = 10_000
_BLOCK_NUMBERS = 4_000_000  # drawn clusters held in memory at once
_NORMAL = NormalDist()


class Interval(NamedTuple):
    """Both ends of an interval; NaN where there is nothing to resample."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; NaN where it is undefined."""

    value: float
    low: float
    high: float


UNDEFINED = Estimate(float("nan"), float("nan"), float("nan"))
# From totals, shape (resamples, columns), to statistics, shape (resamples, cells); NaN where one is undefined.
Statistic = Callable[[Floats], Floats]


def cluster_bootstrap(
    data: ClusterSums,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
    method: Literal["percentile", "bca"] = "percentile",
) -> Interval:
    """The interval of one mean over items.

    One cluster gives an interval of no width, which is no evidence of anything; no cluster gives NaN.
    """
    low, high = cluster_bootstrap_cells(data.sums[:, None], data.sizes[:, None], resamples, confidence, seed, method)[0]
    return Interval(float(low), float(high))


def cluster_bootstrap_cells(
    sums: Floats,
    sizes: Floats,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
    method: Literal["percentile", "bca"] = "percentile",
) -> Floats:
    """The intervals of many means at once, over the same clusters.

    Args:
        sums: the sum of item values of each cluster, shape (clusters, cells).
        sizes: how many items each cluster has in each cell, the same shape.
        resamples: how many times the clusters are drawn.
        confidence: of the interval, in (0, 1).
        seed: of the draws.
        method: percentile, or bias-corrected and accelerated (Efron 1987; acceleration from the jackknife over clusters).

    Returns:
        Low and high, shape (cells, 2); NaN for a cell without items.

    Raises:
        ValueError: the shapes differ, or resamples or confidence are out of range.
    """
    if sums.shape != sizes.shape or sums.ndim != 2:
        raise ValueError(f"sums and sizes must both have shape (clusters, cells) but have {sums.shape} and {sizes.shape}")
    if resamples < 1 or not 0 < confidence < 1:
        raise ValueError(f"resamples must be positive and confidence in (0, 1) but got {resamples} and {confidence}")
    clusters, cells = sums.shape
    if clusters == 0:
        return np.full((cells, 2), np.nan)
    statistics = resampled_means(sums, sizes, resamples, seed)
    tail = (1 - confidence) / 2
    if method == "percentile":
        ends = np.full((cells, 2), np.nan)
        filled = sizes.sum(axis=0) > 0
        # A resample may miss all the few clusters of a cell; those resamples say nothing about it.
        quantile = np.quantile if np.isfinite(statistics[:, filled]).all() else np.nanquantile
        ends[filled] = quantile(statistics[:, filled], [tail, 1 - tail], axis=0).T
        return ends
    return np.array([_bca(statistics[:, cell], sums[:, cell], sizes[:, cell], tail) for cell in range(cells)]).reshape(cells, 2)


def clustered_estimates(
    columns: Floats, clusters: Sequence[str], statistic: Statistic, resamples: int = RESAMPLES, seed: int = 0
) -> list[Estimate]:
    """Statistics that are functions of totals over items (a correlation, a ratio), each with its cluster bootstrap interval.

    Args:
        columns: what is added up, one row an item, shape (items, columns).
        clusters: the cluster of each item.
        statistic: from totals to the statistics. It also gets the totals of the data themselves, as one row.
        resamples: how many times the clusters are drawn.
        seed: of the draws.

    Returns:
        One estimate a cell. Resamples in which a cell is undefined are left out; a cell that is undefined in the data has no
        interval, nor has one that is undefined in more than half of the resamples.

    Raises:
        ValueError: the lengths differ.
    """
    if len(columns) != len(clusters):
        raise ValueError(f"{len(columns)} rows but {len(clusters)} clusters; give one cluster for each row")
    names, places = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    sums = np.zeros((len(names), columns.shape[1]))
    np.add.at(sums, places, columns)
    values = statistic(sums.sum(axis=0)[None, :])[0]
    if not len(names):
        return [UNDEFINED] * len(values)
    drawn = statistic(_totals(sums, resamples, seed))
    found = []
    for value, cell in zip(values, drawn.T, strict=True):
        defined = cell[np.isfinite(cell)]
        if not np.isfinite(value) or 2 * len(defined) < resamples:
            found.append(Estimate(float(value), float("nan"), float("nan")))
        else:
            low, high = np.quantile(defined, [0.025, 0.975])
            found.append(Estimate(float(value), float(low), float(high)))
    return found


def mean_estimate(values: Sequence[float], clusters: Sequence[str], seed: int = 0) -> Estimate:
    """The mean of item values with its cluster bootstrap interval."""

    def mean(totals: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = totals[:, :1] / totals[:, 1:]
        return result

    return clustered_estimates(
        np.column_stack([np.asarray(values, dtype=float), np.ones(len(values))]), clusters, mean, seed=seed
    )[0]


def resampled_means(sums: Floats, sizes: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """The means of every resample, shape (resamples, cells), for statistics of several cells: all cells share the draws.

    Args:
        sums, sizes: as for `cluster_bootstrap_cells`. A resample without items in a cell has NaN, or infinity, there.
    """
    # Where all cells have the same sizes, their column is multiplied once.
    shared = bool(np.all(sizes == sizes[:, :1]))
    totals = _totals(np.hstack([sums, sizes[:, :1] if shared else sizes]), resamples, seed)
    cells = sums.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = totals[:, :cells] / totals[:, cells:]
    return result


def _totals(sums: Floats, resamples: int, seed: int) -> Floats:
    """The sums over the clusters of every resample, shape (resamples, columns)."""
    clusters = len(sums)
    if resamples * clusters <= _BLOCK_NUMBERS:
        return _kept_draws(clusters, resamples, seed) @ sums
    generator = np.random.default_rng(seed)
    totals = np.empty((resamples, sums.shape[1]))
    block = max(1, _BLOCK_NUMBERS // clusters)
    for start in range(0, resamples, block):
        count = min(block, resamples - start)
        totals[start : start + count] = _draws(generator, clusters, count) @ sums
    return totals


@lru_cache(maxsize=2)
def _kept_draws(clusters: int, resamples: int, seed: int) -> Floats:
    """The draws of the whole bootstrap: a report asks for dozens of intervals over the same clusters."""
    return _draws(np.random.default_rng(seed), clusters, resamples)


def _draws(generator: np.random.Generator, clusters: int, resamples: int) -> Floats:
    """How often each resample has each cluster, shape (resamples, clusters)."""
    drawn = generator.integers(0, clusters, size=(resamples, clusters), dtype=np.int32)
    drawn += np.arange(resamples, dtype=np.int32)[:, None] * clusters
    counts = np.bincount(drawn.ravel(), minlength=resamples * clusters).reshape(resamples, clusters)
    return counts.astype(float)


def _bca(statistics: Floats, sums: Floats, sizes: Floats, tail: float) -> tuple[float, float]:
    observed = sums.sum() / sizes.sum() if sizes.sum() else np.nan
    statistics = statistics[np.isfinite(statistics)]
    if not np.isfinite(observed) or len(statistics) == 0:
        return float("nan"), float("nan")
    if np.all(statistics == statistics[0]):
        return float(observed), float(observed)
    # Ties count half: statistics of counts are discrete.
    below = (np.count_nonzero(statistics < observed) + np.count_nonzero(statistics <= observed)) / (2 * len(statistics))
    bias = _NORMAL.inv_cdf(min(max(below, 0.5 / len(statistics)), 1 - 0.5 / len(statistics)))
    with np.errstate(invalid="ignore", divide="ignore"):
        left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    left_out = left_out[np.isfinite(left_out)]
    spread = left_out.mean() - left_out if len(left_out) else np.zeros(1)
    below_the_line = float((spread**2).sum()) ** 1.5
    acceleration = float((spread**3).sum()) / (6 * below_the_line) if below_the_line else 0.0
    ends = []
    for z in (_NORMAL.inv_cdf(tail), _NORMAL.inv_cdf(1 - tail)):
        shifted = bias + (bias + z) / (1 - acceleration * (bias + z))
        ends.append(float(np.quantile(statistics, _NORMAL.cdf(shifted))))
    return ends[0], ends[1]

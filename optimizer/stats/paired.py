"""Paired comparison of two candidates on the same items, by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FLIPS = 100_000
_BLOCK = 4_096  # random draws at a time: bounds the memory at many clusters


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """Sum and size of each cluster, in one order. Both have shape (clusters,)."""

    sums: Floats
    sizes: Floats

    @property
    def mean(self) -> float:
        """The mean over items; NaN without items."""
        total = float(self.sizes.sum())
        return float(self.sums.sum()) / total if total else float("nan")


def cluster_sums(values: Sequence[float], clusters: Sequence[str]) -> ClusterSums:
    """Add item values up by cluster.

    Args:
        values: one number an item (repeats averaged before), shape (items,).
        clusters: the cluster of each item, the same length.

    Raises:
        ValueError: the lengths differ.
    """
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values but {len(clusters)} clusters; give one cluster for each value")
    names = sorted(set(clusters))
    index = {name: position for position, name in enumerate(names)}
    positions = np.array([index[name] for name in clusters], dtype=np.intp)
    sums = np.bincount(positions, weights=np.asarray(values, dtype=float), minlength=len(names)).astype(float)
    sizes = np.bincount(positions, minlength=len(names)).astype(float)
    return ClusterSums(sums, sizes)


def cluster_bootstrap(data: ClusterSums, resamples: int = 10_000, confidence: float = 0.95, seed: int = 0) -> tuple[float, float]:
    """Percentile interval of the mean over items, drawing whole clusters with replacement.

    Each resample's statistic is (sum of drawn sums) / (sum of drawn sizes). NaN, NaN without clusters; one cluster
    gives an interval of no width, which is no evidence of anything.
    """
    count = len(data.sums)
    if count == 0:
        return float("nan"), float("nan")
    generator = np.random.default_rng(seed)
    statistics = np.empty(resamples)
    for start in range(0, resamples, _BLOCK):
        stop = min(start + _BLOCK, resamples)
        drawn = generator.integers(0, count, size=(stop - start, count))
        statistics[start:stop] = data.sums[drawn].sum(axis=1) / data.sizes[drawn].sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(statistics, [tail, 1 - tail])
    return float(low), float(high)


def sign_flip_test(sums: Floats, seed: int = 0) -> float:
    """Two-sided p of the cluster sign-flip permutation test of a zero mean difference.

    Args:
        sums: the sum of paired differences of each cluster, shape (clusters,).
        seed: only used where the sums are not integers.

    Returns:
        P(|sum of sums with random signs| >= |observed sum|). Exact by convolution where all sums are integers (one
        repeat an item); otherwise from 100,000 flips as (b + 1) / (m + 1). 1.0 without any difference.
    """
    moving = sums[sums != 0]
    if len(moving) == 0:
        return 1.0
    observed = abs(float(moving.sum()))
    if np.all(moving == np.rint(moving)):
        return _exact_p(np.abs(moving).astype(int), observed)
    generator = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, _FLIPS, _BLOCK):
        signs = generator.integers(0, 2, size=(min(_BLOCK, _FLIPS - start), len(moving))) * 2 - 1
        extreme += int(np.count_nonzero(np.abs(signs @ moving) >= observed - 1e-9))
    return (extreme + 1) / (_FLIPS + 1)


def _exact_p(magnitudes: NDArray[np.int_], observed: float) -> float:
    """The distribution of the signed sum, built one cluster at a time; index i stands for the sum i - total."""
    total = int(magnitudes.sum())
    mass = np.zeros(2 * total + 1)
    mass[total] = 1.0
    for size in magnitudes:
        mass = (np.roll(mass, size) + np.roll(mass, -size)) / 2
    values = np.abs(np.arange(-total, total + 1))
    return float(min(1.0, mass[values >= observed].sum()))


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Challenger minus baseline over the items that both have.

    `wins` and `losses` count discordant items. `low` and `high` are the 95 % cluster bootstrap interval of the
    difference, `p` the two-sided cluster sign-flip p. `unpaired` items are missing on a side and left out.
    """

    items: int
    clusters: int
    wins: int
    losses: int
    difference: float
    low: float
    high: float
    p: float
    mcnemar_p: float
    unpaired: int


def paired_difference(
    baseline: dict[str, float], challenger: dict[str, float], clusters: dict[str, str], seed: int = 0
) -> PairedDifference:
    """Compare two sets of item scores, joined by item id.

    Args:
        baseline, challenger: item id -> score in [0, 1].
        clusters: item id -> cluster, for at least the items of both.
        seed: of the bootstrap.
    """
    common = sorted(set(baseline) & set(challenger))
    differences = [challenger[item] - baseline[item] for item in common]
    data = cluster_sums(differences, [clusters[item] for item in common])
    low, high = cluster_bootstrap(data, seed=seed)
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return PairedDifference(
        items=len(common),
        clusters=len(data.sums),
        wins=wins,
        losses=losses,
        difference=data.mean,
        low=low,
        high=high,
        p=sign_flip_test(data.sums, seed),
        mcnemar_p=mcnemar_exact(wins, losses),
        unpaired=len(set(baseline) | set(challenger)) - len(common),
    )


def mcnemar_exact(wins: int, losses: int) -> float:
    """Two-sided exact McNemar p: a binomial test of the discordant items at one half; clusters are ignored."""
    from scipy.stats import binomtest  # .8 s to import

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0

"""Paired comparison of two candidates on the same items, by cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.stats.bootstrap import Interval, cluster_bootstrap
from optimizer.stats.clusters import ClusterSums, Floats, cluster_sums

_FLIPS = 100_000
_MOST_PARTS = 12  # sums that are multiples of 1, 1/2, … or 1/12 are those of so many repeats
_BLOCK = 4_096  # random draws at a time: bounds the memory at many clusters


def sign_flip_test(sums: Floats, seed: int = 0) -> float:
    """Two-sided p of the cluster sign-flip permutation test of a zero mean difference.

    Args:
        sums: the sum of paired differences of each cluster, shape (clusters,).
        seed: only used where flips are drawn.

    Returns:
        P(|sum of sums with random signs| >= |observed sum|). Exact by convolution where all sums are integers (one
        repeat an item), or whole parts of one (a few repeats); otherwise from 100,000 flips as (b + 1) / (m + 1). 1.0
        without any difference.
    """
    moving = sums[sums != 0]
    if len(moving) == 0:
        return 1.0
    observed = abs(float(moving.sum()))
    for parts in range(1, _MOST_PARTS + 1):
        whole = np.rint(moving * parts)
        if np.allclose(moving * parts, whole, rtol=0, atol=1e-9):
            return _exact_p(np.abs(whole).astype(int), abs(float(whole.sum())))
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
    difference, `p` the two-sided cluster sign-flip p, which alone decides; `mcnemar_p` ignores clusters and stands beside it.
    `unpaired` items are missing on a side and left out.
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
    baseline: Mapping[str, float], challenger: Mapping[str, float], clusters: Mapping[str, str], seed: int = 0
) -> PairedDifference:
    """Compare two sets of item scores, joined by item id.

    Args:
        baseline, challenger: item id -> score in [0, 1].
        clusters: item id -> cluster, for at least the items of both.
        seed: of the bootstrap.
    """
    common, data = paired_sums(baseline, challenger, clusters)
    differences = [challenger[item] - baseline[item] for item in common]
    interval = cluster_bootstrap(data, seed=seed) if common else Interval(float("nan"), float("nan"))
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return PairedDifference(
        items=len(common),
        clusters=len(data.sums),
        wins=wins,
        losses=losses,
        difference=data.mean,
        low=interval.low,
        high=interval.high,
        p=sign_flip_test(data.sums, seed),
        mcnemar_p=mcnemar_exact(wins, losses),
        unpaired=len(set(baseline) | set(challenger)) - len(common),
    )


def paired_sums(
    baseline: Mapping[str, float], challenger: Mapping[str, float], clusters: Mapping[str, str]
) -> tuple[list[str], ClusterSums]:
    """The items that both have, in order, and the sums of their differences by cluster."""
    common = sorted(set(baseline) & set(challenger))
    return common, cluster_sums([challenger[item] - baseline[item] for item in common], [clusters[item] for item in common])


def mcnemar_exact(wins: int, losses: int) -> float:
    """Two-sided exact McNemar p: a binomial test of the discordant items at one half; clusters are ignored."""
    from scipy.stats import binomtest  # .8 s to import

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def cochran_q(scores: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Cochran's Q of K candidates on the same items, and its p from chi-squared with K - 1 degrees (Cochran 1950).

    Args:
        scores: shape (items, candidates), zeros and ones. Clusters are ignored.

    Returns:
        Q and p; 0 and 1 where all candidates agree on every item.

    Raises:
        ValueError: fewer than two candidates, or a score is neither 0 nor 1.
    """
    from scipy.stats import chi2

    matrix = np.asarray(scores, dtype=float)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise ValueError(f"scores must have shape (items, candidates) with two candidates or more but got {matrix.shape}")
    if not np.isin(matrix, (0, 1)).all():
        raise ValueError("Cochran's Q is for scores of 0 and 1; average no repeats into them")
    candidates = matrix.shape[1]
    columns, rows = matrix.sum(axis=0), matrix.sum(axis=1)
    below = candidates * rows.sum() - (rows**2).sum()
    if below == 0:
        return 0.0, 1.0
    q = (candidates - 1) * (candidates * (columns**2).sum() - columns.sum() ** 2) / below
    return float(q), float(chi2.sf(q, candidates - 1))

"""Macro F1 of a two-class judge that may abstain, and its paired difference by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from optimizer.stats.clusters import Floats

_RESAMPLES, _SWAPS, _BLOCK = 10_000, 20_000, 500


class Counts(NamedTuple):
    """For each class: right answers, items of it, and how often it was the answer (abstentions are no answer)."""

    right_first: int
    items_first: int
    called_first: int
    right_second: int
    items_second: int
    called_second: int


@dataclass(frozen=True, slots=True)
class F1Difference:
    """Macro F1 of both, challenger minus baseline, its 95 % cluster bootstrap interval, and the p of a cluster swap test."""

    baseline: float
    challenger: float
    difference: float
    low: float
    high: float
    p: float


def macro_f1(counts: Floats) -> Floats:
    """Mean of both classes' F1 = 2 right / (items + called); a class that neither occurs nor is called counts 0.

    Args:
        counts: in the order of `Counts`, shape (..., 6).
    """
    counts = np.asarray(counts, dtype=float)
    scores = []
    for start in (0, 3):
        right, items, called = counts[..., start], counts[..., start + 1], counts[..., start + 2]
        below = items + called
        scores.append(np.divide(2 * right, below, out=np.zeros_like(below), where=below > 0))
    return np.asarray((scores[0] + scores[1]) / 2)


def f1_slope(counts: Counts) -> tuple[float, float]:
    """How much macro F1 rises when one more item of the first, or of the second, class is got right instead of mistaken for
    the other: the differences of macro F1 itself, so both are positive."""
    here = np.asarray(counts, dtype=float)
    first, second = here.copy(), here.copy()
    first[[0, 2]] += 1
    first[5] = max(first[5] - 1, 0)
    second[[3, 5]] += 1
    second[2] = max(second[2] - 1, 0)
    base = float(macro_f1(here))
    return max(float(macro_f1(first)) - base, 1e-9), max(float(macro_f1(second)) - base, 1e-9)


def f1_difference(
    gold: Sequence[int], baseline: Sequence[int], challenger: Sequence[int], clusters: Sequence[str], seed: int = 0
) -> F1Difference:
    """Compare two judges' macro F1 on the same items.

    Args:
        gold: 0 or 1, shape (items,).
        baseline, challenger: 0, 1, or -1 for an abstention, the same shape.
        clusters: of each item.
        seed: of resamples and swaps.

    Returns:
        p is two-sided: the share of 20,000 random exchanges of both judges' answers, a cluster at a time, whose difference is
        at least as large, counted as (b + 1) / (m + 1). Exchanging is valid for any statistic of paired answers.
    """
    names = sorted(set(clusters))
    index = np.array([names.index(cluster) for cluster in clusters])
    before, after = (_by_cluster(np.asarray(gold), np.asarray(said), index, len(names)) for said in (baseline, challenger))
    base, chal = float(macro_f1(before.sum(0))), float(macro_f1(after.sum(0)))
    generator = np.random.default_rng(seed)
    observed, extreme, draws = abs(chal - base), 0, []
    for _ in range(_SWAPS // _BLOCK):
        swap = generator.integers(0, 2, size=(_BLOCK, len(names))).astype(float)
        one = swap @ after + (1 - swap) @ before
        other = swap @ before + (1 - swap) @ after
        extreme += int(np.count_nonzero(np.abs(macro_f1(one) - macro_f1(other)) >= observed - 1e-12))
    for _ in range(_RESAMPLES // _BLOCK):
        weights = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=_BLOCK).astype(float)
        draws.append(macro_f1(weights @ after) - macro_f1(weights @ before))
    low, high = np.quantile(np.concatenate(draws), [0.025, 0.975])
    return F1Difference(base, chal, chal - base, float(low), float(high), (extreme + 1) / (_SWAPS + 1))


def _by_cluster(gold: Floats, said: Floats, index: Floats, clusters: int) -> Floats:
    """Counts of each cluster, shape (clusters, 6)."""
    columns = []
    for label in (0, 1):
        for chosen in ((gold == label) & (said == label), gold == label, said == label):
            columns.append(np.bincount(index, weights=chosen.astype(float), minlength=clusters))
    return np.stack(columns, axis=1)

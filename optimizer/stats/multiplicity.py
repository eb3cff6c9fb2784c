"""Correction for the number of tries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from optimizer.stats.clusters import Floats

_FLIPS = 100_000
_EXACT_CLUSTERS = 14  # up to so many moving clusters, all sign patterns are gone through
_BLOCK = 8_192


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given (Holm 1979). Raises ValueError outside 0..1."""
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"p-values must be between 0 and 1 but got {p}")
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def max_t(sums: Floats, seed: int = 0, flips: int = _FLIPS) -> list[float]:
    """Westfall and Young's step-down max-T adjusted p-values of K candidates against one baseline (1993, algorithm 4.1).

    A cluster's signs are flipped for all candidates together, so the correlation between candidates is kept: near-copies of
    one prompt count as one try. T_k = sum_g S_gk / sqrt(sum_g S_gk^2), two-sided; raw sums would let candidates with many
    differences dominate.

    Args:
        sums: the sum of paired differences of each cluster and candidate, shape (clusters, candidates).
        seed: of the flips; up to 14 moving clusters all sign patterns are enumerated and nothing is drawn.
        flips: how many are drawn otherwise; then p = (b + 1) / (m + 1).

    Returns:
        An adjusted p a candidate, in their order; 1.0 for one without any difference.

    Raises:
        ValueError: sums is no matrix.
    """
    if sums.ndim != 2:
        raise ValueError(f"sums must have shape (clusters, candidates) but has {sums.shape}")
    moving = sums[np.any(sums != 0, axis=1)]
    candidates = sums.shape[1]
    if candidates == 0:
        return []
    norms = np.sqrt((moving**2).sum(axis=0))
    live = np.flatnonzero(norms > 0)
    if len(live) == 0:
        return [1.0] * candidates
    scaled = moving[:, live] / norms[live]
    observed = np.abs(scaled.sum(axis=0))
    order = np.argsort(-observed, kind="stable")
    scaled, observed = scaled[:, order], observed[order]
    exact = len(scaled) <= _EXACT_CLUSTERS
    reached, total = np.zeros(len(live)), 0
    for signs in _all_signs(len(scaled)) if exact else _drawn_signs(len(scaled), flips, seed):
        statistics = np.abs(signs @ scaled)
        # The largest among this candidate and all that come after it: the step-down.
        running = np.maximum.accumulate(statistics[:, ::-1], axis=1)[:, ::-1]
        reached += (running >= observed - 1e-9).sum(axis=0)
        total += len(signs)
    stepwise = reached / total if exact else (reached + 1) / (total + 1)
    adjusted = np.ones(candidates)
    adjusted[live[order]] = np.minimum(1.0, np.maximum.accumulate(stepwise))
    return [float(p) for p in adjusted]


def _all_signs(clusters: int) -> Iterator[Floats]:
    patterns = np.arange(2**clusters)
    yield (((patterns[:, None] >> np.arange(clusters)) & 1) * 2 - 1).astype(float)


def _drawn_signs(clusters: int, flips: int, seed: int) -> Iterator[Floats]:
    """Random sign patterns in blocks, each of shape (block, clusters)."""
    generator = np.random.default_rng(seed)
    for start in range(0, flips, _BLOCK):
        bits = generator.integers(0, 2, size=(min(_BLOCK, flips - start), clusters), dtype=np.int8)
        yield (bits * 2 - 1).astype(float)

"""The gain of a choice that was made anew for every fold on the other folds: how far chance alone moves it.

Cross-validated gains of different folds are not independent: what helps to choose for one fold is measured in another. An
interval that takes them as independent is too short (docs/policy.md has figures: it held a true zero 88 to 93 times in 100, not
95). Here whole clusters' differences change sign at random, jointly for all choices as in Westfall and Young's max-T, every
fold chooses again, and the gain's t is recorded: t = sum / sqrt(sum of squares - sum**2 / clusters) over clusters. The observed
t is held against these, and the bootstrap interval is stretched by their 95 % point over the normal one.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from optimizer.stats.bootstrap import cluster_bootstrap
from optimizer.stats.clusters import ClusterSums, Floats

FLIPS = 1_000
_BLOCK_NUMBERS = 4_000_000  # numbers held in memory at once


@dataclass(frozen=True, slots=True)
class ReselectedGain:
    """A mean gain over items; its 95 % cluster bootstrap interval, stretched by `stretch`; and its two-sided p.

    With so few clusters that chance alone moves them all one way 5 times in 100, there is no interval: NaN, and `stretch` is
    infinite.
    """

    gain: float
    low: float
    high: float
    p: float
    stretch: float


def reselected_gain(
    gains: ClusterSums, choices: Floats, folds: NDArray[np.intp], flips: int = FLIPS, seed: int = 0
) -> ReselectedGain:
    """The gain of what was chosen for each fold on the others.

    Args:
        gains: of the choices that were made, each on the fold that it was not made on.
        choices: differences from the baseline, summed by cluster, of a sample of what there was to choose from, shape
            (clusters, choices). Which they are must not depend on how they do. Staying with the baseline is always a choice,
            and needs no column.
        folds: of each cluster, from 0 up, shape (clusters,).
        flips: how often the signs are drawn.
        seed: of signs and bootstrap.

    Raises:
        ValueError: the numbers of clusters differ.
    """
    if not len(gains.sums) == len(choices) == len(folds):
        raise ValueError(f"gains, choices and folds are of {len(gains.sums)}, {len(choices)} and {len(folds)} clusters")
    observed = float(_t(gains.sums.sum(), (gains.sums**2).sum(), len(folds)))
    by_chance = np.abs(_flipped(choices, folds, flips, seed))
    p = (1 + int(np.count_nonzero(by_chance >= abs(observed) - 1e-9))) / (flips + 1)
    stretch = max(1.0, float(np.quantile(by_chance, 0.95, method="higher")) / NormalDist().inv_cdf(0.975))
    mean = gains.mean
    if not np.isfinite(stretch):
        return ReselectedGain(mean, float("nan"), float("nan"), p, stretch)
    plain = cluster_bootstrap(gains, seed=seed)
    return ReselectedGain(mean, mean - stretch * (mean - plain.low), mean + stretch * (plain.high - mean), p, stretch)


def _flipped(choices: Floats, folds: NDArray[np.intp], flips: int, seed: int) -> Floats:
    """The t of every draw of signs."""
    generator = np.random.default_rng(seed)
    # The baseline is the first choice, so that it is taken where nothing is better.
    table = np.hstack([np.zeros((len(choices), 1)), choices])
    members = [folds == fold for fold in range(int(folds.max()) + 1)]
    squares = np.stack([(table[rows] ** 2).sum(axis=0) for rows in members])
    block = max(1, _BLOCK_NUMBERS // max(table.shape))
    found = [
        _reselected(_signs(generator, min(block, flips - start), len(choices)), table, members, squares)
        for start in range(0, flips, block)
    ]
    return np.concatenate(found)


def _signs(generator: np.random.Generator, draws: int, clusters: int) -> Floats:
    return generator.choice(np.array([-1.0, 1.0]), size=(draws, clusters))


def _reselected(signs: Floats, table: Floats, members: list[NDArray[np.bool_]], squares: Floats) -> Floats:
    sums = np.stack([signs[:, rows] @ table[rows] for rows in members])
    total = sums.sum(axis=0)
    gain, spread = np.zeros(len(signs)), np.zeros(len(signs))
    draws = np.arange(len(signs))
    for of_fold, of_squares in zip(sums, squares, strict=True):
        chosen = (total - of_fold).argmax(axis=1)
        gain += of_fold[draws, chosen]
        spread += of_squares[chosen]
    return _t(gain, spread, len(table))


def _t(total: Floats, squares: Floats, clusters: int) -> Floats:
    """total / sqrt(squares - total**2 / clusters): 0 where nothing moved, infinite where every cluster moved alike."""
    spread = np.asarray(squares - total**2 / clusters, dtype=float)
    total = np.asarray(total, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(np.abs(total) < 1e-12, 0.0, total / np.sqrt(np.maximum(spread, 0.0)))
    return found

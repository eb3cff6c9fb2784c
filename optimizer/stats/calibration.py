"""Does confidence mean anything? Ranking (AUROC), calibration error in two binnings, and the Brier score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optimizer.stats.bootstrap import RESAMPLES, Estimate, clustered_estimates
from optimizer.stats.clusters import Floats


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability curve: how many answers, their mean confidence, and the share of right ones.

    It holds confidences from `low` to `high`: the bin's own ends if bins are of equal width, else those of its answers.
    """

    answers: int
    confidence: float
    right: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """`ece` is the mean gap between confidence and accuracy weighted by answers, `mce` the largest gap of a bin."""

    ece: float
    mce: float
    bins: tuple[Bin, ...]


def auroc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """The chance that a positive scores higher than a negative, ties counted half; NaN with one class only.

    Args:
        scores: shape (n,).
        positive: the class of each, the same length.

    Raises:
        ValueError: the lengths differ.
    """
    values, classes = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    if len(values) != len(classes):
        raise ValueError(f"{len(values)} scores but {len(classes)} classes")
    wins, total = int(classes.sum()), len(classes)
    if wins in (0, total):
        return math.nan
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float((ranks[classes].sum() - wins * (wins + 1) / 2) / (wins * (total - wins)))


def auroc_estimate(
    scores: Sequence[float], positive: Sequence[bool], clusters: Sequence[str], seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """The same with its 95 % cluster bootstrap interval. The number of different scores should be small: it sets the memory.

    Raises:
        ValueError: the lengths differ.
    """
    values, classes = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    if len(values) != len(classes):
        raise ValueError(f"{len(values)} scores but {len(classes)} classes")
    levels, places = np.unique(values, return_inverse=True)
    columns = np.zeros((len(values), 2 * len(levels)))
    columns[np.arange(len(values)), places + len(levels) * ~classes] = 1.0

    def area(totals: Floats) -> Floats:
        wins, losses = totals[:, : len(levels)], totals[:, len(levels) :]
        below = np.cumsum(losses, axis=1) - losses / 2  # negatives under each score, those at it counted half
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = (wins * below).sum(axis=1) / (wins.sum(axis=1) * losses.sum(axis=1))
        return result[:, None]

    return clustered_estimates(columns, clusters, area, resamples, seed)[0]


def brier(confidence: Sequence[float], right: Sequence[float]) -> float:
    """The mean squared gap between confidence in [0, 1] and the outcome (Brier 1950); NaN without answers."""
    values, outcomes = _checked(confidence, right)
    return float(((values - outcomes) ** 2).mean()) if len(values) else math.nan


def calibration(
    confidence: Sequence[float], right: Sequence[float], bins: int = 10, binning: Literal["width", "mass"] = "width"
) -> Calibration:
    """Expected and maximum calibration error, and the reliability curve.

    Args:
        confidence: that the answer is right, in [0, 1], shape (n,).
        right: 1 or 0, the same length.
        bins: how many.
        binning: of equal width over [0, 1], right ends included; or of equal mass, sorted answers cut into even parts
            (equal confidences may then be in two bins).

    Raises:
        ValueError: the lengths differ, a confidence is outside [0, 1], or bins is not positive.
    """
    values, outcomes = _checked(confidence, right)
    if bins < 1:
        raise ValueError(f"bins must be positive but got {bins}")
    if len(values) == 0:
        return Calibration(math.nan, math.nan, ())
    filled = [
        Bin(len(members), float(values[members].mean()), float(outcomes[members].mean()), low, high)
        for members, low, high in _members(values, bins, binning)
    ]
    gaps = [abs(each.confidence - each.right) for each in filled]
    ece = sum(each.answers * gap for each, gap in zip(filled, gaps, strict=True)) / len(values)
    return Calibration(ece, max(gaps), tuple(filled))


def _members(values: Floats, bins: int, binning: str) -> list[tuple[NDArray[np.intp], float, float]]:
    """The positions in each bin that has any, and the bin's ends."""
    if binning == "mass":
        parts = [part for part in np.array_split(np.argsort(values, kind="stable"), bins) if len(part)]
        return [(part, float(values[part[0]]), float(values[part[-1]])) for part in parts]
    place = np.clip(np.ceil(values * bins).astype(int) - 1, 0, bins - 1)
    found = [(np.flatnonzero(place == index), index / bins, (index + 1) / bins) for index in range(bins)]
    return [(part, low, high) for part, low, high in found if len(part)]


def _checked(confidence: Sequence[float], right: Sequence[float]) -> tuple[Floats, Floats]:
    values, outcomes = np.asarray(confidence, dtype=float), np.asarray(right, dtype=float)
    if len(values) != len(outcomes):
        raise ValueError(f"{len(values)} confidences but {len(outcomes)} outcomes")
    if len(values) and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(f"confidence must be in [0, 1] but goes from {values.min()} to {values.max()}; divide per cents by 100")
    return values, outcomes

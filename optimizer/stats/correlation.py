"""The correlation of two figures over clustered items."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from optimizer.stats.bootstrap import RESAMPLES, Estimate, clustered_estimates
from optimizer.stats.clusters import Floats


def pearson_estimate(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[str], seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Pearson's correlation with its 95 % cluster bootstrap interval; NaN where one of both does not vary.

    Args:
        first, second: shape (items,) each.
        clusters: the cluster of each item.
        seed: of the draws.
        resamples: how many.

    Raises:
        ValueError: the lengths differ.
    """
    x, y = _pair(first, second)
    if len(x):
        x, y = x - x.mean(), y - y.mean()  # keeps the differences of sums from losing their digits
    columns = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    return clustered_estimates(columns, clusters, _pearson, resamples, seed)[0]


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rank correlation; NaN where one of both does not vary, or there are fewer than two items."""
    from scipy.stats import spearmanr

    x, y = _pair(first, second)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(spearmanr(x, y).statistic)


def _pearson(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        _, x, y, xx, yy, xy = (totals / totals[:, :1]).T
        spread_x, spread_y = xx - x * x, yy - y * y
        # What rounding leaves of the spread of a constant is none.
        spread_x, spread_y = (np.where(each > 1e-12, each, np.nan) for each in (spread_x, spread_y))
        result: Floats = (xy - x * y) / np.sqrt(spread_x * spread_y)
    return result[:, None]


def _pair(first: Sequence[float], second: Sequence[float]) -> tuple[Floats, Floats]:
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if len(x) != len(y):
        raise ValueError(f"{len(x)} values but {len(y)} to compare them with")
    return x, y

"""Is a challenger at most a little worse? The margin is named beforehand, and the answer may be: not known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy as np

from optimizer.stats.clusters import ClusterSums

_NORMAL = NormalDist()


class Reading(StrEnum):
    """What the one-sided bounds allow to say."""

    NOT_WORSE = "not worse by the margin"
    WORSE = "worse by more than the margin"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """`low` and `high` are the one-sided bounds of the difference at the level; `reading` follows from them and the margin."""

    margin: float
    difference: float
    low: float
    high: float
    reading: Reading


def non_inferiority(data: ClusterSums, margin: float, alpha: float = 0.05) -> NonInferiority:
    """Compare a paired difference with a margin by the cluster-robust standard error (normal approximation).

    Where nothing differs that error is 0 and says nothing; the bounds are then those of an event that none of so many clusters
    has shown, 1 - alpha^(1/clusters) (Hanley and Lippman-Hand 1983), so that a few items never rule a loss out.

    Args:
        data: sums of challenger minus baseline by cluster, all conditions pooled item-wise.
        margin: the loss that would still be put up with, positive, in accuracy.
        alpha: one-sided.

    Raises:
        ValueError: the margin is not positive.
    """
    if margin <= 0:
        raise ValueError(f"margin must be positive but got {margin}; .03 is three points of accuracy")
    clusters, items = len(data.sums), float(data.sizes.sum())
    if clusters < 2:
        return NonInferiority(margin, data.mean, math.nan, math.nan, Reading.INCONCLUSIVE)
    residuals = data.sums - data.mean * data.sizes
    error = math.sqrt(float(np.square(residuals).sum()) * clusters / (clusters - 1)) / items
    reach = _NORMAL.inv_cdf(1 - alpha) * error if data.sums.any() else 1 - alpha ** (1 / clusters)
    low, high = data.mean - reach, data.mean + reach
    reading = Reading.NOT_WORSE if low > -margin else Reading.WORSE if high < -margin else Reading.INCONCLUSIVE
    return NonInferiority(margin, data.mean, low, high, reading)


def items_for_margin(
    margin: float, discordance: float, design_effect: float = 1.0, power: float = 0.8, alpha: float = 0.05
) -> int:
    """How many paired items the margin takes when there is no true difference (normal approximation, one-sided).

    Raises:
        ValueError: margin or discordance is not positive.
    """
    if margin <= 0 or not 0 < discordance <= 1:
        raise ValueError(f"margin must be positive and discordance in (0, 1] but got {margin} and {discordance}")
    z = _NORMAL.inv_cdf(1 - alpha) + _NORMAL.inv_cdf(power)
    return math.ceil(z * z * discordance / margin**2 * design_effect)

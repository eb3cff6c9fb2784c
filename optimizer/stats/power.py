"""What a test of a given size can see at all, said before money is spent."""

from __future__ import annotations

import math
from statistics import NormalDist


def smallest_significant_gain(clusters: int, tries: int = 1, alpha: float = 0.05) -> int | None:
    """The smallest net gain in items, without a single loss and in as many clusters, that can be significant.

    n wins and no loss have the two-sided sign-flip p 2 / 2^n; with Bonferroni's worst case over `tries`. None where
    even a win in every cluster is not enough.
    """
    if tries < 1 or not 0 < alpha < 1:
        raise ValueError(f"tries must be at least 1 and alpha between 0 and 1 but got {tries} and {alpha}")
    needed = max(1, math.ceil(math.log2(2 * tries / alpha)))
    return needed if needed <= clusters else None


def detectable_gain(items: int, discordance: float, design_effect: float = 1.0, power: float = 0.8, alpha: float = 0.05) -> float:
    """The true gain that a two-sided paired test finds with the given power (Connor 1987, normal approximation).

    Args:
        items: paired items.
        discordance: the share of items on which the two differ, in (0, 1].
        design_effect: variance inflation by clusters, 1 + (m - 1) * rho.

    Returns:
        A difference in accuracy. It cannot exceed the discordance; where even that is not enough, NaN.
    """
    if items < 1 or not 0 < discordance <= 1:
        raise ValueError(f"items must be positive and discordance in (0, 1] but got {items} and {discordance}")
    effective = items / design_effect
    z_alpha, z_power = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)

    def shortfall(gain: float) -> float:
        spread = math.sqrt(max(discordance - gain * gain, 0.0))
        return z_alpha * math.sqrt(discordance) + z_power * spread - gain * math.sqrt(effective)

    if shortfall(discordance) > 0:
        return math.nan
    low, high = 0.0, discordance
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shortfall(middle) > 0 else (low, middle)
    return high

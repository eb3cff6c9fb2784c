"""What a test of a given size can see at all, said before money is spent."""

from __future__ import annotations

import math
from statistics import NormalDist

_NORMAL = NormalDist()


def smallest_significant_gain(clusters: int, tries: int = 1, alpha: float = 0.05) -> int | None:
    """The smallest net gain in items, without a single loss and in as many clusters, that can be significant.

    n wins and no loss have the two-sided sign-flip p 2 / 2^n; with Bonferroni's worst case over `tries`. None where
    even a win in every cluster is not enough.
    """
    if tries < 1 or not 0 < alpha < 1:
        raise ValueError(f"tries must be at least 1 and alpha between 0 and 1 but got {tries} and {alpha}")
    needed = max(1, math.ceil(math.log2(2 * tries / alpha)))
    return needed if needed <= clusters else None


def detectable_gain(
    items: int, discordance: float, design_effect: float = 1.0, power: float = 0.8, alpha: float = 0.05, tries: int = 1
) -> float:
    """The true gain that a two-sided paired test finds with the given power (Connor 1987, normal approximation).

    Args:
        items: paired items.
        discordance: the share of items on which the two differ, in (0, 1].
        design_effect: variance inflation by clusters, 1 + (m - 1) * rho.
        power: the share of such tests that find it.
        alpha: of the family of all tries.
        tries: each is tested at alpha / tries.

    Returns:
        A difference in accuracy. It cannot exceed the discordance; where even that is not enough, NaN.
    """
    if items < 1 or not 0 < discordance <= 1:
        raise ValueError(f"items must be positive and discordance in (0, 1] but got {items} and {discordance}")
    if _shortfall(discordance, items, discordance, design_effect, power, alpha, tries) > 0:
        return math.nan
    low, high = 0.0, discordance
    for _ in range(60):
        middle = (low + high) / 2
        enough = _shortfall(middle, items, discordance, design_effect, power, alpha, tries) <= 0
        low, high = (low, middle) if enough else (middle, high)
    return high


def items_needed(
    gain: float, discordance: float, design_effect: float = 1.0, power: float = 0.8, alpha: float = 0.05, tries: int = 1
) -> int:
    """How many paired items a two-sided test needs to find a true gain with the given power (Connor 1987).

    Raises:
        ValueError: the gain is not in (0, discordance].
    """
    if not 0 < gain <= discordance <= 1:
        raise ValueError(f"gain must be positive and no more than the discordance {discordance} but got {gain}")
    z_alpha, z_power = _NORMAL.inv_cdf(1 - alpha / tries / 2), _NORMAL.inv_cdf(power)
    numerator = z_alpha * math.sqrt(discordance) + z_power * math.sqrt(discordance - gain * gain)
    return math.ceil((numerator / gain) ** 2 * design_effect)


def _shortfall(
    gain: float, items: int, discordance: float, design_effect: float, power: float, alpha: float, tries: int
) -> float:
    z_alpha, z_power = _NORMAL.inv_cdf(1 - alpha / tries / 2), _NORMAL.inv_cdf(power)
    spread = math.sqrt(max(discordance - gain * gain, 0.0))
    return z_alpha * math.sqrt(discordance) + z_power * spread - gain * math.sqrt(items / design_effect)

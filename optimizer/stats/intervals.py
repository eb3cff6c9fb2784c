"""Intervals of a single proportion."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson_interval(right: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a proportion (Wilson 1927); NaN, NaN without trials.

    Raises:
        ValueError: right is not within 0..total.
    """
    if not 0 <= right <= total:
        raise ValueError(f"right must be between 0 and {total} but got {right}")
    if total == 0:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, spread = right / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return max(0.0, centre - half), min(1.0, centre + half)

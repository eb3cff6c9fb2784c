"""Do two judges fail together? Figures on their error indicators, which say different things at different margins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class ErrorAgreement:
    """Two judges' errors on the same items.

    `phi` is the Matthews correlation of the error indicators, NaN where one judge is always or never wrong; `phi_limit` the
    largest that their error rates allow. `kappa` is chance-corrected agreement. `double_fault` is the share of items on
    which both are wrong, `lift` that share over the product of the error rates (1 if independent).
    """

    items: int
    phi: float
    phi_limit: float
    kappa: float
    double_fault: float
    lift: float


def error_agreement(first: Sequence[float], second: Sequence[float]) -> ErrorAgreement:
    """Compare two judges' error indicators (1 wrong, 0 right), shape (items,) each.

    Raises:
        ValueError: the lengths differ, there are none, or a value is neither 0 nor 1.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if len(a) != len(b) or len(a) == 0:
        raise ValueError(f"both judges need errors on the same items but have {len(a)} and {len(b)}")
    if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
        raise ValueError("errors must be 0 or 1")
    p, q, both = float(a.mean()), float(b.mean()), float((a * b).mean())
    spread = math.sqrt(p * (1 - p) * q * (1 - q))
    phi = (both - p * q) / spread if spread else math.nan
    low = min(p, q)
    limit = (low - p * q) / spread if spread else math.nan
    agreed, expected = float((a == b).mean()), p * q + (1 - p) * (1 - q)
    kappa = (agreed - expected) / (1 - expected) if expected < 1 else math.nan
    return ErrorAgreement(len(a), phi, limit, kappa, both, both / (p * q) if p * q else math.nan)

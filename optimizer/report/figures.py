"""How figures are written in every table: shares in per cent, intervals, differences in points, p-values. A dash is no figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optimizer.stats.accuracy import Accuracy

DASH = "–"


def percent(value: float | None) -> str:
    """A share in per cent: `75.0 %`."""
    return DASH if value is None or value != value else f"{100 * value:.1f} %"


def interval(low: float, high: float) -> str:
    """An interval of a share: `64–85 %`."""
    return DASH if low != low else f"{100 * low:.0f}–{100 * high:.0f} %"


def with_interval(accuracy: Accuracy) -> str:
    """An accuracy in per cent with its interval: `75.0 (64–85)`."""
    if not accuracy.items:
        return DASH
    return f"{100 * accuracy.value:.1f} ({100 * accuracy.low:.0f}–{100 * accuracy.high:.0f})"


def points(value: float, low: float, high: float, decimals: int = 0) -> str:
    """A difference of shares in points with its interval, where it has one: `-3.1 (-8 to +2)`."""
    if value != value:
        return DASH
    found = f"{100 * value:+.1f}"
    return found if low != low else f"{found} ({100 * low:+.{decimals}f} to {100 * high:+.{decimals}f})"


def probability(p: float) -> str:
    """A p-value with three digits, short: `.016`, `1`."""
    return "1" if p > 0.9995 else f"{p:.3f}".lstrip("0")

"""Signal detection: did a prompt move the threshold, or does the judge see better?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Detection:
    """`sensitivity` is d' = z(H) - z(F); `criterion` is c = -(z(H) + z(F)) / 2, positive for a judge that says no more often.

    H is the share of grounded claims called grounded, F that of not grounded ones.
    """

    sensitivity: float
    criterion: float


def detection(hits: float, positives: int, false_alarms: float, negatives: int) -> Detection:
    """d' and criterion with the log-linear correction, (k + .5) / (n + 1) (Hautus 1995), finite at 0 and 1 too.

    Args:
        hits, positives: grounded claims called grounded, out of so many.
        false_alarms, negatives: not grounded claims called grounded, out of so many.

    Raises:
        ValueError: a count is outside its range.
    """
    if not 0 <= hits <= positives or not 0 <= false_alarms <= negatives:
        raise ValueError(f"counts must fit: {hits} hits of {positives}, {false_alarms} false alarms of {negatives}")
    z_hit = _NORMAL.inv_cdf((hits + 0.5) / (positives + 1))
    z_false = _NORMAL.inv_cdf((false_alarms + 0.5) / (negatives + 1))
    return Detection(z_hit - z_false, -(z_hit + z_false) / 2)

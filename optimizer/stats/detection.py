"""Signal detection: did a prompt move the threshold, or does the judge see better?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.stats.bootstrap import RESAMPLES, Estimate, clustered_estimates
from optimizer.stats.clusters import Floats


@dataclass(frozen=True, slots=True)
class Detection:
    """`sensitivity` is d' = z(H) - z(F); `criterion` is c = -(z(H) + z(F)) / 2, positive for a judge that says no more often.

    H is the share of grounded claims called grounded, F that of not grounded ones.
    """

    sensitivity: float
    criterion: float


def detection(hits: float, positives: int, false_alarms: float, negatives: int) -> Detection:
    """d' and criterion with the log-linear correction, (k + .5) / (n + 1) (Hautus 1995), finite at 0 and 1 too.

    NaN where a class has no claim.

    Args:
        hits, positives: grounded claims called grounded, out of so many.
        false_alarms, negatives: not grounded claims called grounded, out of so many.

    Raises:
        ValueError: a count is outside its range.
    """
    if not 0 <= hits <= positives or not 0 <= false_alarms <= negatives:
        raise ValueError(f"counts must fit: {hits} hits of {positives}, {false_alarms} false alarms of {negatives}")
    sensitivity, criterion = _figures(np.array([[hits, positives, false_alarms, negatives]], dtype=float))[0]
    return Detection(float(sensitivity), float(criterion))


@dataclass(frozen=True, slots=True)
class DetectionEstimates:
    """d' and criterion of one judge, or their differences between two, with 95 % cluster bootstrap intervals."""

    sensitivity: Estimate
    criterion: Estimate


def detection_estimates(
    said: Sequence[float], grounded: Sequence[bool], clusters: Sequence[str], seed: int = 0, resamples: int = RESAMPLES
) -> DetectionEstimates:
    """The same over clustered items; undefined where one of the classes has no item.

    Args:
        said: whether each claim was called grounded (1 or 0, or the share of the repeats), shape (items,).
        grounded: whether it is.
        clusters: the cluster of each.
        seed: of the draws.
        resamples: how many.
    """
    columns = _columns(said, grounded)
    sensitivity, criterion = clustered_estimates(columns, clusters, _figures, resamples, seed)
    return DetectionEstimates(sensitivity, criterion)


def detection_differences(
    baseline: Sequence[float], challenger: Sequence[float], grounded: Sequence[bool], clusters: Sequence[str], seed: int = 0
) -> DetectionEstimates:
    """Challenger minus baseline on the same items, as detection_estimates; both share the resamples."""
    columns = np.hstack([_columns(baseline, grounded), _columns(challenger, grounded)])
    sensitivity, criterion = clustered_estimates(
        columns, clusters, lambda totals: _figures(totals[:, 4:]) - _figures(totals[:, :4]), seed=seed
    )
    return DetectionEstimates(sensitivity, criterion)


def _columns(said: Sequence[float], grounded: Sequence[bool]) -> Floats:
    """Hits, positives, false alarms and negatives of each item."""
    values, truth = np.asarray(said, dtype=float), np.asarray(grounded, dtype=float)
    if len(values) != len(truth):
        raise ValueError(f"{len(values)} answers but {len(truth)} truths")
    return np.column_stack([values * truth, truth, values * (1 - truth), 1 - truth])


def _figures(totals: Floats) -> Floats:
    from scipy.special import ndtri

    hits, positives, false_alarms, negatives = totals.T
    z_hit, z_false = ndtri((hits + 0.5) / (positives + 1)), ndtri((false_alarms + 0.5) / (negatives + 1))
    figures: Floats = np.column_stack([z_hit - z_false, -(z_hit + z_false) / 2])
    figures[(positives == 0) | (negatives == 0)] = np.nan
    return figures

"""Selective accuracy: how right a judge is on the share of items that it is surest of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optimizer.stats.clusters import Floats


@dataclass(frozen=True, slots=True)
class SelectiveCurve:
    """Accuracy on the surest items, at rising coverage up to all of them.

    `coverage` and `accuracy` have a point for each distinct score. `aurc` is the area under the risk-coverage curve: the mean
    of the error rate over all numbers of items that could be covered, ties in random order (Geifman and El-Yaniv 2017).
    Smaller is better.
    """

    coverage: tuple[float, ...]
    accuracy: tuple[float, ...]
    aurc: float

    def accuracy_at(self, coverage: float) -> float:
        """The expected accuracy on the surest `coverage` of the items, which may end within a tie; NaN without items."""
        if not self.coverage:
            return float("nan")
        right = np.multiply(self.coverage, self.accuracy)
        return float(np.interp(coverage, (0.0, *self.coverage), (0.0, *right)) / coverage) if coverage > 0 else self.accuracy[0]


def selective_curve(scores: Floats, right: Floats) -> SelectiveCurve:
    """The curve of a judge.

    Args:
        scores: how sure it is of each item, shape (items,); -inf where it decides nothing, which is covered last.
        right: 1 where it is right, 0 where not, the same shape.

    Raises:
        ValueError: the lengths differ, or a score is NaN.
    """
    if len(scores) != len(right) or np.isnan(scores).any():
        raise ValueError(
            f"every item needs a score and an outcome, but there are {len(scores)} and {len(right)}, or a score is NaN"
        )
    if not len(scores):
        return SelectiveCurve((), (), float("nan"))
    _, places, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(sizes)
    wrong = np.cumsum(np.bincount(places, weights=1 - right))
    # Within a tie the expected number of errors grows evenly.
    covered = np.arange(1, len(scores) + 1)
    expected = np.interp(covered, [0, *ends], [0, *wrong])
    return SelectiveCurve(
        tuple((ends / len(scores)).tolist()), tuple((1 - wrong / ends).tolist()), float((expected / covered).mean())
    )

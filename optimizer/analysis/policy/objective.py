"""What a policy is tuned for: accuracy, balanced accuracy, or the cost of wrong and missing decisions by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optimizer.debate.policy import Floats, Votes
from optimizer.errors import UsageError

# Columns of a count: for grounded claims, then for not grounded ones, how many were right, wrong, and not decided.
OUTCOMES = 6
Name = Literal["accuracy", "balanced", "cost"]


@dataclass(frozen=True, slots=True)
class Costs:
    """What an error costs by the claim's true label; a right decision costs nothing."""

    wrong_grounded: float = 1.0
    wrong_not_grounded: float = 1.0
    abstained_grounded: float = 1.0
    abstained_not_grounded: float = 1.0

    def __post_init__(self) -> None:
        values = (self.wrong_grounded, self.wrong_not_grounded, self.abstained_grounded, self.abstained_not_grounded)
        if not all(np.isfinite(values)) or min(values) < 0 or max(values) == 0:
            raise UsageError(f"costs must be numbers from 0 on, not all 0, but are {', '.join(f'{value:g}' for value in values)}")


@dataclass(frozen=True, slots=True)
class Objective:
    """Counts as one number, the larger the better: a share of right decisions, or the mean cost with a minus."""

    name: Name = "accuracy"
    costs: Costs = Costs()

    def value(self, counts: Floats) -> Floats:
        """The value of counts of shape (..., OUTCOMES); NaN where there is nothing to count."""
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.name == "balanced":
                sizes = counts.reshape(*counts.shape[:-1], 2, 3).sum(axis=-1)
                recalls = np.stack([counts[..., 0] / sizes[..., 0], counts[..., 3] / sizes[..., 1]], axis=-1)
                # A label that does not occur says nothing about recall.
                present = sizes > 0
                total: Floats = np.where(present, recalls, 0.0).sum(axis=-1) / present.sum(axis=-1)
                return total
            found: Floats = counts @ self._weights() / counts.sum(axis=-1)
            return found

    def of_rows(self, labels: Votes, decisions: Votes, weights: Floats) -> Floats:
        """The value of each row, such that their weighted mean is `value` of all; the label shares are taken as they are."""
        outcome = outcomes(labels, decisions)
        if self.name != "balanced":
            return self._weights()[outcome]
        sizes = np.array([weights[labels == label].sum() for label in (1, -1)])
        present = np.count_nonzero(sizes)
        share = np.where(sizes > 0, weights.sum() / (present * np.where(sizes > 0, sizes, 1.0)), 0.0)
        return np.where(decisions == labels, share[(labels < 0).astype(int)], 0.0)

    def _weights(self) -> Floats:
        if self.name == "cost":
            costs = self.costs
            return -np.array(
                [0, costs.wrong_grounded, costs.abstained_grounded, 0, costs.wrong_not_grounded, costs.abstained_not_grounded]
            )
        return np.array([1.0, 0, 0, 1.0, 0, 0])


def outcomes(labels: Votes, decisions: Votes) -> NDArray[np.intp]:
    """Which column of a count each row belongs to, shape (rows,)."""
    found: NDArray[np.intp] = 3 * (labels < 0) + (decisions == -labels) + 2 * (decisions == 0)
    return found

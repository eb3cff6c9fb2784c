"""Linear regression with cluster-robust errors: of an error of 0 or 1 it is the linear probability model, read in points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

_NORMAL = NormalDist()
_ROUNDING, _ROUNDING_OF_ERRORS = 1e-10, 1e-7  # an error is the root of a sum that is rounded


@dataclass(frozen=True, slots=True)
class Coefficient:
    """What one more of a column adds to the outcome, with its robust error, 95 % interval and two-sided normal p."""

    name: str
    value: float
    error: float
    low: float
    high: float
    p: float


def linear_regression(
    outcome: Sequence[float], columns: Mapping[str, Sequence[float]], clusters: Sequence[str]
) -> list[Coefficient]:
    """Least squares with an intercept, errors clustered (Liang and Zeger 1986) with the factor G/(G-1) · (n-1)/(n-k).

    Args:
        outcome: shape (n,).
        columns: name -> values, shape (n,) each; the intercept is added.
        clusters: of each row, shape (n,).

    Returns:
        The columns' coefficients in their order, the intercept first.

    Raises:
        ValueError: a column is no longer or shorter, says nothing that the others do not, or rows or clusters are too few.
    """
    y = np.asarray(outcome, dtype=float)
    names = ["intercept", *columns]
    for name, values in columns.items():
        if len(values) != len(y):
            raise ValueError(f"column {name!r} has {len(values)} values but the outcome has {len(y)}")
    x = np.column_stack([np.ones(len(y)), *(np.asarray(values, dtype=float) for values in columns.values())])
    groups = sorted(set(clusters))
    if len(groups) < 2 or len(y) <= len(names):
        raise ValueError(f"{len(y)} rows in {len(groups)} clusters are too few for {len(names)} coefficients")
    if np.linalg.matrix_rank(x) < len(names):
        raise ValueError(f"the columns {', '.join(columns)} say the same thing twice, or one of them never changes")
    bread = np.linalg.inv(x.T @ x)
    found = bread @ x.T @ y
    scores = x * (y - x @ found)[:, None]
    place = {name: index for index, name in enumerate(groups)}
    summed = np.zeros((len(groups), len(names)))
    np.add.at(summed, [place[cluster] for cluster in clusters], scores)
    factor = len(groups) / (len(groups) - 1) * (len(y) - 1) / (len(y) - len(names))
    errors = np.sqrt(np.clip(np.diag(factor * bread @ (summed.T @ summed) @ bread), 0.0, None))
    # What is left of an exact zero by rounding is no effect, however small its error.
    scale = np.abs(y).max(initial=0.0) / np.abs(x).max(axis=0)
    found = np.where(np.abs(found) < _ROUNDING * scale, 0.0, found)
    errors = np.where(errors < _ROUNDING_OF_ERRORS * scale, 0.0, errors)
    return [_coefficient(name, float(value), float(error)) for name, value, error in zip(names, found, errors, strict=True)]


def _coefficient(name: str, value: float, error: float) -> Coefficient:
    reach = _NORMAL.inv_cdf(0.975) * error
    p = 2 * (1 - _NORMAL.cdf(abs(value) / error)) if error else float(value == 0)
    return Coefficient(name, value, error, value - reach, value + reach, p)

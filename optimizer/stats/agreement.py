"""Do judges fail together? Figures on their error indicators, which say different things at different margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from optimizer.stats.bootstrap import RESAMPLES, Estimate, clustered_estimates
from optimizer.stats.clusters import Floats


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


@dataclass(frozen=True, slots=True)
class AgreementEstimates:
    """The same with 95 % cluster bootstrap intervals; the limit of phi has none, since it is a bound on it."""

    items: int
    phi: Estimate
    phi_limit: float
    kappa: Estimate
    double_fault: Estimate
    lift: Estimate


def error_agreement(first: Sequence[float], second: Sequence[float]) -> ErrorAgreement:
    """Compare two judges' error indicators (1 wrong, 0 right), shape (items,) each.

    Raises:
        ValueError: the lengths differ, there are none, or a value is neither 0 nor 1.
    """
    errors = _checked([first, second])
    phi, limit, kappa, both, lift = (float(value) for value in _figures(_columns(errors).sum(axis=0)[None, :])[0])
    return ErrorAgreement(len(errors), phi, limit, kappa, both, lift)


def agreement_estimates(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[str], seed: int = 0, resamples: int = RESAMPLES
) -> AgreementEstimates:
    """The same, with intervals from drawing whole clusters.

    Args:
        first, second: error indicators, shape (items,) each.
        clusters: the cluster of each item.
        seed: of the draws.
        resamples: how many.

    Raises:
        ValueError: as error_agreement, or the clusters do not fit.
    """
    errors = _checked([first, second])
    phi, limit, kappa, both, lift = clustered_estimates(_columns(errors), clusters, _figures, resamples, seed)
    return AgreementEstimates(len(errors), phi, limit.value, kappa, both, lift)


def mean_phi(judges: Sequence[Sequence[float]], clusters: Sequence[str], seed: int = 0) -> Estimate:
    """The mean of phi over all pairs of judges for which it is defined; NaN where it is for none.

    Args:
        judges: the error indicators of each judge, shape (judges, items).
        clusters: the cluster of each item.
        seed: of the draws.
    """
    errors = _checked(judges)
    count = errors.shape[1]
    return clustered_estimates(_columns(errors), clusters, lambda totals: _mean_phi(totals, count)[:, None], seed=seed)[0]


def mean_phi_difference(
    baseline: Sequence[Sequence[float]], challenger: Sequence[Sequence[float]], clusters: Sequence[str], seed: int = 0
) -> Estimate:
    """Mean phi of one panel less that of another on the same items, with an interval in which both share the resamples."""
    first, second = _checked(baseline), _checked(challenger)
    if len(first) != len(second):
        raise ValueError(f"both panels need errors on the same items but have {len(first)} and {len(second)}")
    a, b = _columns(first), _columns(second)

    def difference(totals: Floats) -> Floats:
        left, right = totals[:, : a.shape[1]], totals[:, a.shape[1] :]
        return (_mean_phi(right, second.shape[1]) - _mean_phi(left, first.shape[1]))[:, None]

    return clustered_estimates(np.hstack([a, b]), clusters, difference, seed=seed)[0]


def _checked(judges: Sequence[Sequence[float]]) -> Floats:
    """The error indicators, shape (items, judges)."""
    lengths = [len(each) for each in judges]
    if len(set(lengths)) > 1 or not lengths or lengths[0] == 0:
        raise ValueError(f"judges need errors on the same items but have {' and '.join(map(str, lengths))}")
    errors = np.asarray(judges, dtype=float).T
    if not np.isin(errors, (0, 1)).all():
        raise ValueError("errors must be 0 or 1")
    return errors


def _columns(errors: Floats) -> Floats:
    """One, each judge's error, and the product of each pair's, an item: their totals hold all that phi needs."""
    pairs = [errors[:, a] * errors[:, b] for a, b in combinations(range(errors.shape[1]), 2)]
    return np.column_stack([np.ones(len(errors)), errors, *pairs])


def _mean_phi(totals: Floats, judges: int) -> Floats:
    pairs = list(combinations(range(judges), 2))
    if not pairs:
        return np.full(len(totals), np.nan)
    each = np.column_stack(
        [_figures(totals[:, [0, 1 + a, 1 + b, 1 + judges + place]])[:, 0] for place, (a, b) in enumerate(pairs)]
    )
    defined = np.isfinite(each)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(defined, each, 0.0).sum(axis=1) / defined.sum(axis=1)
    return mean


def _figures(totals: Floats) -> Floats:
    """phi, its limit, kappa, double fault and lift from items, errors of both and joint errors; shapes (rows, 4), (rows, 5)."""
    items, first, second, joint = totals.T
    with np.errstate(invalid="ignore", divide="ignore"):
        p, q, both = first / items, second / items, joint / items
        spread = np.sqrt(p * (1 - p) * q * (1 - q))
        # A judge that is always or never wrong has no spread; rounding must not give it one.
        spread = np.where((first % items == 0) | (second % items == 0), np.nan, spread)
        phi, limit = (both - p * q) / spread, (np.minimum(p, q) - p * q) / spread
        expected = p * q + (1 - p) * (1 - q)
        kappa = np.where(expected < 1, (1 - p - q + 2 * both - expected) / (1 - expected), np.nan)
        lift = np.where(p * q > 0, both / (p * q), np.nan)
    return np.column_stack([phi, limit, kappa, both, lift])

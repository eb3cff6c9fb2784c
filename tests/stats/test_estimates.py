"""Figures with cluster bootstrap intervals: the value against scikit-learn and scipy, the interval against exact enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import norm, pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef, roc_auc_score

from optimizer.stats.agreement import agreement_estimates, error_agreement, mean_phi, mean_phi_difference
from optimizer.stats.bootstrap import Estimate, mean_estimate
from optimizer.stats.calibration import auroc_estimate
from optimizer.stats.correlation import pearson_estimate, spearman
from optimizer.stats.detection import detection_differences, detection_estimates

CLUSTERS = [f"c{n // 3}" for n in range(12)]  # four clusters of three: their 256 resamples can be enumerated
Values = np.ndarray


def enumerated(figure: Callable[[Values], float]) -> Values:
    """The figure in every possible resample of the four clusters; undefined ones are left out."""
    rows = [np.arange(3 * k, 3 * k + 3) for k in range(4)]
    values = np.array([figure(np.concatenate([rows[k] for k in drawn])) for drawn in product(range(4), repeat=4)])
    return values[np.isfinite(values)]


def same(found: Estimate, value: float, values: Values) -> None:
    """The value is right, and 2.5 % of all resamples lie on either side of the interval, up to the noise of 10,000 draws."""
    assert found.value == pytest.approx(value)
    for end, tail in ((found.low, 0.025), (found.high, 0.975)):
        assert np.mean(values < end - 1e-9) - 0.008 <= tail <= np.mean(values <= end + 1e-9) + 0.008


def quietly(figure: Callable[..., float], *columns: Sequence[float]) -> Callable[[Values], float]:
    def at(rows: Values) -> float:
        chosen = [np.asarray(column)[rows] for column in columns]
        constant = any(len(set(column.tolist())) < 2 for column in chosen)
        return math.nan if constant else float(figure(*chosen))

    return at


@pytest.mark.parametrize("seed", range(3))
def test_phi_kappa_and_double_fault_have_the_intervals_of_all_resamples(seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = generator.integers(0, 2, 12), generator.integers(0, 2, 12)
    found = agreement_estimates(a, b, CLUSTERS)
    same(found.phi, matthews_corrcoef(a, b), enumerated(quietly(matthews_corrcoef, a, b)))
    same(found.kappa, cohen_kappa_score(a, b), enumerated(quietly(cohen_kappa_score, a, b)))
    same(found.double_fault, float(np.mean(a & b)), enumerated(lambda rows: float(np.mean((a & b)[rows]))))
    assert found.phi_limit == error_agreement(a, b).phi_limit
    lift = enumerated(quietly(lambda x, y: np.mean(x & y) / (x.mean() * y.mean()), a, b))
    same(found.lift, float(np.mean(a & b) / (a.mean() * b.mean())), lift)


def test_mean_phi_is_the_mean_over_the_pairs_for_which_it_is_defined() -> None:
    generator = np.random.default_rng(4)
    judges = generator.integers(0, 2, (3, 40))
    clusters = [f"c{n // 2}" for n in range(40)]
    pairs = [matthews_corrcoef(judges[a], judges[b]) for a, b in combinations(range(3), 2)]
    assert mean_phi(judges, clusters).value == pytest.approx(np.mean(pairs))
    never_wrong = [*judges, np.zeros(40)]
    assert mean_phi(never_wrong, clusters).value == pytest.approx(np.mean(pairs))
    assert math.isnan(mean_phi([judges[0]], clusters).value)
    assert math.isnan(mean_phi(np.zeros((2, 40)), clusters).low)


def test_a_panel_minus_itself_has_no_difference_in_phi_and_one_of_copies_has_the_largest() -> None:
    generator = np.random.default_rng(5)
    apart = generator.integers(0, 2, (3, 60))
    copies = np.array([apart[0]] * 3)
    clusters = [f"c{n // 2}" for n in range(60)]
    assert mean_phi_difference(apart, apart, clusters) == Estimate(0.0, 0.0, 0.0)
    found = mean_phi_difference(apart, copies, clusters)
    assert found.value == pytest.approx(1 - mean_phi(apart, clusters).value)
    assert found.low > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_auroc_and_its_interval_are_those_of_scikit_learn_over_all_resamples(seed: int) -> None:
    generator = np.random.default_rng(seed)
    scores, right = np.round(generator.random(12), 1), np.tile([True, False, True], 4)
    found = auroc_estimate(scores, right, CLUSTERS)
    area = enumerated(lambda rows: float(roc_auc_score(right[rows], scores[rows])))
    same(found, float(roc_auc_score(right, scores)), area)


def test_auroc_of_one_class_or_of_nothing_is_undefined_with_no_interval() -> None:
    for scores, right in (([0.2, 0.9], [True, True]), ([], [])):
        assert all(math.isnan(value) for value in astuple(auroc_estimate(scores, right, ["a", "b"][: len(scores)])))


@pytest.mark.parametrize("seed", range(3))
def test_correlations_are_those_of_scipy(seed: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.normal(size=12)
    y = x + generator.normal(size=12)
    found = pearson_estimate(1e6 + x, y, CLUSTERS)
    same(found, float(pearsonr(x, y).statistic), enumerated(lambda rows: float(np.corrcoef(x[rows], y[rows])[0, 1])))
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_a_constant_has_no_correlation() -> None:
    assert math.isnan(pearson_estimate([90.1] * 5, [1, 2, 3, 4, 5], ["a", "b", "c", "d", "e"]).value)
    assert math.isnan(spearman([90, 90], [1, 2]))
    assert math.isnan(pearson_estimate([], [], []).value)


def test_detection_over_clusters_is_by_the_corrected_rates_and_their_resamples() -> None:
    grounded = np.tile([True, False, True], 4)
    said = np.random.default_rng(1).integers(0, 2, 12)

    def sensitivity(rows: Values) -> float:
        hit, false = (
            norm.ppf((said[rows][grounded[rows] == truth].sum() + 0.5) / ((grounded[rows] == truth).sum() + 1))
            for truth in (True, False)
        )
        return float(hit - false)

    found = detection_estimates(said, grounded, CLUSTERS)
    same(found.sensitivity, sensitivity(np.arange(12)), enumerated(sensitivity))
    nothing = detection_differences(said, said, grounded, CLUSTERS)
    assert nothing.sensitivity == Estimate(0.0, 0.0, 0.0)
    assert math.isnan(detection_estimates([1, 0], [True, True], ["a", "b"]).criterion.value)


def test_the_interval_of_a_mean_is_that_of_all_resamples() -> None:
    values = np.random.default_rng(2).random(12)
    same(mean_estimate(values, CLUSTERS), float(values.mean()), enumerated(lambda rows: float(values[rows].mean())))
    assert math.isnan(mean_estimate([], []).value)
    with pytest.raises(ValueError, match="2 rows but 1 clusters"):
        mean_estimate([1, 2], ["a"])

"""Agreement of errors, calibration, signal detection: against scikit-learn and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, cohen_kappa_score, matthews_corrcoef, roc_auc_score

from optimizer.stats.agreement import error_agreement
from optimizer.stats.calibration import auroc, brier, calibration
from optimizer.stats.detection import detection


@pytest.mark.parametrize("seed", range(5))
def test_phi_and_kappa_are_those_of_scikit_learn(seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = generator.integers(0, 2, 60), generator.integers(0, 2, 60)
    found = error_agreement(a, b)
    assert found.phi == pytest.approx(matthews_corrcoef(a, b))
    assert found.kappa == pytest.approx(cohen_kappa_score(a, b))
    assert found.double_fault == pytest.approx(np.mean(a & b))
    assert found.lift == pytest.approx(np.mean(a & b) / (a.mean() * b.mean()))


def test_phi_of_a_constant_judge_is_undefined_and_its_limit_is_reached_by_nested_errors() -> None:
    assert math.isnan(error_agreement([0, 0, 0], [0, 1, 0]).phi)
    nested = error_agreement([1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0])
    assert nested.phi == pytest.approx(nested.phi_limit)
    assert nested.phi < 1
    same = error_agreement([1, 0, 1], [1, 0, 1])
    assert (same.phi, same.kappa) == (pytest.approx(1), pytest.approx(1))


def test_errors_must_fit() -> None:
    with pytest.raises(ValueError, match="2 and 1"):
        error_agreement([0, 1], [1])
    with pytest.raises(ValueError, match="0 or 1"):
        error_agreement([0.5], [1])


@pytest.mark.parametrize("seed", range(5))
def test_auroc_and_brier_are_those_of_scikit_learn_with_ties(seed: int) -> None:
    generator = np.random.default_rng(seed)
    scores = np.round(generator.random(80), 1)
    right = generator.integers(0, 2, 80)
    assert auroc(scores, right) == pytest.approx(roc_auc_score(right, scores))
    assert brier(scores, right) == pytest.approx(brier_score_loss(right, scores))


def test_auroc_with_one_class_is_undefined() -> None:
    assert math.isnan(auroc([0.1, 0.9], [True, True]))
    assert math.isnan(auroc([], []))
    assert auroc([0.5, 0.5], [True, False]) == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_the_reliability_curve_is_that_of_scikit_learn(seed: int) -> None:
    generator = np.random.default_rng(seed)
    confidence, right = generator.random(200), generator.integers(0, 2, 200)
    shares, means = calibration_curve(right, confidence, n_bins=10)
    found = calibration(confidence, right)
    assert [each.right for each in found.bins] == pytest.approx(list(shares))
    assert [each.confidence for each in found.bins] == pytest.approx(list(means))
    gaps = np.abs(shares - means)
    weights = np.histogram(confidence, np.linspace(0, 1, 11))[0] / 200
    assert found.ece == pytest.approx(float(gaps @ weights))
    assert found.mce == pytest.approx(float(gaps.max()))


def test_bins_of_equal_mass_hold_equally_many() -> None:
    found = calibration(np.linspace(0.5, 1, 40), [1] * 40, bins=4, binning="mass")
    assert [each.answers for each in found.bins] == [10] * 4


def test_calibration_of_nothing_and_of_per_cents() -> None:
    assert math.isnan(calibration([], []).ece)
    with pytest.raises(ValueError, match="divide per cents by 100"):
        calibration([85], [1])


def test_a_judge_that_moves_only_its_threshold_keeps_its_sensitivity() -> None:
    positives = negatives = 100_000
    strict, lenient = (detection(positives * norm.sf(c - 1), positives, negatives * norm.sf(c), negatives) for c in (1.0, 0.0))
    assert strict.sensitivity == pytest.approx(lenient.sensitivity, abs=1e-3) == pytest.approx(1.0, abs=1e-3)
    assert strict.criterion == pytest.approx(0.5, abs=1e-3)
    assert lenient.criterion == pytest.approx(-0.5, abs=1e-3)


def test_perfect_rates_stay_finite_and_bad_counts_are_refused() -> None:
    assert math.isfinite(detection(10, 10, 0, 10).sensitivity)
    with pytest.raises(ValueError, match="11 hits of 10"):
        detection(11, 10, 0, 10)

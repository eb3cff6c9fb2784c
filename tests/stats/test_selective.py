"""Selective accuracy against every order of ties, and the reselected gain against draws that are made one by one."""

from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
import pytest

from optimizer.stats.clusters import ClusterSums
from optimizer.stats.paired import sign_flip_test
from optimizer.stats.reselection import reselected_gain
from optimizer.stats.selective import selective_curve


def test_the_area_is_the_mean_over_all_orders_that_ties_could_have() -> None:
    scores, right = np.array([0.9, 0.5, 0.5, 0.5, 0.1, -np.inf]), np.array([1, 0, 1, 1, 0, 0.0])
    areas = []
    for order in permutations(range(6)):
        if all(scores[a] >= scores[b] for a, b in pairwise(order)):
            wrong = np.cumsum(1 - right[list(order)])
            areas.append(float((wrong / np.arange(1, 7)).mean()))
    found = selective_curve(scores, right)
    assert len(areas) == 6
    assert found.aurc == pytest.approx(np.mean(areas))
    assert found.coverage == pytest.approx((1 / 6, 4 / 6, 5 / 6, 1))
    assert found.accuracy == pytest.approx((1, 3 / 4, 3 / 5, 1 / 2))


def test_accuracy_within_a_tie_is_the_expected_one() -> None:
    found = selective_curve(np.array([1.0, 0.5, 0.5]), np.array([1.0, 1.0, 0.0]))
    assert found.accuracy_at(1 / 3) == pytest.approx(1)
    assert found.accuracy_at(2 / 3) == pytest.approx(1.5 / 2)
    assert found.accuracy_at(1) == pytest.approx(2 / 3)


def test_a_score_that_knows_nothing_has_the_error_rate_as_its_area() -> None:
    assert selective_curve(np.zeros(10), np.repeat([1.0, 0.0], [7, 3])).aurc == pytest.approx(0.3)


def test_scores_that_are_missing_are_refused() -> None:
    with pytest.raises(ValueError, match="a score is NaN"):
        selective_curve(np.array([np.nan]), np.array([1.0]))


def t_of(values: np.ndarray) -> float:
    spread = (values**2).sum() - values.sum() ** 2 / len(values)
    return 0.0 if values.sum() == 0 else float(abs(values.sum()) / np.sqrt(spread)) if spread > 0 else np.inf


def test_p_is_the_share_of_all_sign_patterns_whose_reselected_gain_is_as_extreme() -> None:
    """Three folds and three choices in ten clusters: every one of the 1,024 patterns is worked through."""
    generator = np.random.default_rng(3)
    choices, folds = generator.integers(-2, 3, (10, 3)).astype(float), np.arange(10) % 3

    def chosen(table: np.ndarray) -> np.ndarray:
        gains = np.zeros(10)
        for fold in range(3):
            worth = np.append(0.0, table[folds != fold].sum(axis=0))
            best = int(worth.argmax())
            gains[folds == fold] = table[folds == fold, best - 1] if best else 0.0
        return gains

    gains = chosen(choices)
    observed = t_of(gains)
    extreme = [t_of(chosen(choices * np.array(signs)[:, None])) >= observed - 1e-9 for signs in product((-1, 1), repeat=10)]
    found = reselected_gain(ClusterSums(gains, np.ones(10)), choices, folds, flips=20_000)
    assert found.p == pytest.approx(np.mean(extreme), abs=0.015)
    assert found.gain == pytest.approx(gains.mean())


def test_with_one_choice_that_every_fold_takes_p_is_near_the_sign_flip_test() -> None:
    """A clear gain: what flips of signs alone would say, less what folds that stay with the baseline take away."""
    sums = np.array([1.0] * 14 + [-1.0] * 4 + [0.0] * 12)
    found = reselected_gain(ClusterSums(sums, np.ones(30)), sums[:, None], np.arange(30) % 5, flips=20_000)
    assert found.p <= sign_flip_test(sums) + 0.01
    assert found.low < found.gain < found.high


def test_nothing_chosen_is_no_gain_and_no_evidence() -> None:
    found = reselected_gain(ClusterSums(np.zeros(20), np.ones(20)), -np.ones((20, 2)), np.arange(20) % 5)
    assert (found.gain, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_too_few_clusters_have_no_interval() -> None:
    found = reselected_gain(ClusterSums(np.ones(4), np.ones(4)), np.ones((4, 1)), np.arange(4) % 2)
    assert np.isnan(found.low)
    assert found.p > 0.05


def test_clusters_must_be_the_same() -> None:
    with pytest.raises(ValueError, match="are of 2, 3 and 2 clusters"):
        reselected_gain(ClusterSums(np.zeros(2), np.ones(2)), np.zeros((3, 1)), np.zeros(2, dtype=int))

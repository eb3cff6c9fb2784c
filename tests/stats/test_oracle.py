"""The oracle's luck, its outlook, and the optimism of a selected score."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import betabinom

from optimizer.stats.oracle import BetaBinomial, chao2, fit_beta_binomial
from optimizer.stats.selection import selection_optimism


def test_the_oracle_of_a_beta_binomial_is_one_minus_the_chance_of_no_hit() -> None:
    for a, b, runs in ((0.5, 0.5, 8), (2.0, 1.0, 3), (5.0, 5.0, 1)):
        assert BetaBinomial(a, b).oracle(runs) == pytest.approx(1 - betabinom.pmf(0, runs, a, b))


def test_the_fit_finds_the_items_spread_again() -> None:
    generator = np.random.default_rng(0)
    chances = generator.beta(0.6, 0.4, size=4_000)
    found = fit_beta_binomial(generator.binomial(4, chances), [4] * 4_000)
    assert found.mean == pytest.approx(0.6, abs=0.02)
    assert found.alpha == pytest.approx(0.6, abs=0.06)
    truth = float(np.mean(1 - (1 - chances) ** 8))
    assert found.oracle(8) == pytest.approx(truth, abs=0.01)


@pytest.mark.parametrize(("right", "expected"), [([2, 2, 2], 1.0), ([0, 0, 0], 0.0)])
def test_a_candidate_that_is_always_or_never_right_has_no_luck(right: list[int], expected: float) -> None:
    assert fit_beta_binomial(right, [2, 2, 2]).oracle(8) == pytest.approx(expected, abs=1e-3)


def test_a_repeatable_candidate_gains_nothing_by_repeats() -> None:
    found = fit_beta_binomial([3] * 60 + [0] * 40, [3] * 100)
    assert found.oracle(8) == pytest.approx(0.6, abs=0.02)


def test_one_run_each_cannot_tell_luck_from_ability() -> None:
    with pytest.raises(ValueError, match="two runs"):
        fit_beta_binomial([1, 0], [1, 1])


def test_chao2_is_the_published_formula_and_capped() -> None:
    solved = [0] * 20 + [1] * 6 + [2] * 3 + [5] * 10
    found = chao2(solved, 8)
    assert (found.solved_once, found.solved_twice, found.always_wrong) == (6, 3, 20)
    assert found.solvable == pytest.approx(7 / 8 * 6 * 5 / (2 * 4))
    assert found.low <= found.solvable <= found.high <= 20
    chance = 6 / (6 + 8 * found.solvable)
    assert found.newly_solved(4) == pytest.approx(found.solvable * (1 - (1 - chance) ** 4))
    assert chao2([0, 1, 1, 1, 1, 1, 1, 1], 8).solvable == 1.0


def test_chao2_is_a_lower_bound_of_what_more_candidates_solve_and_no_wild_one() -> None:
    generator = np.random.default_rng(2)
    chances = generator.beta(0.4, 1.5, size=600)
    expected, truth = [], []
    for _ in range(40):
        right = generator.random((16, 600)) < chances
        expected.append(chao2(right[:8].sum(axis=0), 8).newly_solved(8))
        truth.append(int((right.any(axis=0) & ~right[:8].any(axis=0)).sum()))
    assert 0.6 * np.mean(truth) < np.mean(expected) < 1.02 * np.mean(truth)


def test_no_item_solved_once_leaves_nothing_to_expect() -> None:
    found = chao2([0, 2, 3], 4)
    assert (found.solvable, found.newly_solved(10)) == (0.0, 0.0)
    assert chao2([], 3).always_wrong == 0
    with pytest.raises(ValueError, match="between 0"):
        chao2([5], 4)


def test_the_optimism_is_what_the_best_of_equal_candidates_gains_by_luck() -> None:
    generator = np.random.default_rng(4)
    gains, corrections = [], []
    for _ in range(200):
        scores = (generator.random((40, 6)) < 0.6).astype(float)
        gains.append(scores.mean(axis=0).max() - 0.6)
        corrections.append(selection_optimism(scores, np.ones(40), resamples=200))
    assert np.mean(gains) > 0.05
    assert np.mean(corrections) == pytest.approx(np.mean(gains), abs=0.03)


def test_one_candidate_has_no_optimism() -> None:
    assert selection_optimism(np.ones((5, 1)), np.ones(5)) == 0.0
    assert not math.isnan(selection_optimism(np.zeros((5, 3)), np.ones(5)))

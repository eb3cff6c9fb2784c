"""The anytime-valid test: its wealth against an integral, and what it must never do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from optimizer.stats.anytime import anytime_difference, anytime_p, mixture_wealth, shuffled_clusters


@pytest.mark.parametrize(("rises", "falls"), [(0, 0), (1, 0), (0, 1), (5, 2), (2, 9), (30, 11)])
def test_the_wealth_is_the_integral_over_all_bets(rises: int, falls: int) -> None:
    expected, _ = integrate.quad(lambda q: 2 * (2 * q) ** rises * (2 * (1 - q)) ** falls, 0.5, 1.0)
    assert mixture_wealth(rises, falls) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("rises", "falls"), [(0, 0), (4, 1), (1, 6)])
def test_a_fair_coin_neither_raises_nor_lowers_the_wealth(rises: int, falls: int) -> None:
    after = (mixture_wealth(rises + 1, falls) + mixture_wealth(rises, falls + 1)) / 2
    assert after == pytest.approx(mixture_wealth(rises, falls))


def test_wins_in_a_row_reject_and_losses_never_do() -> None:
    assert anytime_p([1] * 9).p < 0.05 < anytime_p([1] * 4).p
    assert anytime_p([-1] * 200).p == 1.0
    assert anytime_p([0] * 50) == anytime_p([0] * 50)
    assert anytime_p([0] * 50).p == 1.0
    assert anytime_p([]).p == 1.0


def test_the_p_of_the_best_moment_is_kept() -> None:
    assert anytime_p([1] * 9 + [-1] * 9).p == anytime_p([1] * 9).p


def test_only_whole_clusters_are_bets() -> None:
    order = [("x", ["a", "b"]), ("y", ["c", "d"]), ("z", ["e"])]
    zero, one = dict.fromkeys("abcde", 0.0), {"a": 1.0, "b": 0.0, "c": 1.0, "e": 1.0}
    found = anytime_difference(zero, one, order)
    assert (found.clusters, found.rises, found.falls) == (1, 1, 0)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        mixture_wealth(-1, 0)


def test_the_order_of_clusters_depends_on_seed_and_salt_alone() -> None:
    names = [f"c{i}" for i in range(20)]
    assert shuffled_clusters(names, 1, "a") == shuffled_clusters(reversed(names), 1, "a")
    assert shuffled_clusters(names, 1, "a") != shuffled_clusters(names, 2, "a") != shuffled_clusters(names, 2, "b")


def test_false_alarms_stay_under_the_level_however_often_one_looks() -> None:
    generator = np.random.default_rng(0)
    ups = generator.integers(0, 2, size=(2_000, 50))
    alarms = sum(anytime_p(row * 2 - 1).p <= 0.05 for row in ups)
    assert alarms / 2_000 <= 0.05

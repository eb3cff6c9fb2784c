"""A small edition of the simulations of `make bench`: levels are kept within what so few replications can tell."""

from __future__ import annotations

import pytest

from tests.benchmarks import simulations
from tests.benchmarks.bench_figures import figure_coverage

# Three standard errors of a share of 5 % in so many replications.
REPLICATIONS, SLACK = 1_000, 3 * (0.05 * 0.95 / 1_000) ** 0.5


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("paired", [True, False])
def test_intervals_hold_the_truth_about_95_times_in_100(method: str, paired: bool) -> None:
    share = simulations.coverage(REPLICATIONS, method, paired, resamples=500).share
    assert 0.95 - 0.02 - SLACK <= share <= 0.95 + 0.02 + SLACK


def test_the_sign_flip_test_keeps_its_level_with_clusters() -> None:
    assert simulations.type_one(REPLICATIONS).share <= 0.05 + SLACK


def test_the_family_keeps_its_level_over_seven_correlated_candidates() -> None:
    for rate in simulations.family_wise(300, flips=500):
        assert rate.share <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5


def test_the_anytime_test_keeps_its_level_and_does_not_fall_for_worse_candidates() -> None:
    assert simulations.anytime(REPLICATIONS).share <= 0.05
    assert simulations.anytime(REPLICATIONS, rise=0.3).share <= 0.005


def test_the_intervals_of_the_mechanism_figures_hold_the_truth_about_95_times_in_100() -> None:
    for rate in figure_coverage(200, clusters=60, resamples=400):
        assert rate.share >= 0.93 - 3 * (0.07 * 0.93 / 200) ** 0.5, str(rate)

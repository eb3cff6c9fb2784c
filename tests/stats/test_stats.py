"""Every statistic against an independent library or an enumeration, on random and degenerate input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from optimizer.stats.bootstrap import cluster_bootstrap
from optimizer.stats.clusters import ClusterSums, cluster_sums
from optimizer.stats.intervals import wilson_interval
from optimizer.stats.multiplicity import holm
from optimizer.stats.paired import mcnemar_exact, paired_difference, sign_flip_test
from optimizer.stats.power import detectable_gain, smallest_significant_gain


@pytest.mark.parametrize("seed", range(8))
def test_sign_flip_p_is_that_of_scipys_exact_permutation_test(seed: int) -> None:
    sums = np.random.default_rng(seed).integers(-3, 4, size=9).astype(float)
    expected = scipy_stats.permutation_test(
        (sums,), lambda s, axis=-1: s.sum(axis=axis), permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert sign_flip_test(sums) == pytest.approx(min(1.0, float(expected.pvalue)))


@pytest.mark.parametrize("sums", [[0.5, -1.0, 0.25, 0.75, 1.5], [0.5] * 6, [1 / 3, 2 / 3, -1 / 3, 1.0, 5 / 3]])
def test_sign_flip_p_of_whole_parts_is_that_of_the_enumeration(sums: list[float]) -> None:
    flips = [
        abs(sum(sign * s for sign, s in zip(signs, sums, strict=True))) for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    exact = np.mean([flip >= abs(sum(sums)) - 1e-9 for flip in flips])
    assert sign_flip_test(np.array(sums)) == pytest.approx(exact)
    # Sums that are no whole parts of anything small: flips are drawn.
    assert sign_flip_test(np.array(sums) * math.pi) == pytest.approx(exact, abs=0.006)


def test_sign_flip_p_without_a_difference_is_one() -> None:
    assert sign_flip_test(np.zeros(5)) == 1.0
    assert sign_flip_test(np.array([])) == 1.0


def test_seven_wins_and_no_loss_in_120_items_has_the_published_p() -> None:
    assert sign_flip_test(np.array([1.0] * 7 + [0.0] * 113)) == pytest.approx(0.015625)
    assert sign_flip_test(np.array([1.0] * 8 + [-1.0])) > 0.015625


def test_bootstrap_interval_is_that_of_scipy() -> None:
    generator = np.random.default_rng(3)
    sizes = generator.integers(1, 5, size=40).astype(float)
    sums = np.array([generator.binomial(int(n), 0.6) for n in sizes], dtype=float)
    expected = scipy_stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis=-1: s.sum(axis) / n.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=20_000,
        random_state=1,
    ).confidence_interval
    low, high = cluster_bootstrap(ClusterSums(sums, sizes), resamples=20_000)
    assert low == pytest.approx(expected.low, abs=0.01)
    assert high == pytest.approx(expected.high, abs=0.01)


def test_bootstrap_of_degenerate_data() -> None:
    assert cluster_bootstrap(cluster_sums([1.0, 1.0], ["a", "b"])) == (1.0, 1.0)
    assert cluster_bootstrap(cluster_sums([1.0, 0.0], ["a", "a"])) == (0.5, 0.5)
    assert all(map(math.isnan, cluster_bootstrap(cluster_sums([], []))))


def test_clusters_and_values_must_match() -> None:
    with pytest.raises(ValueError, match="2 values but 1 clusters"):
        cluster_sums([1.0, 0.0], ["a"])


def test_paired_difference_joins_by_item_and_counts_what_is_missing() -> None:
    clusters = {"a": "x", "b": "x", "c": "y", "d": "z"}
    found = paired_difference({"a": 0.0, "b": 1.0, "c": 0.0}, {"a": 1.0, "b": 1.0, "d": 1.0}, clusters)
    assert (found.items, found.clusters, found.wins, found.losses, found.unpaired) == (2, 1, 1, 0, 2)
    assert found.difference == 0.5


@pytest.mark.parametrize(("wins", "losses"), [(7, 0), (9, 2), (3, 3), (0, 0)])
def test_mcnemar_is_the_exact_binomial_test(wins: int, losses: int) -> None:
    total = wins + losses
    tail = sum(math.comb(total, k) for k in range(max(wins, losses), total + 1)) / 2**total if total else 1.0
    assert mcnemar_exact(wins, losses) == pytest.approx(min(1.0, 2 * tail))


@pytest.mark.parametrize(("right", "total"), [(0, 10), (10, 10), (3, 7), (60, 120)])
def test_wilson_is_that_of_statsmodels(right: int, total: int) -> None:
    assert wilson_interval(right, total) == pytest.approx(proportion_confint(right, total, method="wilson"))


def test_wilson_refuses_more_right_than_there_are() -> None:
    with pytest.raises(ValueError, match="between 0 and 3 but got 4"):
        wilson_interval(4, 3)
    assert all(map(math.isnan, wilson_interval(0, 0)))


@pytest.mark.parametrize("p_values", [[0.01, 0.04, 0.03], [0.5], [0.02, 0.02, 0.9, 1.0], []])
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    expected = multipletests(p_values, method="holm")[1] if p_values else []
    assert holm(p_values) == pytest.approx(list(expected))


def test_the_smallest_significant_gain_is_the_first_n_with_a_small_enough_p() -> None:
    for tries in (1, 7):
        gain = smallest_significant_gain(200, tries)
        assert gain is not None
        assert tries * sign_flip_test(np.ones(gain)) <= 0.05 < tries * sign_flip_test(np.ones(gain - 1))
    assert smallest_significant_gain(5) is None


def test_the_detectable_gain_is_found_with_80_per_cent_power_in_simulation() -> None:
    items, discordance = 150, 0.2
    gain = detectable_gain(items, discordance)
    generator = np.random.default_rng(0)
    shares = [(discordance + gain) / 2, (discordance - gain) / 2, 1 - discordance]
    counts = generator.multinomial(items, shares, size=1500)
    found = np.mean([mcnemar_exact(int(wins), int(losses)) <= 0.05 for wins, losses, _ in counts])
    assert 0.7 < found < 0.85  # the exact test is conservative
    assert math.isnan(detectable_gain(5, 0.1))

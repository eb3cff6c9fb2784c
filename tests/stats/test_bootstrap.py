"""Cluster bootstrap intervals against scipy, and the cluster-robust error against statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats as scipy_stats

from optimizer.stats.bootstrap import cluster_bootstrap, cluster_bootstrap_cells
from optimizer.stats.clusters import ClusterSums, cluster_sums, design_effect


def clustered(seed: int, clusters: int = 40, chance: float = 0.7) -> ClusterSums:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 5, size=clusters).astype(float)
    return ClusterSums(np.array([generator.binomial(int(n), chance) for n in sizes], dtype=float), sizes)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("seed", range(3))
def test_intervals_are_those_of_scipy(method: str, seed: int) -> None:
    data = clustered(seed, chance=0.85)
    expected = scipy_stats.bootstrap(
        (data.sums, data.sizes),
        lambda s, n, axis=-1: s.sum(axis) / n.sum(axis),
        paired=True,
        method="BCa" if method == "bca" else "percentile",
        n_resamples=20_000,
        random_state=1,
    ).confidence_interval
    low, high = cluster_bootstrap(data, resamples=20_000, method=method)  # type: ignore[arg-type]
    assert low == pytest.approx(expected.low, abs=0.006)
    assert high == pytest.approx(expected.high, abs=0.006)


def test_a_table_of_cells_has_the_intervals_of_its_cells() -> None:
    first, second = clustered(1), clustered(2)
    sums = np.stack([first.sums, np.minimum(second.sums, first.sizes)], axis=1)
    sizes = np.stack([first.sizes, first.sizes], axis=1)
    table = cluster_bootstrap_cells(sums, sizes, seed=7)
    assert tuple(table[0]) == pytest.approx(cluster_bootstrap(first, seed=7))
    assert tuple(table[1]) == pytest.approx(cluster_bootstrap(ClusterSums(sums[:, 1], first.sizes), seed=7))


def test_cells_may_have_sizes_of_their_own_and_an_empty_one_is_nan() -> None:
    data = clustered(3)
    sizes = np.stack([data.sizes, np.zeros_like(data.sizes)], axis=1)
    table = cluster_bootstrap_cells(np.stack([data.sums, np.zeros_like(data.sums)], axis=1), sizes)
    assert np.isfinite(table[0]).all()
    assert np.isnan(table[1]).all()


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_degenerate_data(method: str) -> None:
    def interval(values: list[float], clusters: list[str]) -> tuple[float, float]:
        return tuple(cluster_bootstrap(cluster_sums(values, clusters), method=method))  # type: ignore[arg-type,return-value]

    assert interval([1.0, 1.0], ["a", "b"]) == (1.0, 1.0)
    assert interval([0.0, 0.0], ["a", "b"]) == (0.0, 0.0)
    assert interval([1.0, 0.0], ["a", "a"]) == (0.5, 0.5)
    assert all(map(math.isnan, interval([], [])))


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="confidence"):
        cluster_bootstrap(clustered(0), confidence=95)
    with pytest.raises(ValueError, match="shape"):
        cluster_bootstrap_cells(np.ones((3, 1)), np.ones((2, 1)))


def test_the_width_is_about_that_of_the_cluster_robust_regression() -> None:
    generator = np.random.default_rng(5)
    names = [f"c{i}" for i in range(80) for _ in range(3)]
    shift = np.repeat(generator.normal(0, 0.3, 80), 3)
    values = shift + generator.normal(0, 0.3, 240)
    fit = sm.OLS(values, np.ones(240)).fit(cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(80), 3)})
    low, high = cluster_bootstrap(cluster_sums(list(values), names))
    assert (high - low) / (2 * 1.96) == pytest.approx(float(fit.bse[0]), rel=0.06)
    expected = float(fit.bse[0]) ** 2 / (values.var() / 240) / (80 / 79 * 239 / 239)
    assert design_effect(list(values), names) == pytest.approx(expected, rel=0.02)
    assert design_effect([1.0, 1.0], ["a", "b"]) == 1.0

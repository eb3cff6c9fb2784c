"""Cluster-robust regression against statsmodels; shares with intervals against scipy and plain arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import bootstrap

from optimizer.stats.ratios import gain_ratio, share_difference, share_of
from optimizer.stats.regression import linear_regression


def made(seed: int, rows: int = 90, groups: int = 15) -> tuple[np.ndarray, dict[str, list[float]], list[str]]:
    generator = np.random.default_rng(seed)
    clusters = [f"c{index % groups}" for index in range(rows)]
    columns = {
        "style": [float(v) for v in generator.integers(0, 2, rows)],
        "words": [float(v) for v in generator.normal(size=rows)],
    }
    y = (generator.random(rows) < 0.4).astype(float)
    return y, columns, clusters


@pytest.mark.parametrize("seed", range(4))
def test_coefficients_errors_and_p_are_those_of_statsmodels(seed: int) -> None:
    y, columns, clusters = made(seed)
    x = sm.add_constant(np.column_stack(list(columns.values())))
    expected = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": [int(name[1:]) for name in clusters]})
    found = linear_regression(list(y), columns, clusters)
    assert [each.name for each in found] == ["intercept", "style", "words"]
    assert [each.value for each in found] == pytest.approx(list(expected.params))
    assert [each.error for each in found] == pytest.approx(list(expected.bse))
    assert [each.p for each in found] == pytest.approx(list(expected.pvalues))
    assert [(each.low, each.high) for each in found] == [pytest.approx(tuple(row)) for row in expected.conf_int()]


def test_a_column_without_any_effect_has_none_and_p_is_1() -> None:
    draw = np.random.default_rng(3)
    clusters = [f"c{number}" for number in range(60) for _ in (1, 3)]
    outcome = [float(right) for right in draw.random(60) < 0.5 for _ in (1, 3)]  # the same with one and with three exposed
    columns = {"words": [float(words) for words in draw.normal(40, 5, 60) for _ in (1, 3)], "exposed": [0.0, 1.0] * 60}
    exposed = linear_regression(outcome, columns, clusters)[2]
    assert (exposed.value, exposed.error, exposed.p) == (0.0, 0.0, 1.0)


def test_what_cannot_be_told_apart_is_an_error() -> None:
    y, columns, clusters = made(0)
    with pytest.raises(ValueError, match="say the same thing twice"):
        linear_regression(list(y), {**columns, "again": columns["style"]}, clusters)
    with pytest.raises(ValueError, match="too few for 3 coefficients"):
        linear_regression(list(y), columns, ["c"] * len(y))
    with pytest.raises(ValueError, match="'words' has 1 values"):
        linear_regression(list(y), {"words": [1.0]}, clusters)


def test_a_share_has_the_interval_of_a_cluster_bootstrap() -> None:
    generator = np.random.default_rng(2)
    clusters = [f"c{index % 20}" for index in range(70)]
    hits = [bool(v) for v in generator.random(70) < 0.3]
    found = share_of(hits, clusters)
    sums = np.array([sum(h for h, c in zip(hits, clusters, strict=True) if c == f"c{g}") for g in range(20)], dtype=float)
    sizes = np.array([clusters.count(f"c{g}") for g in range(20)], dtype=float)
    expected = bootstrap(
        (sums, sizes),
        lambda s, n, axis=-1: s.sum(axis) / n.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=10_000,
        rng=1,
    ).confidence_interval
    assert found.value == sum(hits) / 70
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.01)
    assert share_of([], []).total == 0
    assert math.isnan(share_of([], []).value)
    assert share_of([True] * 5, ["c"] * 5).low < 1


def test_a_difference_of_shares_draws_clusters_with_all_that_they_hold() -> None:
    first = ([True, False, True, True], ["a", "a", "b", "c"])
    second = ([False, True], ["a", "b"])
    value, interval = share_difference(first, second)
    assert value == 0.75 - 0.5
    assert interval.low <= value <= interval.high
    same, none = share_difference(first, first)
    assert (same, none.low, none.high) == (0, 0, 0)
    assert math.isnan(share_difference(first, ([], []))[0])


def test_a_share_of_a_gain_is_the_ratio_of_means_and_undefined_without_a_gain() -> None:
    names = [f"i{n}" for n in range(40)]
    clusters = {name: name for name in names}
    part = {name: float(n % 4 == 0) for n, name in enumerate(names)}
    whole = {name: float(n % 2 == 0) for n, name in enumerate(names[:-1])}
    value, interval = gain_ratio(part, whole, clusters)
    assert value == 10 / 20
    assert 0.2 < interval.low < 0.5 < interval.high < 0.8
    assert math.isnan(gain_ratio(part, {"i0": 0.0, "i1": -1.0}, clusters)[0])
    shaky, none = gain_ratio(part, {"i0": 1.0, "i1": 0.0, "i2": 0.0}, clusters)
    assert shaky == 1
    assert math.isnan(none.low)

"""The speed of the bootstrap against scipy in the same run, and what the tests promise, in 10,000 replications."""

from __future__ import annotations

import time

import numpy as np
from scipy import stats as scipy_stats

from optimizer.stats.bootstrap import cluster_bootstrap_cells
from tests.benchmarks import simulations
from tests.benchmarks.table import record

CELLS, ITEMS, CLUSTER_SIZE, RESAMPLES = 72, 400, 3, 10_000
REPLICATIONS = 10_000


def test_a_table_of_72_cells_is_bootstrapped_in_about_a_second() -> None:
    generator = np.random.default_rng(0)
    owner = np.arange(ITEMS) // CLUSTER_SIZE
    clusters = int(owner.max()) + 1
    scores = (generator.random((ITEMS, CELLS)) < 0.7).astype(float)
    sums = np.stack([np.bincount(owner, weights=scores[:, cell], minlength=clusters) for cell in range(CELLS)], axis=1)
    sizes = np.repeat(np.bincount(owner, minlength=clusters).astype(float)[:, None], CELLS, axis=1)
    started = time.perf_counter()
    ours = cluster_bootstrap_cells(sums, sizes, RESAMPLES)
    own = time.perf_counter() - started
    started = time.perf_counter()
    theirs = scipy_stats.bootstrap(
        (sums[:, 0], sizes[:, 0]), lambda s, n, axis=-1: s.sum(axis) / n.sum(axis), paired=True, method="percentile",
        n_resamples=RESAMPLES, random_state=0,
    ).confidence_interval  # fmt: skip
    peer = (time.perf_counter() - started) * CELLS
    record(
        f"bootstrap of {CELLS} cells of {ITEMS} items in {clusters} clusters, {RESAMPLES} resamples",
        f"{own:.2f} s, scipy {peer:.2f} s (one cell times {CELLS})",
        f"{own / peer:.3f}",
        "≤ .5",
    )
    assert abs(ours[0, 0] - theirs.low) < 0.01
    assert own / peer < 0.5


def test_intervals_and_tests_keep_their_levels() -> None:
    print()
    for method in ("percentile", "bca"):
        for paired in (True, False):
            rate = simulations.coverage(REPLICATIONS, method, paired)
            print(rate)
            assert 0.93 <= rate.share <= 0.97
    for rate in (simulations.type_one(REPLICATIONS), *simulations.family_wise(REPLICATIONS)):
        print(rate)
        assert rate.share <= 0.055
    rate = simulations.anytime(REPLICATIONS)
    print(rate)
    assert rate.share <= 0.05
    for rise in (0.4, 0.3):
        rate = simulations.anytime(REPLICATIONS, rise)
        print(rate)
        assert rate.share <= 0.005

"""Recorded debates with a known truth, as arrays, and how often the honest interval of a tuned policy holds it."""

from __future__ import annotations

import numpy as np

from optimizer.analysis.policy.data import PolicyData
from optimizer.analysis.policy.tuning import Tuning, tune
from tests.benchmarks.simulations import Rate

PERSONAS = ("skeptic", "advocate", "expert")


def coin_flips(items: int, cluster_size: int, seed: int) -> PolicyData:
    """Debates whose labels are coin flips, independent of votes and confidences; half of the labels are their cluster's.

    Everybody votes and the recorded rule is the majority, so every policy that always decides is right half of the time: no gain
    is true.
    """
    generator = np.random.default_rng(seed)
    cluster = np.arange(items) // cluster_size
    clusters = int(cluster.max()) + 1
    signs = np.array([-1, 1], dtype=np.int8)
    labels = np.where(generator.random(items) < 0.5, generator.choice(signs, items), generator.choice(signs, clusters)[cluster])
    last = generator.choice(signs, (items, 3), p=[0.4, 0.6])
    first = np.where(generator.random((items, 3)) < 0.8, last, -last).astype(np.int8)
    confidences = {"last": generator.integers(10, 21, (items, 3)) / 20, "first": generator.integers(10, 21, (items, 3)) / 20}
    recorded = np.sign(last.sum(axis=1)).astype(np.int8)
    return PolicyData(
        PERSONAS, {"last": last, "first": first}, confidences, labels, recorded, np.ones(items), cluster, clusters, items
    )  # fmt: skip


def tuned_coin_flips(seed: int, items: int = 120, cluster_size: int = 2, trials: int = 200, folds: int = 5) -> Tuning:
    """A policy tuned where there is nothing to find."""
    return tune(coin_flips(items, cluster_size, seed), trials=trials, folds=folds, seed=seed)


def coverage(tunings: list[Tuning]) -> tuple[Rate, Rate, Rate]:
    """How often the interval of the honest gain holds 0, how often it lies above 0, and how often p is at most .05."""
    total = len(tunings)
    held = sum(found.honest.low <= 0 <= found.honest.high for found in tunings)
    above = sum(found.honest.low > 0 for found in tunings)
    rejected = sum(found.honest.p <= 0.05 for found in tunings)
    return (
        Rate("the interval of a tuned policy's honest gain holds 0 on coin flips", held, total),
        Rate("it lies above 0", above, total),
        Rate("its p is at most .05", rejected, total),
    )

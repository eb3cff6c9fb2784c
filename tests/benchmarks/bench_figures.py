"""Do the intervals of phi, kappa, AUROC, d' … hold the truth? Simulated judges on clustered items, truth from a huge sample."""

from __future__ import annotations

from functools import cache

import numpy as np

from optimizer.stats.agreement import agreement_estimates
from optimizer.stats.bootstrap import Estimate
from optimizer.stats.calibration import auroc_estimate
from optimizer.stats.correlation import pearson_estimate
from optimizer.stats.detection import detection_estimates
from tests.benchmarks.simulations import Rate

_WRONG_FROM = 0.524  # standard deviations: 30 % are wrong
_HUGE = 100_000


def test_intervals_of_the_mechanism_figures_hold_the_truth_about_95_times_in_100() -> None:
    for clusters, least in ((30, 0.89), (60, 0.92)):
        for rate in figure_coverage(1_000, clusters):
            print(f"{clusters} clusters: {rate}")
            assert rate.share >= least


def figure_coverage(replications: int, clusters: int, resamples: int = 1_000) -> list[Rate]:
    """How often the 95 % interval of each figure holds the truth, on items in so many clusters of one to four."""
    truth, hits = _truth(), dict.fromkeys(_truth(), 0)
    for seed in range(replications):
        for name, found in _figures(np.random.default_rng(seed), clusters, resamples).items():
            hits[name] += found.low <= truth[name] <= found.high
    return [Rate(f"the interval of {name} holds the truth", count, replications) for name, count in hits.items()]


@cache
def _truth() -> dict[str, float]:
    return {name: found.value for name, found in _figures(np.random.default_rng(10**9), _HUGE, 1).items()}


def _figures(generator: np.random.Generator, clusters: int, resamples: int) -> dict[str, Estimate]:
    """Two judges whose errors share the difficulty of cluster and item; confidence falls with it and carries over with noise."""
    owner = np.repeat(np.arange(clusters), generator.integers(1, 5, size=clusters))
    count = len(owner)
    difficulty = 0.5 * generator.normal(size=clusters)[owner] + 0.5 * generator.normal(size=count)
    strain = difficulty[:, None] + np.sqrt(0.5) * generator.normal(size=(count, 2))
    wrong = (strain > _WRONG_FROM).astype(float)
    confidence = np.round(70 - 10 * strain[:, 0] + 10 * generator.normal(size=count), -1)
    later = np.round(confidence + 10 * generator.normal(size=count), -1)
    grounded = generator.random(count) < 0.5
    said = np.where(wrong[:, 0] > 0, ~grounded, grounded).astype(float)
    names = [f"{each:06}" for each in owner]
    pair = agreement_estimates(wrong[:, 0], wrong[:, 1], names, resamples=resamples)
    seen = detection_estimates(said, grounded, names, resamples=resamples)
    return {
        "phi": pair.phi,
        "kappa": pair.kappa,
        "double fault": pair.double_fault,
        "lift": pair.lift,
        "AUROC": auroc_estimate(confidence, wrong[:, 0] == 0, names, resamples=resamples),
        "Pearson": pearson_estimate(confidence, later, names, resamples=resamples),
        "d'": seen.sensitivity,
        "criterion": seen.criterion,
    }

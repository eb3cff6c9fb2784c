"""Do a suite's readings keep what they promise? Six data sets without an effect: 120 items each, in 60 clusters."""

from __future__ import annotations

import numpy as np

from optimizer.analysis.suite import Reading, Scores, compare_suite
from tests.benchmarks.simulations import LEVEL, Rate

_SETS, _CLUSTERS, _SIZE = 6, 60, 2


def test_corrected_readings_are_wrong_at_most_5_times_in_100_and_intervals_hold_the_truth() -> None:
    alone, corrected, mean, pooled = suite_rates(600)
    for rate in (alone, corrected, mean, pooled):
        print(rate)
    assert corrected.share <= LEVEL
    assert min(mean.share, pooled.share) >= 0.92


def suite_rates(replications: int, seed: int = 5) -> tuple[Rate, Rate, Rate, Rate]:
    """Suites with any reliable reading, alone and corrected; and those whose mean's and pooled intervals hold the truth, 0."""
    generator = np.random.default_rng(seed)
    alone = corrected = mean = pooled = 0
    for _ in range(replications):
        found = compare_suite([_data_set(generator, str(number)) for number in range(_SETS)], "single")
        alone += any(row.reading != Reading.INCONCLUSIVE for row in found.rows)
        corrected += any(row.corrected != Reading.INCONCLUSIVE for row in found.rows)
        mean += found.mean.difference.low <= 0 <= found.mean.difference.high
        pooled += found.pooled.difference.low <= 0 <= found.pooled.difference.high
    return (
        Rate("some reading is reliable without an effect", alone, replications),
        Rate("some corrected reading is", corrected, replications),
        Rate("the interval of the mean holds the truth", mean, replications),
        Rate("the interval of all items does", pooled, replications),
    )


def _data_set(generator: np.random.Generator, name: str) -> Scores:
    """Two judges alike, whose answers share the difficulty of a cluster, each with a lean of its own there."""
    ids = [f"{name}:{cluster}:{item}" for cluster in range(_CLUSTERS) for item in range(_SIZE)]

    def shared(scale: float) -> np.ndarray:
        return scale * np.repeat(generator.normal(size=_CLUSTERS), _SIZE)

    difficulty, leans = shared(0.5), (shared(0.4), shared(0.4))
    panel, reference = (
        (difficulty + lean + 0.6 * generator.normal(size=len(ids)) > -0.5).astype(float).tolist() for lean in leans
    )
    clusters = {item: item.rpartition(":")[0] for item in ids}
    return Scores(name, "", dict(zip(ids, panel, strict=True)), dict(zip(ids, reference, strict=True)), clusters)

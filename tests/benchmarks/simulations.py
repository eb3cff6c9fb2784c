"""Do the tests and intervals keep what they promise? Simulated clustered data with a known truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optimizer.stats.anytime import anytime_p
from optimizer.stats.bootstrap import cluster_bootstrap
from optimizer.stats.clusters import ClusterSums, Floats
from optimizer.stats.multiplicity import holm, max_t
from optimizer.stats.paired import sign_flip_test

CLUSTERS = 50
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something happened in so many replications."""

    name: str
    happened: int
    replications: int

    @property
    def share(self) -> float:
        return self.happened / self.replications

    def __str__(self) -> str:
        return f"{self.name}: {100 * self.share:.2f} % of {self.replications}"


def sizes(generator: np.random.Generator) -> np.ndarray:
    """Clusters of one to four items."""
    return generator.integers(1, 5, size=CLUSTERS)


def differences(generator: np.random.Generator, candidates: int = 1, discordance: float = 0.3) -> tuple[Floats, Floats]:
    """Paired differences without a true effect, correlated within clusters and between candidates.

    A cluster leans to one side by a symmetric Beta; half of the candidates' discordant items are the same ones.
    """
    count = sizes(generator)
    total = int(count.sum())
    owner = np.repeat(np.arange(CLUSTERS), count)
    lean = generator.beta(1.0, 1.0, size=CLUSTERS)[owner]
    shared = np.where(generator.random(total) < lean, 1.0, -1.0) * (generator.random(total) < discordance)
    sums = np.empty((CLUSTERS, candidates))
    for column in range(candidates):
        own_lean = generator.beta(1.0, 1.0, size=CLUSTERS)[owner]
        own = np.where(generator.random(total) < own_lean, 1.0, -1.0) * (generator.random(total) < discordance)
        mixed = np.where(generator.random(total) < 0.5, shared, own) if candidates > 1 else shared
        sums[:, column] = np.bincount(owner, weights=mixed, minlength=CLUSTERS)
    return sums, count.astype(float)


def coverage(replications: int, method: str, paired: bool, seed: int = 1, resamples: int = 1_000) -> Rate:
    """How often the 95 % interval holds the truth: of a paired difference (0), or of an accuracy with a spread over clusters."""
    generator = np.random.default_rng(seed)
    hits = 0
    for replication in range(replications):
        if paired:
            sums, count = differences(generator)
            data, truth = ClusterSums(sums[:, 0], count), 0.0
        else:
            count = sizes(generator).astype(float)
            chance = generator.beta(4.0, 2.0, size=CLUSTERS)
            data, truth = ClusterSums(generator.binomial(count.astype(int), chance).astype(float), count), 4 / 6
        low, high = cluster_bootstrap(data, resamples=resamples, seed=replication, method=method)  # type: ignore[arg-type]
        hits += low <= truth <= high
    return Rate(f"{method} interval of {'a difference' if paired else 'an accuracy'} holds the truth", hits, replications)


def type_one(replications: int, seed: int = 2) -> Rate:
    """How often the sign-flip test rejects without an effect."""
    generator = np.random.default_rng(seed)
    rejected = sum(sign_flip_test(differences(generator)[0][:, 0]) <= LEVEL for _ in range(replications))
    return Rate("the sign-flip test rejects without an effect", rejected, replications)


def family_wise(replications: int, seed: int = 3, candidates: int = 7, flips: int = 1_000) -> tuple[Rate, Rate]:
    """How often max-T, and Holm, call any of seven correlated candidates different when none is."""
    generator = np.random.default_rng(seed)
    by_max_t = by_holm = 0
    for replication in range(replications):
        sums, _ = differences(generator, candidates)
        by_max_t += min(max_t(sums, seed=replication, flips=flips)) <= LEVEL
        by_holm += min(holm([sign_flip_test(sums[:, column]) for column in range(candidates)])) <= LEVEL
    name = f"rejects any of {candidates} candidates without an effect"
    return Rate(f"max-T {name}", by_max_t, replications), Rate(f"Holm {name}", by_holm, replications)


def anytime(replications: int, rise: float | None = None, seed: int = 4) -> Rate:
    """How often the anytime test rejects at any look: without an effect, or where a cluster rises with the given chance."""
    generator = np.random.default_rng(seed)
    rejected = 0
    for _ in range(replications):
        signs = differences(generator)[0][:, 0] if rise is None else np.where(generator.random(CLUSTERS) < rise, 1.0, -1.0)
        rejected += anytime_p(signs).p <= LEVEL
    what = "without an effect" if rise is None else f"of a candidate whose clusters rise with chance {rise}"
    return Rate(f"the anytime test rejects at some look, {what}", rejected, replications)

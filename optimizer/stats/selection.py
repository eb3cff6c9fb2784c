"""What the best of several candidates owes to having been picked: the optimism of the winner's own score."""

from __future__ import annotations

import numpy as np

from optimizer.stats.clusters import Floats


def selection_optimism(sums: Floats, sizes: Floats, resamples: int = 2_000, seed: int = 0) -> float:
    """By how much the score of the selected candidate flatters it, by bootstrap re-selection.

    In each resample of clusters the best candidate is picked, and its score there is compared with its score on all items;
    the mean of the gaps is the optimism (Efron 1983). Subtract it from the selected candidate's score.

    Args:
        sums: the sum of scores of each cluster and candidate, shape (clusters, candidates).
        sizes: items of each cluster, shape (clusters,).

    Returns:
        The optimism in accuracy, 0.0 with one candidate or cluster.

    Raises:
        ValueError: the shapes do not fit.
    """
    if sums.ndim != 2 or sizes.shape != sums.shape[:1]:
        raise ValueError(
            f"sums must have shape (clusters, candidates) and sizes (clusters,) but have {sums.shape}, {sizes.shape}"
        )
    clusters, candidates = sums.shape
    if clusters < 2 or candidates < 2:
        return 0.0
    generator = np.random.default_rng(seed)
    weights = generator.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples).astype(float)
    resampled = (weights @ sums) / (weights @ sizes)[:, None]
    whole = sums.sum(axis=0) / sizes.sum()
    picked = resampled.argmax(axis=1)
    return float((resampled[np.arange(resamples), picked] - whole[picked]).mean())

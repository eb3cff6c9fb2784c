"""Item values added up by cluster: the form in which all clustered statistics take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEW_CLUSTERS = 30  # under so many, intervals and p-values are rough, and a warning says so


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """Sum and size of each cluster, in one order. Both have shape (clusters,)."""

    sums: Floats
    sizes: Floats

    @property
    def mean(self) -> float:
        """The mean over items; NaN without items."""
        total = float(self.sizes.sum())
        return float(self.sums.sum()) / total if total else float("nan")


def cluster_sums(values: Sequence[float], clusters: Sequence[str]) -> ClusterSums:
    """Add item values up by cluster, clusters in the order of their names.

    Args:
        values: one number an item (repeats averaged before), shape (items,).
        clusters: the cluster of each item, the same length.

    Raises:
        ValueError: the lengths differ.
    """
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values but {len(clusters)} clusters; give one cluster for each value")
    names = sorted(set(clusters))
    index = {name: position for position, name in enumerate(names)}
    positions = np.array([index[name] for name in clusters], dtype=np.intp)
    sums = np.bincount(positions, weights=np.asarray(values, dtype=float), minlength=len(names)).astype(float)
    sizes = np.bincount(positions, minlength=len(names)).astype(float)
    return ClusterSums(sums, sizes)


def design_effect(values: Sequence[float], clusters: Sequence[str]) -> float:
    """How much clusters inflate the variance of a mean: cluster-robust variance over that of independent items.

    Estimated from the residuals of the mean (Kish 1965), without a small-sample factor; at least 1/items. 1.0 where the values do
    not vary.
    """
    data = cluster_sums(values, clusters)
    residuals = np.asarray(values, dtype=float) - data.mean
    independent = float((residuals**2).sum())
    clustered = float(((data.sums - data.mean * data.sizes) ** 2).sum())
    return clustered / independent if independent else 1.0

"""An anytime-valid test: its p may be looked at after every cluster, and the race stopped whenever one likes.

A one-sided betting e-process on the signs of clusters. Under the null a cluster that moves at all moves up with
probability one half or less. The bet on probability q > 1/2 multiplies its wealth by 2q at a rise and 2(1 - q) at a fall;
the mixture of all such bets, uniform over (1/2, 1], is a non-negative supermartingale under the null, so by Ville's
inequality it exceeds 1/alpha with probability at most alpha, however often one looks. Bets are on rises alone, so falls
never make a p small: a worse challenger is rejected for by an early run of luck at most.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import comb


@dataclass(frozen=True, slots=True)
class AnytimeResult:
    """After `clusters` clusters, `rises` up and `falls` down: the p (1/largest wealth so far, at most 1)."""

    p: float
    clusters: int
    rises: int
    falls: int


@cache
def mixture_wealth(rises: int, falls: int) -> float:
    """The wealth of the mixture after so many rises and falls, in any order; 1.0 at the start.

    The integral 2 * 2^n * int_{1/2}^1 q^rises (1-q)^falls dq has the closed form
    sum_{j <= rises} C(n+1, j) / ((n+1) C(n, rises)), with n = rises + falls.

    Raises:
        ValueError: a count is negative.
    """
    if rises < 0 or falls < 0:
        raise ValueError(f"rises and falls must not be negative but got {rises} and {falls}")
    n = rises + falls
    return sum(comb(n + 1, j) for j in range(rises + 1)) / ((n + 1) * comb(n, rises))


def anytime_p(signs: Iterable[float]) -> AnytimeResult:
    """The anytime-valid one-sided p that the challenger is better.

    Args:
        signs: the sum of paired differences of each cluster in the order in which clusters were looked at, which must not
            depend on the answers; only the sign counts, and a zero is no bet.
    """
    rises = falls = seen = 0
    best = 1.0
    for value in signs:
        seen += 1
        rises += value > 0
        falls += value < 0
        best = max(best, mixture_wealth(rises, falls))
    return AnytimeResult(min(1.0, 1 / best), seen, rises, falls)


def shuffled_clusters(clusters: Iterable[str], seed: int, salt: str = "") -> list[str]:
    """The names in an order that depends on the seed and the salt alone."""
    return sorted(set(clusters), key=lambda name: hashlib.sha256(f"{seed}\n{salt}\n{name}".encode()).digest())


def anytime_difference(
    baseline: Mapping[str, float], challenger: Mapping[str, float], order: Iterable[tuple[str, Iterable[str]]]
) -> AnytimeResult:
    """The anytime p of challenger against baseline over whole clusters.

    Args:
        baseline, challenger: item id -> score.
        order: cluster and its items, in the order in which they were looked at. It ends at the first cluster of which an
            item is missing on either side: half a cluster is no bet.
    """
    sums = []
    for _, items in order:
        members = list(items)
        if not all(item in baseline and item in challenger for item in members):
            break
        sums.append(sum(challenger[item] - baseline[item] for item in members))
    return anytime_p(sums)

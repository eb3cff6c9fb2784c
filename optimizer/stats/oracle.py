"""The oracle over K candidates: how much of it is luck, and what more candidates might still solve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from optimizer.stats.clusters import Floats


@dataclass(frozen=True, slots=True)
class BetaBinomial:
    """Items differ in their chance of being right: that chance is Beta(alpha, beta) over items. A model, no measurement."""

    alpha: float
    beta: float

    @property
    def mean(self) -> float:
        return self.alpha / (self.alpha + self.beta)

    def oracle(self, runs: int) -> float:
        """E[1 - (1 - p)^runs]: the share of items that at least one of so many independent runs gets right."""
        log_miss = _log_beta(self.alpha, self.beta + runs) - _log_beta(self.alpha, self.beta)
        return 1 - math.exp(log_miss)


def fit_beta_binomial(right: Sequence[int], runs: Sequence[int]) -> BetaBinomial:
    """The most likely Beta over items, from how often each was right in how many runs of one and the same candidate.

    Args:
        right: right runs of each item, shape (items,).
        runs: runs of each item, at least two for some of them, the same length.

    Raises:
        ValueError: the counts do not fit, or no item has two runs: one run cannot tell luck from ability.
    """
    from scipy.optimize import minimize
    from scipy.special import betaln

    r, n = np.asarray(right, dtype=float), np.asarray(runs, dtype=float)
    if len(r) != len(n) or len(r) == 0 or (r < 0).any() or (r > n).any():
        raise ValueError("give each item its right runs and its runs, 0 <= right <= runs")
    if n.max() < 2:
        raise ValueError("no item has two runs of the same candidate; repeat it to tell luck from ability")
    mean = float(r.sum() / n.sum())
    if mean in (0.0, 1.0):
        return BetaBinomial(1e6 * max(mean, 1e-6), 1e6 * max(1 - mean, 1e-6))

    def loss(point: Floats) -> float:
        share, total = 1 / (1 + math.exp(-point[0])), math.exp(point[1])
        a, b = share * total, (1 - share) * total
        return -float((betaln(r + a, n - r + b) - betaln(a, b)).sum())

    # The bounds keep a perfectly repeatable or perfectly random candidate from running off to infinity.
    start = [math.log(mean / (1 - mean)), 0.0]
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(-12, 12), (-9, 12)]).x
    share, total = 1 / (1 + math.exp(-found[0])), math.exp(found[1])
    return BetaBinomial(share * total, (1 - share) * total)


@dataclass(frozen=True, slots=True)
class Outlook:
    """A lower bound of how many items that are always wrong some further candidate could solve (Chao2, bias-corrected).

    `low` and `high` are its 95 % log-normal interval (Chao 1987), capped at the number of items that are always wrong.
    """

    candidates: int
    solved_once: int
    solved_twice: int
    always_wrong: int
    solvable: float
    low: float
    high: float

    def newly_solved(self, more: int) -> float:
        """How many of them `more` candidates like these are expected to solve."""
        if self.solvable == 0:
            return 0.0
        chance = self.solved_once / (self.solved_once + self.candidates * self.solvable)
        return self.solvable * (1 - (1 - chance) ** more)


def chao2(solved_by: Sequence[int], candidates: int, confidence: float = 0.95) -> Outlook:
    """The outlook from how many of K candidates solve each item.

    It holds for candidates that were proposed independently of each other. Candidates that descend from one another
    solve the same items, which makes the bound too low.

    Args:
        solved_by: for each item the number of candidates that are right, shape (items,).
        candidates: K.

    Raises:
        ValueError: K is not positive or smaller than a count.
    """
    counts = np.asarray(solved_by, dtype=int)
    if candidates < 1 or (len(counts) and (counts.min() < 0 or counts.max() > candidates)):
        raise ValueError(f"solved_by must be between 0 and the number of candidates, {candidates}")
    once, twice, never = (int((counts == k).sum()) for k in (1, 2, 0))
    share = (candidates - 1) / candidates
    estimate = share * once * (once - 1) / (2 * (twice + 1))
    if estimate == 0:
        return Outlook(candidates, once, twice, never, 0.0, 0.0, 0.0)
    variance = (
        share * once * (once - 1) / (2 * (twice + 1))
        + share**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
        + share**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
    )
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    factor = math.exp(z * math.sqrt(math.log(1 + variance / estimate**2)))
    cap = float(never)
    return Outlook(candidates, once, twice, never, min(estimate, cap), min(estimate / factor, cap), min(estimate * factor, cap))


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

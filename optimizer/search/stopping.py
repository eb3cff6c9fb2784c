"""When to stop testing a candidate: bounds that follow from what the run has seen, from prices, and from the budget left.

Edits have effects; how many are good, and how good, is learned from the run (`EffectPrior`). Given that, testing is a renewal
problem: each proposal costs its price and then debates, until the candidate is taken or dropped, and what counts is the gain per
unit spent. `stopping_rule` finds the best such rate and the bounds that earn it by dynamic programming over the evidence so far.
Where good edits are frequent and proposals cheap, the bounds come out loose; where they are rare and small, tight.

Ross, S. (1983): Introduction to stochastic dynamic programming, on renewal reward and optimal stopping. Efron, B. (2010):
Large-scale inference, on priors learned from parallel trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from optimizer.search.quality import Evidence

Floats = NDArray[np.float64]

# Effects in log-odds. Before anything is seen they are taken to be as often good as bad.
_EFFECTS: Floats = np.linspace(-2.4, 2.4, 25)
_FIRST_SPREAD = 0.6
_FIRST_WEIGHT = 10.0  # the first belief counts like so many candidates
_LEARNING_STEPS = 30
_MOST_STEPS = 24
_HALF_WIDTH = 160
_REACH = 12
_RATE_STEPS = 18
_MOST_RATE = 0.5


class EffectPrior:
    """A distribution of effects on a grid.

    Args:
        weights: of the grid's effects; the belief before any data where left out.
    """

    def __init__(self, weights: Floats | None = None) -> None:
        if weights is None:
            weights = np.exp(-0.5 * (_EFFECTS / _FIRST_SPREAD) ** 2)
        self.weights: Floats = weights / weights.sum()

    @property
    def spread(self) -> float:
        """The root mean square effect."""
        return float(np.sqrt(self.weights @ _EFFECTS**2))

    def learn(self, evidence: Sequence[Evidence]) -> EffectPrior:
        """What it becomes after these candidates: the most likely weights, with this one as so many candidates of its own.

        That testing was stopped when it looked good or bad does not bias this: the likelihood does not depend on it.
        """
        if not evidence:
            return self
        likelihood = _likelihood(evidence)
        weights = self.weights
        for _ in range(_LEARNING_STEPS):
            shares = weights * likelihood
            shares /= shares.sum(1, keepdims=True)
            weights = (shares.sum(0) + _FIRST_WEIGHT * self.weights) / (len(evidence) + _FIRST_WEIGHT)
        return EffectPrior(weights)

    def means(self, evidence: Sequence[Evidence]) -> list[float]:
        """The expected effect of each candidate."""
        if not evidence:
            return []
        shares = self.weights * _likelihood(evidence)
        return [float(mean) for mean in (shares / shares.sum(1, keepdims=True)) @ _EFFECTS]


def _likelihood(evidence: Sequence[Evidence]) -> Floats:
    totals = np.array([each.total for each in evidence])[:, None]
    informations = np.array([each.information for each in evidence])[:, None]
    log = totals * _EFFECTS - 0.5 * informations * _EFFECTS**2
    return np.asarray(np.exp(log - log.max(1, keepdims=True)))


class Rule(Protocol):
    """Says when testing a candidate is over."""

    def goes_on(self, evidence: Evidence) -> bool:
        """Whether another batch is worth its cost."""


class WholeSplit:
    """Every candidate goes through all of dev."""

    def goes_on(self, evidence: Evidence) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Handicap:
    """A rule for a candidate that is worth `bonus` log-odds more, or less, than its effect: its tokens cost less, or more."""

    rule: Rule
    bonus: float

    def goes_on(self, evidence: Evidence) -> bool:
        return self.rule.goes_on(Evidence(evidence.total + self.bonus * evidence.information, evidence.information))


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """After how much evidence to go on.

    Attributes:
        rate: the best gain in log-odds per unit of cost, price of the proposal included.
        step: information that one batch adds.
    """

    rate: float
    step: float
    _goes_on: NDArray[np.bool_]
    _spacing: float

    def goes_on(self, evidence: Evidence) -> bool:
        """Whether another batch is worth its cost."""
        row = min(len(self._goes_on) - 1, round(evidence.information / self.step))
        middle = self._goes_on.shape[1] // 2
        column = min(max(round(evidence.total / self._spacing) + middle, 0), 2 * middle)
        return bool(self._goes_on[row, column])


def stopping_rule(prior: EffectPrior, price: float, batch_cost: float, step: float, steps: int) -> StoppingRule:
    """The rule with the best rate of gain.

    Args:
        prior: effects to be expected of a proposal.
        price: of a proposal, in the unit of `batch_cost`.
        batch_cost: of testing one batch of items.
        step: information (sum of p (1 - p)) that a batch adds.
        steps: batches that there are, or that the budget left buys.
    """
    steps = min(max(1, steps), _MOST_STEPS)
    price = max(price, batch_cost / 8)  # a free proposal still takes its place among the items
    spacing = np.sqrt(step) / 2
    half = min(int(np.ceil((4 * np.sqrt(steps * step) + 1.5 * steps * step) / spacing)), _HALF_WIDTH)
    totals = np.arange(-half, half + 1) * spacing
    moves = np.arange(-_REACH, _REACH + 1) * spacing
    by_effect = np.exp(-0.5 * (moves - _EFFECTS[:, None] * step) ** 2 / step)
    by_effect /= by_effect.sum(1, keepdims=True)
    means, transitions = [], []
    for number in range(steps + 1):
        log = totals[:, None] * _EFFECTS - 0.5 * number * step * _EFFECTS**2 + np.log(prior.weights + 1e-300)
        shares = np.exp(log - log.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        means.append(np.maximum(0.0, shares @ _EFFECTS))
        transitions.append(shares @ by_effect)
    target = np.clip(np.arange(2 * half + 1)[:, None] + np.arange(-_REACH, _REACH + 1), 0, 2 * half)

    def worth(rate: float) -> tuple[float, list[NDArray[np.bool_]]]:
        """The worth of a fresh candidate where a unit of cost is worth `rate`, and where to go on."""
        value = means[steps]
        goes_on = [np.zeros(2 * half + 1, bool)]
        for number in range(steps - 1, -1, -1):
            further = (transitions[number] * value[target]).sum(1) - rate * batch_cost
            goes_on.append(further > means[number])
            value = np.maximum(further, means[number])
        return float(value[half]), goes_on[::-1]

    low, high = 0.0, _MOST_RATE / batch_cost
    for _ in range(_RATE_STEPS):
        middle = (low + high) / 2
        if worth(middle)[0] > middle * price:
            low = middle
        else:
            high = middle
    return StoppingRule(low, step, np.array(worth(low)[1]), float(spacing))

"""Bounds that follow from what is expected, from prices and from what there is left to test on."""

from __future__ import annotations

import numpy as np
import pytest

from optimizer.search.quality import Evidence
from optimizer.search.stopping import _EFFECTS, EffectPrior, StoppingRule, stopping_rule


def prior(**chances: float) -> EffectPrior:
    """A prior of a few effects, given as up=..., down=... and the rest at 0; a step is .6."""
    weights = np.zeros(len(_EFFECTS))
    for name, place in (("up", 0.6), ("down", -0.6)):
        weights[int(np.argmin(abs(_EFFECTS - place)))] = chances.get(name, 0.0)
    weights[len(_EFFECTS) // 2] = 1 - weights.sum()
    return EffectPrior(weights)


def test_the_worth_of_one_step_is_that_of_the_sum_over_all_outcomes() -> None:
    """One batch, then take it or leave it: E max(0, mean effect given the data), against a Monte Carlo of the same."""
    belief, step, cost, price = prior(up=0.3, down=0.3), 4.0, 4.0, 8.0
    draw = np.random.default_rng(1)
    effects = draw.choice(_EFFECTS, 200_000, p=belief.weights)
    totals = draw.normal(effects * step, np.sqrt(step))
    means = np.array(belief.means([Evidence(float(total), step) for total in totals[:40_000]]))
    gain = np.maximum(means, 0).mean()
    rule = stopping_rule(belief, price, cost, step, steps=1)
    assert rule.rate == pytest.approx(gain / (cost + price), rel=0.05)


def going_on(rule: StoppingRule, information: float) -> np.ndarray:
    """The totals at which testing goes on after so much information."""
    totals = np.arange(-12, 12, 0.05)
    return np.array([total for total in totals if rule.goes_on(Evidence(float(total), information))])


def test_rare_gains_are_tested_harder_than_frequent_ones() -> None:
    common, rare = (stopping_rule(prior(up=up, down=0.3), 5, 4, 3, 24) for up in (0.4, 0.1))
    assert common.rate > rare.rate
    assert going_on(rare, 3).max() > going_on(common, 3).max()  # above it the candidate is taken


def test_dear_proposals_are_given_up_later() -> None:
    cheap, dear = (stopping_rule(prior(up=0.3, down=0.3), price, 4, 3, 24) for price in (2, 60))
    assert dear.rate < cheap.rate
    assert going_on(dear, 3).min() < going_on(cheap, 3).min()  # below it the candidate is dropped


def test_a_run_without_gains_is_worth_nothing_and_tests_end() -> None:
    rule = stopping_rule(prior(down=0.5), 5, 4, 0.8, 24)
    assert rule.rate < 1e-5
    assert not rule.goes_on(Evidence(3.0, 24 * 0.8))  # the items are used up


def test_the_prior_learns_what_edits_do() -> None:
    draw = np.random.default_rng(0)
    evidence = [Evidence(float(draw.normal(0.6 * 5 * up, 5**0.5)), 5.0) for up in draw.random(300) < 0.4]
    learned = EffectPrior().learn(evidence)
    assert learned.weights @ _EFFECTS == pytest.approx(0.24, abs=0.06)
    assert learned.weights.sum() == pytest.approx(1)
    assert EffectPrior().learn([]).weights == pytest.approx(EffectPrior().weights)
    assert EffectPrior().means([]) == []

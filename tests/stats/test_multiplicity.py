"""Corrections for several candidates: Cochran's Q and max-T."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import cochrans_q

from optimizer.stats.multiplicity import max_t
from optimizer.stats.paired import cochran_q, sign_flip_test


def enumerated(sums: np.ndarray) -> list[float]:
    """Step-down max-T by going through all sign patterns, written as the algorithm reads."""
    norms = np.sqrt((sums**2).sum(axis=0))
    observed = np.abs(sums.sum(axis=0)) / norms
    order = sorted(range(sums.shape[1]), key=lambda k: -observed[k])
    adjusted, running = [0.0] * sums.shape[1], 0.0
    for place, candidate in enumerate(order):
        rest = order[place:]
        reached = total = 0
        for signs in itertools.product((1, -1), repeat=len(sums)):
            statistics = np.abs(np.array(signs) @ sums[:, rest]) / norms[rest]
            reached += statistics.max() >= observed[candidate] - 1e-9
            total += 1
        running = max(running, reached / total)
        adjusted[candidate] = running
    return adjusted


@pytest.mark.parametrize("seed", range(6))
def test_max_t_is_the_enumeration(seed: int) -> None:
    sums = np.random.default_rng(seed).integers(-2, 4, size=(9, 4)).astype(float)
    assert max_t(sums) == pytest.approx(enumerated(sums))


def test_drawn_flips_come_near_the_enumeration() -> None:
    generator = np.random.default_rng(1)
    sums = generator.integers(-1, 3, size=(16, 3)).astype(float)
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=16)))
    norms = np.sqrt((sums**2).sum(axis=0))
    statistics = np.abs(signs @ sums) / norms
    observed = np.abs(sums.sum(axis=0)) / norms
    best = int(observed.argmax())
    assert max_t(sums)[best] == pytest.approx(float((statistics.max(axis=1) >= observed[best] - 1e-9).mean()), abs=0.005)


def test_one_candidate_and_copies_of_it_cost_nothing() -> None:
    sums = np.array([1.0, 1, 1, -1, 1, 0, 1, 1, 1])[:, None]
    alone = sign_flip_test(sums[:, 0])
    assert max_t(sums) == pytest.approx([alone])
    assert max_t(np.hstack([sums] * 5)) == pytest.approx([alone] * 5)


def test_degenerate_families() -> None:
    assert max_t(np.zeros((5, 2))) == [1.0, 1.0]
    assert max_t(np.empty((0, 3))) == [1.0] * 3
    assert max_t(np.empty((4, 0))) == []
    assert max_t(np.array([[1.0, 0.0]] * 8))[1] == 1.0
    with pytest.raises(ValueError, match="shape"):
        max_t(np.zeros(4))


@pytest.mark.parametrize("seed", range(4))
def test_cochrans_q_is_that_of_statsmodels(seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 2, size=(30, 4))
    expected = cochrans_q(scores)
    assert cochran_q(scores) == pytest.approx((expected.statistic, expected.pvalue))


def test_cochrans_q_without_a_difference_and_with_bad_input() -> None:
    assert cochran_q([[1, 1], [0, 0]]) == (0.0, 1.0)
    with pytest.raises(ValueError, match="0 and 1"):
        cochran_q([[0.5, 1]])
    with pytest.raises(ValueError, match="two candidates"):
        cochran_q([[1], [0]])

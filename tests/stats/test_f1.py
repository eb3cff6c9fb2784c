"""Macro F1 against scikit-learn, its swap test against enumeration, its slope against a flipped answer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import f1_score

from optimizer.stats.f1 import Counts, f1_difference, f1_slope, macro_f1


def counts(gold: list[int], said: list[int]) -> Counts:
    rows = [(sum(g == s == c for g, s in zip(gold, said, strict=True)), gold.count(c), said.count(c)) for c in (0, 1)]
    return Counts(*rows[0], *rows[1])


@pytest.mark.parametrize("seed", range(20))
def test_macro_f1_is_that_of_scikit_learn_with_abstentions_as_a_third_answer(seed: int) -> None:
    generator = np.random.default_rng(seed)
    gold, said = generator.integers(0, 2, 40).tolist(), generator.integers(-1, 2, 40).tolist()
    expected = f1_score(gold, said, labels=[0, 1], average="macro", zero_division=0)
    assert float(macro_f1(np.array(counts(gold, said)))) == pytest.approx(expected)


def test_a_class_that_is_nowhere_counts_nothing() -> None:
    assert float(macro_f1(np.array(counts([0, 0], [0, 0])))) == 0.5
    assert float(macro_f1(np.zeros(6))) == 0.0


def test_the_slope_is_what_one_mended_answer_of_each_class_brings() -> None:
    gold, said = [0] * 10 + [1] * 30, [0] * 4 + [1] * 6 + [1] * 20 + [0] * 10
    before = float(macro_f1(np.array(counts(gold, said))))
    first, second = f1_slope(counts(gold, said))
    assert float(macro_f1(np.array(counts(gold, [0] * 5 + said[5:])))) - before == pytest.approx(first)
    assert float(macro_f1(np.array(counts(gold, [*said[:30], 1, *said[31:]])))) - before == pytest.approx(second)
    assert first > second  # the rarer class weighs more


def test_the_p_is_the_share_of_all_exchanges_that_differ_as_much() -> None:
    generator = np.random.default_rng(3)
    gold, before = generator.integers(0, 2, 24), generator.integers(0, 2, 24)
    after = np.where(generator.random(24) < 0.7, gold, before)
    clusters = [f"c{index // 3}" for index in range(24)]
    found = f1_difference(gold.tolist(), before.tolist(), after.tolist(), clusters)

    def score(said: np.ndarray) -> float:
        return float(f1_score(gold, said, labels=[0, 1], average="macro"))

    observed, extreme = abs(score(after) - score(before)), 0
    for swaps in itertools.product((False, True), repeat=8):
        swapped = np.repeat(swaps, 3)
        one, other = np.where(swapped, after, before), np.where(swapped, before, after)
        extreme += abs(score(one) - score(other)) >= observed - 1e-12
    assert found.difference == pytest.approx(score(after) - score(before))
    assert found.p == pytest.approx(extreme / 2**8, abs=0.012)
    assert found.low < found.difference < found.high


def test_equal_answers_are_no_difference() -> None:
    found = f1_difference([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 1], ["a", "a", "b", "b"])
    assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)

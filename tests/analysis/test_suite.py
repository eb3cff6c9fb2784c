"""Readings of a suite on constructed scores whose answers are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optimizer.analysis.suite import Reading, Scores, compare_suite, read_interval
from optimizer.stats.multiplicity import holm


def scores(name: str, wins: int, losses: int, ties: int, size: int = 1, unanswered: int = 0) -> Scores:
    """Items that the panel alone, the reference alone, or both have right, `size` to a cluster; then some without an answer."""
    outcomes = [(1.0, 0.0)] * wins + [(0.0, 1.0)] * losses + [(1.0, 1.0)] * ties
    ids = [f"{name}:{n}" for n in range(len(outcomes) + unanswered)]
    answered = ids[: len(outcomes)]
    return Scores(
        name,
        f"run-{name}",
        {item: panel for item, (panel, _) in zip(answered, outcomes, strict=True)},
        {item: reference for item, (_, reference) in zip(answered, outcomes, strict=True)},
        {item: f"{name}\n{n // size}" for n, item in enumerate(ids)},
    )


def read(*sets: Scores) -> list[tuple[Reading, Reading | None]]:
    return [(row.reading, row.corrected) for row in compare_suite(sets, "single").rows]


def test_a_gain_a_loss_and_neither_are_told_apart_before_and_after_correction() -> None:
    found = read(scores("up", 20, 0, 40), scores("down", 0, 20, 40), scores("same", 5, 5, 50), scores("idle", 0, 0, 60))
    gain, loss, neither = Reading.GAIN, Reading.LOSS, Reading.INCONCLUSIVE
    assert found == [(gain, gain), (loss, loss), (neither, neither), (neither, neither)]


def test_holm_takes_back_a_gain_that_one_of_several_data_sets_shows() -> None:
    """Seven wins to none: p = 2/2^7 = .0156, times five data sets .078."""
    lone = scores("lone", 7, 0, 53)
    assert read(lone) == [(Reading.GAIN, Reading.GAIN)]
    row = compare_suite([lone, *(scores(f"flat{n}", 3, 3, 54) for n in range(4))], "single").rows[0]
    assert row.difference.p == pytest.approx(2 / 2**7)
    assert row.p_holm == pytest.approx(5 * 2 / 2**7)
    assert (row.reading, row.corrected) == (Reading.GAIN, Reading.INCONCLUSIVE)


def test_the_correction_is_holm_over_the_data_sets_and_nothing_else() -> None:
    found = compare_suite([scores("a", 9, 1, 50), scores("b", 8, 0, 30), scores("c", 4, 9, 47)], "single")
    assert [row.p_holm for row in found.rows] == holm([row.difference.p for row in found.rows])
    assert found.pooled.p_holm is found.pooled.corrected is None


def test_whole_clusters_make_a_gain_inconclusive_that_single_items_show() -> None:
    alone, together = (compare_suite([scores("x", 16, 4, 40, size)], "single").rows[0] for size in (1, 4))
    assert alone.reading is Reading.GAIN
    assert together.difference.clusters == 15
    assert together.reading is Reading.INCONCLUSIVE
    assert (alone.few, together.few) == (False, True)


def test_one_cluster_says_nothing_however_large_the_difference() -> None:
    assert read(scores("x", 10, 0, 0, size=10)) == [(Reading.INCONCLUSIVE, Reading.INCONCLUSIVE)]
    assert read_interval(0.5, 0.5, 1) is Reading.INCONCLUSIVE
    assert read_interval(0.0, 0.5, 50) is Reading.INCONCLUSIVE  # 0 itself is not excluded


def test_missing_items_are_counted_left_out_and_too_many_leave_it_open() -> None:
    few, many = scores("few", 20, 0, 40, unanswered=6), scores("many", 20, 0, 40, unanswered=7)
    found = compare_suite([few, many], "single")
    assert [row.missing for row in found.rows] == [6, 7]
    assert [row.difference.items for row in found.rows] == [60, 60]
    assert [(row.reading, row.corrected) for row in found.rows] == [
        (Reading.GAIN, Reading.GAIN),
        (Reading.INCONCLUSIVE, Reading.INCONCLUSIVE),
    ]


def test_a_data_set_without_any_answer_has_no_figures_and_harms_no_other() -> None:
    found = compare_suite([scores("up", 20, 0, 40), scores("gone", 0, 0, 0, unanswered=30)], "single")
    assert math.isnan(found.rows[1].difference.difference)
    assert found.rows[1].reading is Reading.INCONCLUSIVE
    assert found.mean.benchmarks == 1
    assert found.mean.difference.value == pytest.approx(20 / 60)


def test_pooled_counts_items_alike_and_the_mean_counts_data_sets_alike() -> None:
    found = compare_suite([scores("small", 20, 0, 20), scores("large", 0, 0, 160)], "single")
    assert found.pooled.difference.difference == pytest.approx(20 / 200)
    assert found.pooled.difference.clusters == 200
    assert found.mean.difference.value == pytest.approx((0.5 + 0) / 2)
    assert (found.mean.panel, found.mean.reference) == (pytest.approx(1.0), pytest.approx(0.75))
    assert found.mean.reading is Reading.GAIN


def test_an_item_in_two_data_sets_counts_once_in_the_pooled_row() -> None:
    part = scores("part", 10, 5, 25)
    found = compare_suite([part, Scores("mixture", "run", part.panel, part.reference, part.clusters)], "single")
    assert found.shared == 40
    assert found.pooled.difference == found.rows[0].difference == found.rows[1].difference
    # The same items twice are no more evidence than once.
    one = compare_suite([part], "single").mean
    assert (found.mean.difference, found.mean.p) == (one.difference, one.p)


def test_the_interval_of_the_mean_is_that_of_its_variance() -> None:
    """Independent items: the variance of a mean of means is the sum of the data sets' own, over the square of their number."""
    sets = [scores("a", 60, 20, 120), scores("b", 30, 10, 60)]
    found = compare_suite(sets, "single").mean
    spreads = [np.var([each.panel[item] - each.reference[item] for item in each.panel]) / len(each.panel) for each in sets]
    half = 1.96 * math.sqrt(sum(spreads)) / 2
    assert found.difference.value - found.difference.low == pytest.approx(half, rel=0.08)
    assert found.difference.high - found.difference.value == pytest.approx(half, rel=0.08)


def test_a_suite_needs_a_data_set() -> None:
    with pytest.raises(ValueError, match="at least one"):
        compare_suite([], "single")

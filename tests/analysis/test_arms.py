"""Recall by class, differences, threshold and sight, against counts made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy.stats import norm

from optimizer.analysis.arms import ArmRow, Shift, arm_rows, shifts
from optimizer.analysis.recorded import RecordedPanel
from optimizer.data.item import Task
from optimizer.debate.records import Debate
from tests.analysis.panels import ITEMS, panel_of
from tests.analysis.records import debate


def row(panel: RecordedPanel, name: str) -> ArmRow:
    return next(each for each in arm_rows(panel) if each.name == name)


def shift(panel: RecordedPanel, name: str) -> Shift:
    return next(each for each in shifts(panel) if each.name == name)


def more_yes() -> list[Debate]:
    """In round 1 all personas say yes to 30 of 40 grounded and to 10 of 40 other claims; in round 2 to all and to 20."""
    found = []
    for place, each in enumerate(ITEMS):
        half = place // 2
        first = half < 30 if each.label == "grounded" else half < 10
        second = True if each.label == "grounded" else half < 20
        found.append(debate(each.id, "c", *("yyy" if said else "nnn" for said in (first, second))))
    return found


def test_recall_and_detection_of_a_round_are_those_of_its_counts() -> None:
    panel = panel_of(more_yes())
    first, last = row(panel, "panel after round 1"), row(panel, "panel")
    assert (first.recall["grounded"].value, first.recall["not_grounded"].value) == (0.75, 0.75)
    assert (last.recall["grounded"].value, last.recall["not_grounded"].value) == (1.0, 0.5)
    assert first.detection is not None
    assert first.detection.sensitivity.value == pytest.approx(norm.ppf(30.5 / 41) - norm.ppf(10.5 / 41))
    assert first.detection.criterion.value == pytest.approx(0, abs=1e-9)
    assert row(panel, "skeptic, round 1").accuracy == first.accuracy


def test_a_round_that_says_yes_more_often_moves_the_threshold() -> None:
    found = shift(panel_of(more_yes()), "panel, round 2 minus 1")
    assert (found.items, found.unpaired) == (80, 0)
    assert found.accuracy.value == 0
    assert found.recall["grounded"].value == pytest.approx(0.25)
    assert found.recall["not_grounded"].value == pytest.approx(-0.25)
    assert found.detection is not None
    assert found.detection.criterion.high < 0


def test_controls_are_paired_with_the_panel_and_what_one_side_lacks_is_counted() -> None:
    single = [debate(each.id, "single", "y") for each in ITEMS[:-1]]
    panel = panel_of(more_yes()[1:], controls={"single": single})
    found = shift(panel, "panel minus single")
    assert (found.items, found.unpaired) == (78, 2)
    assert found.recall["grounded"].value == 0
    assert found.recall["not_grounded"].value == pytest.approx((20 - 1) / 39)
    assert row(panel, "single").accuracy.items == 79


def test_repeats_of_an_item_are_averaged() -> None:
    panel = panel_of(
        [debate(ITEMS[0].id, "c", "yyy"), debate(ITEMS[0].id, "c", "nnn", sample=1), debate(ITEMS[1].id, "c", "nnn")]
    )
    found = row(panel, "panel")
    assert (found.accuracy.items, found.accuracy.right) == (2, 1.5)


def test_answers_without_a_vote_are_wrong_and_counted() -> None:
    found = row(panel_of([debate(each.id, "c", "---") for each in ITEMS]), "panel")
    assert found.accuracy.right == 0
    assert found.no_vote == 80


def test_a_debate_that_ended_early_stands_in_later_rounds() -> None:
    panel = panel_of([debate(ITEMS[0].id, "c", "yyy"), debate(ITEMS[2].id, "c", "nnn", "yyy")])
    assert row(panel, "skeptic, round 2").accuracy.right == 2
    assert row(panel, "skeptic, round 1").accuracy.right == 1


def test_with_one_class_detection_is_undefined_and_one_recall_is_empty() -> None:
    grounded = [each for each in ITEMS if each.label == "grounded"]
    found = row(panel_of([debate(each.id, "c", "yyy") for each in grounded], grounded), "panel")
    assert found.detection is not None
    assert math.isnan(found.detection.sensitivity.value)
    assert math.isnan(found.recall["not_grounded"].value)


def test_one_round_has_no_shift_between_rounds() -> None:
    panel = panel_of([debate(each.id, "c", "yyy") for each in ITEMS])
    assert shifts(panel) == []
    assert [each.name for each in arm_rows(panel)] == ["panel", "skeptic, round 1", "advocate, round 1", "expert, round 1"]


def test_questions_have_an_accuracy_and_no_class() -> None:
    questions = [replace(each, task=Task.TEXT) for each in ITEMS]
    found = row(panel_of(more_yes(), questions), "panel")
    assert found.detection is None
    assert found.accuracy.items == 80

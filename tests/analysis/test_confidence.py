"""Confidence of constructed debates: ranking, calibration, one class, none, and from round to round."""

from __future__ import annotations

import math

import pytest
from sklearn.metrics import roc_auc_score

from optimizer.analysis.confidence import CarryRow, ConfidenceRow, carry_rows, confidence_rows
from optimizer.analysis.recorded import RecordedPanel
from optimizer.debate.records import Debate
from tests.analysis.panels import ITEMS, other, panel_of, truth
from tests.analysis.records import debate


def row(panel: RecordedPanel, name: str) -> ConfidenceRow:
    return next(each for each in confidence_rows(panel) if each.name == name)


def carried(panel: RecordedPanel, persona: str = "all personas") -> CarryRow:
    return next(each for each in carry_rows(panel) if each.persona == persona)


def sure(place: int, right: bool, confidence: float | None, rounds: int = 1) -> Debate:
    each = ITEMS[place]
    return debate(each.id, "c", *[(truth(each) if right else other(truth(each))) * 3] * rounds, confidence=confidence)


def test_a_panel_that_is_surer_when_right_has_the_auroc_of_scikit_learn() -> None:
    confidences = [50 + (place * 7) % 40 for place in range(80)]
    right = [confidence > 60 or place % 5 == 0 for place, confidence in enumerate(confidences)]
    panel = panel_of([sure(place, right[place], confidences[place]) for place in range(80)])
    found = row(panel, "skeptic, round 1")
    assert found.auroc.value == pytest.approx(roc_auc_score(right, confidences))
    assert found.auroc.low < found.auroc.value < found.auroc.high
    assert found.answers == 80
    assert row(panel, "all personas, round 1").answers == 240
    assert row(panel, "panel's decision").auroc.value == pytest.approx(found.auroc.value)


def test_a_calibrated_judge_has_no_error_and_an_overconfident_one_the_gap() -> None:
    calibrated = row(panel_of([sure(place, place % 4 > 0, 75) for place in range(80)]), "all personas, round 1")
    assert (calibrated.ece_width, calibrated.mce) == (pytest.approx(0), pytest.approx(0))
    over = row(panel_of([sure(place, place % 4 > 0, 100) for place in range(80)]), "all personas, round 1")
    assert (over.ece_width, over.ece_mass, over.brier.value) == (pytest.approx(0.25), pytest.approx(0.25), pytest.approx(0.25))
    assert [(each.low, each.high, each.answers) for each in over.curve] == [(0.9, 1.0, 240)]


def test_with_one_class_auroc_is_undefined() -> None:
    found = row(panel_of([sure(place, True, 60 + place % 30) for place in range(80)]), "all personas, round 1")
    assert math.isnan(found.auroc.value)
    assert found.right == 1.0


def test_without_confidence_there_is_nothing_and_it_is_counted() -> None:
    panel = panel_of([sure(place, True, None, rounds=2) for place in range(80)])
    found = row(panel, "all personas, round 2")
    assert (found.answers, found.without) == (0, 240)
    assert math.isnan(found.ece_width)
    assert carried(panel).pairs == 0
    assert math.isnan(carried(panel).pearson.value)


def test_the_decision_has_the_mean_confidence_of_those_who_voted_for_it() -> None:
    held = debate(ITEMS[0].id, "c", "yyn", confidence=80)
    assert panel_of([held]).decided(1)[0].confidence == 80
    assert panel_of([debate(ITEMS[0].id, "c", "---")]).decided(1)[0].confidence is None


def test_confidence_that_stays_has_correlation_one_and_one_that_never_varies_none() -> None:
    kept = panel_of([sure(place, True, 50 + place % 40, rounds=2) for place in range(80)])
    assert carried(kept).pearson.value == pytest.approx(1)
    assert carried(kept, "expert").spearman == pytest.approx(1)
    assert carried(kept).rise.value == 0
    constant = panel_of([sure(place, True, 90, rounds=2) for place in range(80)])
    assert carried(constant).pairs == 240
    assert math.isnan(carried(constant).pearson.value)


def test_mean_confidence_by_vote_shows_a_model_that_states_the_chance_of_yes() -> None:
    held = [debate(each.id, "c", truth(each) * 3, confidence=95 if truth(each) == "y" else 5) for each in ITEMS]
    found = row(panel_of(held), "all personas, round 1")
    assert found.by_vote == {"grounded": pytest.approx(0.95), "not_grounded": pytest.approx(0.05)}

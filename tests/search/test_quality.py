"""The quality model on simulated answers whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from optimizer.search.quality import QualityModel

ITEMS = [f"item{number}" for number in range(120)]


def simulated(effects: list[float], seed: int = 0) -> QualityModel:
    """A chain of candidates, each made from the one before, with these effects in log-odds; all on all items."""
    draw = np.random.default_rng(seed)
    difficulty = draw.normal(0, 2, len(ITEMS))
    model, quality, parent = QualityModel(ITEMS), 0.0, None
    for number, effect in enumerate([0.0, *effects]):
        quality += effect
        model.add(f"c{number}", parent)
        right = draw.random(len(ITEMS)) < 1 / (1 + np.exp(difficulty - quality))
        model.observe(f"c{number}", dict(zip(ITEMS, map(float, right), strict=True)))
        parent = f"c{number}"
    model.fit()
    return model


def test_it_finds_the_mode_that_a_general_optimiser_finds() -> None:
    draw = np.random.default_rng(3)
    items = ITEMS[:12]
    scores = (draw.random((3, 12)) < 0.6).astype(float)
    model = QualityModel(items, effect_spread=0.5)
    for number, parent in enumerate([None, "c0", "c0"]):
        model.add(f"c{number}", parent)
        model.observe(f"c{number}", dict(zip(items, scores[number], strict=True)))
    spread = model._difficulty_spread
    model.fit()

    def cost(point: np.ndarray) -> float:
        quality, difficulty = point[:3], point[3:]
        odds = quality[:, None] - difficulty
        likelihood = (scores * odds - np.logaddexp(0, odds)).sum()
        walk = ((quality[1:] - quality[0]) ** 2).sum() / 0.5**2 + quality[0] ** 2 / 9
        return float(-likelihood + 0.5 * (difficulty**2).sum() / spread**2 + 0.5 * walk)

    best = minimize(cost, np.zeros(15), tol=1e-10)
    assert model._quality == pytest.approx(best.x[:3], abs=0.03)  # Newton stops at a step of .02


def test_effects_are_seen_with_their_sign_and_hardly_surer_than_they_are() -> None:
    errors = []
    for seed in range(60):
        model = simulated([1.0, -1.0, 0.0], seed)
        for candidate, effect in (("c1", 1.0), ("c2", -1.0), ("c3", 0.0)):
            evidence = model.evidence(candidate)
            errors.append((evidence.total - effect * evidence.information) / evidence.information**0.5)
    assert abs(np.mean(errors)) < 0.2
    # Difficulties fitted from four answers each make the evidence look surer than it is; the search shrinks for that.
    assert 0.8 < np.std(errors) < 1.45


def test_an_item_that_everybody_gets_right_tells_little() -> None:
    model = QualityModel(ITEMS[:3])
    for number in range(6):
        model.add(f"c{number}", f"c{number - 1}" if number else None)
        model.observe(f"c{number}", {"item0": 1.0, "item1": float(number % 2), "item2": 0.0})
    model.fit()
    information = model.information("c5", ITEMS[:3])
    assert information["item1"] > 2 * max(information["item0"], information["item2"])


def test_what_is_chosen_for_a_challenger_does_not_depend_on_the_answers_of_the_incumbent() -> None:
    def information(own: float) -> dict[str, float]:
        model = QualityModel(ITEMS[:4])
        model.add("seed")
        model.observe("seed", dict.fromkeys(ITEMS[:4], 0.0) | {"item0": own, "item1": 1 - own})
        model.fit()
        return model.information("seed", ITEMS[:4])

    assert information(0.0) == pytest.approx(information(1.0))
    assert len({round(value, 9) for value in information(0.0).values()}) == 1


def test_a_candidate_without_answers_has_no_evidence_and_the_first_no_parent() -> None:
    model = simulated([0.5])
    model.add("new", "c1")
    assert model.evidence("new").information < 1e-3
    with pytest.raises(ValueError, match="no parent"):
        model.evidence("c0")
    assert (model.parent("c1"), model.parent("c0"), model.seen("new"), model.seen("c0")) == ("c0", None, 0, len(ITEMS))


def test_where_children_copy_their_parents_answers_only_differences_count() -> None:
    draw = np.random.default_rng(5)
    right = dict(zip(ITEMS, map(float, draw.random(len(ITEMS)) < 0.6), strict=True))
    model = QualityModel(ITEMS)
    model.add("seed")
    model.observe("seed", right)
    for number in range(6):
        model.add(f"c{number}", "seed")
        model.observe(f"c{number}", {item: right[item] for item in ITEMS[20 * number : 20 * number + 20]})
    model.add("better", "seed")
    lost = [item for item in ITEMS if not right[item]][:5]
    model.observe("better", {item: 1.0 if item in lost else right[item] for item in ITEMS[:60]})
    model.fit()
    totals = [model.evidence(f"c{number}").total for number in range(6)]
    assert model._agreement > 0.7
    assert max(map(abs, totals)) < 0.6
    assert model.evidence("better").total > 1.5


def test_children_are_taken_to_copy_until_enough_answers_can_tell() -> None:
    draw = np.random.default_rng(6)
    model = QualityModel(ITEMS)
    for number in range(3):
        model.add(f"c{number}", f"c{number - 1}" if number else None)
        model.observe(f"c{number}", {item: float(draw.random() < 0.5) for item in ITEMS[:4]})
    model.fit()
    assert model.copies  # four independent answers each tell nothing yet
    for number in range(3):
        model.observe(f"c{number}", {item: float(draw.random() < 0.5) for item in ITEMS[:40]})
    model.fit()
    assert not model.copies

"""Common errors of personas whose correlation is known."""

from __future__ import annotations

import math
from dataclasses import astuple, replace

import pytest

from optimizer.analysis.panels import compare_panels, panel_row
from optimizer.analysis.persona_errors import persona_errors
from optimizer.debate.records import Debate
from tests.analysis.panels import ITEMS, other, panel_of, truth
from tests.analysis.records import debate


def voted(place: int, wrong: tuple[bool, ...]) -> Debate:
    """A one-round debate on an item in which the personas are right or wrong as told."""
    right = truth(ITEMS[place])
    return debate(ITEMS[place].id, "c", "".join(other(right) if bad else right for bad in wrong))


def independent(place: int) -> tuple[bool, ...]:
    """All combinations of the Skeptic's and the Advocate's errors equally often: no correlation. The Expert is never wrong."""
    return (place % 4 < 2, place % 2 == 0, False)


def test_personas_that_always_err_together_have_phi_one() -> None:
    found = persona_errors(panel_of([voted(place, (place % 4 == 0,) * 3) for place in range(80)]))
    assert len(found.pairs) == 3
    for pair in found.pairs:
        assert astuple(pair.figures.phi) == pytest.approx((1, 1, 1))
        assert pair.figures.kappa.value == pytest.approx(1)
        assert pair.both_wrong == 20
        assert pair.figures.lift.value == pytest.approx(4)
    assert found.means[0].phi.value == pytest.approx(1)


def test_independent_personas_have_phi_zero_and_a_constant_one_leaves_it_undefined() -> None:
    found = persona_errors(panel_of([voted(place, independent(place)) for place in range(80)]))
    first, *with_expert = found.pairs
    assert first.figures.phi.value == pytest.approx(0)
    assert first.figures.lift.value == pytest.approx(1)
    assert first.figures.double_fault.value == pytest.approx(0.25)
    assert all(math.isnan(pair.figures.phi.value) for pair in with_expert)
    assert (found.means[0].pairs, found.means[0].undefined) == (3, 2)
    assert found.means[0].phi.value == pytest.approx(0)


def test_an_answer_that_is_no_vote_is_an_error() -> None:
    pair = persona_errors(panel_of([debate(each.id, "c", "--" + truth(each)) for each in ITEMS[:4]])).pairs[0]
    assert pair.both_wrong == 4


def test_one_persona_has_no_pairs_and_no_phi() -> None:
    panel = panel_of([debate(each.id, "c", truth(each)) for each in ITEMS])
    assert persona_errors(panel).pairs == persona_errors(panel).means == ()
    row = panel_row(panel)
    assert math.isnan(row.first.phi.value)
    assert row.first.oracle.value == 1.0


def test_samples_of_the_same_model_stand_beside_the_personas() -> None:
    samples = [debate(each.id, "self-consistency", truth(each) * 3) for each in ITEMS[:40]]
    samples += [debate(each.id, "self-consistency", other(truth(each)) * 3) for each in ITEMS[40:]]
    found = persona_errors(panel_of([voted(p, independent(p)) for p in range(80)], controls={"self-consistency": samples}))
    assert found.means[-1].name.startswith("samples of the same model")
    assert found.means[-1].phi.value == pytest.approx(1)


def test_diversity_lowers_phi_and_raises_the_oracle_against_the_first_panel() -> None:
    copies = panel_of([voted(place, (place % 2 == 0,) * 3) for place in range(80)], name="copies")
    diverse = panel_of([voted(place, independent(place)) for place in range(80)], name="diverse")
    found = compare_panels([copies, diverse])
    assert [row.first.oracle.value for row in found.rows] == [0.5, 1.0]
    assert found.rows[1].last.best == "expert"
    difference = found.differences[0]
    assert (difference.items, difference.unpaired) == (80, 0)
    assert difference.phi_last.value == pytest.approx(-1)
    assert difference.oracle_last.value == pytest.approx(0.5)
    assert difference.accuracy.value == pytest.approx(0.75 - 0.5)


def test_panels_on_other_items_have_no_difference_and_items_that_changed_are_others() -> None:
    first = panel_of([voted(place, independent(place)) for place in range(40)])
    second = panel_of([voted(place, independent(place)) for place in range(40, 80)])
    apart = compare_panels([first, second]).differences[0]
    assert (apart.items, apart.unpaired) == (0, 80)
    assert math.isnan(apart.accuracy.value)
    assert math.isnan(apart.phi_last.value)
    changed = panel_of(first.debates, [replace(each, claim="Another.") if each is ITEMS[0] else each for each in ITEMS])
    assert compare_panels([first, changed]).differences[0].items == 39

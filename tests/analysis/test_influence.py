"""Flips, moves and deciding votes in debates whose course is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from optimizer.analysis.influence import FlipRow, MoveRow, PivotRow, flips, moves, pivots
from optimizer.analysis.recorded import RecordedPanel
from optimizer.data.item import Item
from tests.analysis.panels import ITEMS, panel_of
from tests.analysis.records import debate

GROUNDED = [each for each in ITEMS if each.label == "grounded"]


def held(*courses: Sequence[str], items: Sequence[Item] = GROUNDED, **protocol: object) -> RecordedPanel:
    """A debate of each course on grounded items, so that y is right."""
    return panel_of([debate(each.id, "c", *course) for each, course in zip(items, courses, strict=False)], **protocol)


def flip(panel: RecordedPanel, judge: str, number: int = 2) -> FlipRow:
    return next(row for row in flips(panel) if (row.judge, row.round) == (judge, number))


def move(panel: RecordedPanel, receiver: str, source: str) -> MoveRow:
    return next(row for row in moves(panel) if (row.receiver, row.source) == (receiver, source))


def pivot(panel: RecordedPanel, persona: str) -> PivotRow:
    return next(row for row in pivots(panel).rows if row.persona == persona)


def test_corrections_and_corruptions_are_counted_for_each_persona_and_the_panel() -> None:
    panel = held(("nyy", "yyy"), ("ynn", "nnn"), ("nny", "yyy"), ("yyy", "yyy"), ("nnn", "nnn"))
    skeptic = flip(panel, "skeptic")
    assert (skeptic.corrected, skeptic.corrupted, skeptic.kept_right, skeptic.kept_wrong) == (2, 1, 1, 1)
    assert skeptic.changed == skeptic.to_peer == 3
    assert skeptic.net.value == pytest.approx(1 / 5)
    panel_row = flip(panel, "panel")
    assert (panel_row.corrected, panel_row.corrupted) == (1, 0)


def test_a_change_to_what_nobody_held_is_alone_and_a_lost_vote_is_neither() -> None:
    panel = held(("nnn", "ynn"), ("yyy", "-yy"))
    row = flip(panel, "skeptic")
    assert (row.changed, row.alone, row.to_peer) == (2, 1, 0)
    assert (row.corrected, row.corrupted) == (1, 1)


def test_who_moved_whom_is_shared_among_peers_that_agree() -> None:
    panel = held(("nyy", "yyy"), ("nyn", "yyn"), ("nyn", "nyn"))
    towards_advocate, towards_expert = move(panel, "skeptic", "advocate"), move(panel, "skeptic", "expert")
    assert (towards_advocate.disagreed, towards_advocate.moved) == (3, 2)
    assert towards_advocate.rate == pytest.approx(2 / 3)
    assert towards_advocate.credit == pytest.approx(1.5)
    assert (towards_expert.disagreed, towards_expert.moved, towards_expert.credit) == (1, 1, 0.5)
    assert (towards_advocate.corrected, towards_advocate.corrupted) == (2, 0)
    assert move(panel, "advocate", "skeptic").moved == 0


def test_moves_add_up_over_rounds_and_early_endings_add_nothing() -> None:
    panel = held(("nyy", "yyy", "nyy"), ("yyy",))
    assert flip(panel, "skeptic", 3).corrupted == 1
    assert flip(panel, "skeptic", 3).answers == 1
    assert flip(panel, "skeptic", 3).alone == 1
    assert move(panel, "skeptic", "advocate").disagreed == 1


def test_who_hears_nobody_is_moved_by_nobody() -> None:
    panel = held(("nyy", "yyy"), visibility="none")
    assert all(row.disagreed == 0 for row in moves(panel))
    assert (flip(panel, "skeptic").to_peer, flip(panel, "skeptic").alone) == (0, 1)
    assert math.isnan(move(panel, "skeptic", "advocate").rate)


def test_in_sequence_a_persona_is_moved_by_what_was_said_just_before() -> None:
    """The Advocate holds n in round 1 and y in round 2, before the Expert speaks."""
    course = ("nnn", "yyy")
    in_turn, at_once = held(course, turns="sequential"), held(course)
    assert move(in_turn, "expert", "advocate").moved == 1
    assert move(at_once, "expert", "advocate").moved == 0
    assert flip(at_once, "expert").alone == 1


def test_one_round_has_no_flips_and_no_moves() -> None:
    panel = held(("nyy",), ("yyy",))
    assert flips(panel) == []
    assert all(row.disagreed == 0 for row in moves(panel))


def test_in_a_split_decision_each_of_the_majority_is_pivotal_and_the_other_outvoted() -> None:
    panel = held(("yyn",), ("nny",), ("yyy",))
    assert pivot(panel, "skeptic") == PivotRow("skeptic", 2, 1, 0, 0)
    assert pivot(panel, "expert") == PivotRow("expert", 0, 0, 2, 1)
    found = pivots(panel)
    assert (found.debates, found.unanimous, found.split, found.none) == (3, 1, 2, 0)
    assert found.rules == (("majority", 3),)


def test_a_veto_is_the_skeptics_and_a_debate_without_a_decision_counts_apart() -> None:
    veto, none = held(("ny-",)), held(("yn-",))
    assert pivots(veto).rules == (("veto", 1),)
    assert pivot(veto, "skeptic").pivotal == 1
    assert pivot(veto, "advocate") == PivotRow("advocate", 0, 0, 1, 1)
    assert pivot(veto, "expert").pivotal == 1  # its vote for y would have made a majority
    assert pivots(none).none == 1


def test_the_last_speaker_is_pivotal_where_it_alone_decides() -> None:
    panel = held(("nny",), aggregator="last_speaker")
    panel = replace(
        panel, debates=tuple(replace(each, decision=GROUNDED[0].label, rule="last speaker") for each in panel.debates)
    )
    assert [pivot(panel, name).pivotal for name in ("skeptic", "advocate", "expert")] == [0, 0, 1]

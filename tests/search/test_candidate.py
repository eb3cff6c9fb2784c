"""A proposal is checked before it costs a call, and a reflection is never adopted by accident."""

from __future__ import annotations

import pytest

from optimizer.search.candidate import Candidate, objection
from optimizer.search.reflection import read_instruction
from tests.conftest import make_items


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("Judge  the claim.", "is the current text"),
        ("word " * 200, "more than the cap"),
        ("Use this:\n```\ncode", "fence that is never closed"),
        ('{"instruction": "x"}', "is JSON"),
        ("Judge {claim} well.", "placeholder"),
        ("Remember that claim number 3 is false evidence for case 1 and act.", "copies from a train item"),
    ],
)
def test_a_worthless_proposal_is_refused_with_the_reason(text: str, problem: str) -> None:
    assert problem in objection(text, "Judge the claim.", 100, make_items(4))


def test_a_fresh_instruction_is_admitted() -> None:
    assert objection("Compare each number with the evidence.", "Judge the claim.", 100, make_items(4)) == ""


def test_equal_texts_are_one_candidate_however_they_came_about() -> None:
    seed = Candidate({"skeptic": "a", "expert": "b"})
    child = seed.with_text("skeptic", "c", "reflection:1")
    again = Candidate({"expert": "b", "skeptic": "c"}, "alternative:x")
    assert child.id == again.id != seed.id
    assert child.parent == seed.id


@pytest.mark.parametrize(
    ("text", "finish", "problem"),
    [
        ("<instruction>Do this", "length", "cut off"),
        ("Do this", "stop", "no instruction"),
        ('{"diagnosis": "x", "instruction": "Do th', "length", "cut off"),
        ('{"diagnosis": "x", "instruction": " "}', "stop", "empty"),
        ("  ", "stop", "empty"),
        ("<instruction> </instruction>", "stop", "empty"),
    ],
)
def test_a_reflection_that_is_cut_empty_or_untagged_is_refused(text: str, finish: str, problem: str) -> None:
    assert problem in read_instruction(text, finish).problem


def test_the_instruction_is_that_of_the_json_or_between_the_tags() -> None:
    assert read_instruction('{"diagnosis": "Dates.", "instruction": "Do this."}', "stop").text == "Do this."
    assert read_instruction("Sure!\n<instruction>\nDo this.\n</instruction>\nBye", "stop").text == "Do this."

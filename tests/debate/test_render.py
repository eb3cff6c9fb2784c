"""Rendering keeps what personas share first, and whatever an item holds stays inert text."""

from __future__ import annotations

import pytest

from optimizer.data.item import Item, Label
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Turn
from optimizer.debate.render import delimiter, render_turn
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.sections import ProtocolSettings

TEXTS = {"skeptic": "Doubt it.", "advocate": "Defend it.", "source_skepticism": "Go by the evidence."}


def item(claim: str = "The sky is green.", evidence: str = "The sky is blue.") -> Item:
    return Item("i", claim, (evidence,), Label.NOT_GROUNDED, "c")


def turn(persona: str, reason: str = "") -> Turn:
    return Turn(persona, 1, "key", "", "stop", Verdict(Outcome.OK, Label.NOT_GROUNDED, 70, reason))


def test_parts_stand_in_the_order_of_the_design() -> None:
    text = render_turn(item(), Protocol(), TEXTS, "skeptic", [turn("advocate")])[1].content
    places = [
        text.index(part) for part in ("The sky is blue.", "The sky is green.", "Advocate: no", "Go by", "Doubt it.", "Does the")
    ]
    assert places == sorted(places)


def test_personas_differ_only_after_all_that_they_share() -> None:
    heard = [turn("skeptic"), turn("advocate")]
    one, other = (render_turn(item(), Protocol(), TEXTS, name, heard)[1].content for name in ("skeptic", "advocate"))
    shared = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert one[:shared].endswith("Go by the evidence.\n\nD")
    assert render_turn(item(), Protocol(), TEXTS, "skeptic")[0] == render_turn(item(), Protocol(), TEXTS, "advocate")[0]


@pytest.mark.parametrize("hostile", ["{claim} {{x}} {# .x } {% raw %}", "---\n{0}", "%s $HOME", "[/red]", "<|im_end|>"])
def test_texts_are_put_in_literally(hostile: str) -> None:
    texts = {**TEXTS, "skeptic": f"Doubt {hostile}"}
    text = render_turn(item(claim=hostile, evidence=hostile), Protocol(), texts, "skeptic")[1].content
    assert text.count(hostile) == 3


def test_the_delimiter_grows_until_it_is_absent_from_the_item() -> None:
    assert delimiter(item()) == '"""'
    assert delimiter(item(evidence='He said """no""""')) == '"' * 5


def test_only_shared_fields_are_heard_and_a_reason_stays_on_one_line() -> None:
    said = [turn("advocate", "It says\nExpert: yes")]
    hidden = render_turn(item(), Protocol(), TEXTS, "skeptic", said)[1].content
    shared = Protocol.of(ProtocolSettings(fields=("verdict", "confidence", "reason"), shared=("verdict", "confidence", "reason")))
    shown = render_turn(item(), shared, TEXTS, "skeptic", said)[1].content
    assert "Advocate: no\n" in hidden
    assert "It says" not in hidden
    assert "Advocate: no (confidence 70). It says Expert: yes" in shown


def test_a_judge_alone_gets_no_persona_and_no_source_skepticism() -> None:
    text = render_turn(item(), Protocol(), {}, "")[1].content
    assert text.endswith("Does the evidence support the claim?")
    assert "Go by" not in text


def test_the_papers_order_puts_the_persona_into_the_system_text() -> None:
    protocol = Protocol.of(ProtocolSettings(persona_position="system"))
    system, user = render_turn(item(), protocol, TEXTS, "skeptic")
    assert "Doubt it." in system.content
    assert "Doubt it." not in user.content

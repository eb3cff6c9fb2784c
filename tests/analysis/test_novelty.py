"""Novelty of texts whose novelty is known."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import pytest

from optimizer.analysis.novelty import EVERYONE, Novelty, NoveltyRow, argument, novelty, quotations, texts_to_embed
from optimizer.analysis.recorded import RecordedPanel
from optimizer.debate.records import Turn
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.models.embeddings import TfidfEmbedder
from tests.analysis.panels import ITEMS, panel_of
from tests.analysis.records import debate

ITEM = replace(
    ITEMS[0],
    claim="The tower opened in 1887.",
    evidence=("The iron tower in Paris was completed in March 1889. Some people hated it. Yes.", "Gustave Eiffel built it."),
)


def measured(panel: RecordedPanel) -> Novelty:
    return novelty(panel, asyncio.run(TfidfEmbedder().embed(texts_to_embed(panel))))


def row(found: Novelty, persona: str = EVERYONE, number: int = 2) -> NoveltyRow:
    return next(each for each in found.rows if (each.persona, each.round) == (persona, number))


def talk(*rounds: dict[str, str], place: int = 0, count: int = 1) -> RecordedPanel:
    """Debates in which the personas give these reasons, round by round."""
    reasons = {(persona, n): text for n, said in enumerate(rounds, 1) for persona, text in said.items()}
    items = [replace(ITEM, id=each.id, cluster=each.cluster) for each in ITEMS[place : place + count]]
    return panel_of([debate(each.id, "c", *["yyy"] * len(rounds), reasons=reasons) for each in items], items)


FIRST = {
    "skeptic": "The year differs. The claim says something else.",
    "advocate": "Both name the monument.",
    "expert": "Dates must match exactly here.",
}


def test_who_repeats_itself_says_nothing_new() -> None:
    found = row(measured(talk(FIRST, FIRST)))
    assert (found.turns, found.chain.median, found.own.median, found.everyone.median) == (3, 0, 0, 0)


def test_who_copies_a_peer_is_new_to_itself_and_not_to_the_panel() -> None:
    copied = {"skeptic": FIRST["advocate"], "advocate": FIRST["expert"], "expert": FIRST["skeptic"]}
    found = row(measured(talk(FIRST, copied)))
    assert found.chain.median > 0.5
    assert found.own.median > 0.5
    assert found.everyone.median == found.everyone.high == 0


def test_who_says_something_else_altogether_is_new_to_everybody() -> None:
    new = {"skeptic": "Ticket prices rose sharply afterwards.", **{name: FIRST[name] for name in ("advocate", "expert")}}
    found = measured(talk(FIRST, new))
    skeptic = row(found, "skeptic")
    assert skeptic.chain.median == skeptic.own.median == skeptic.everyone.median == 1.0
    assert row(found, "advocate").own.median == 0
    assert found.between.median > 0.5


def test_step_is_the_mean_over_sentences_of_the_distance_to_the_nearest() -> None:
    """One sentence is said again, in the other no word is: half of the text is new."""
    second = {"skeptic": "The year differs. Ticket prices rose sharply afterwards."}
    assert row(measured(talk({"skeptic": FIRST["skeptic"]}, second))).own.median == pytest.approx(0.5)


def test_the_third_round_is_measured_against_all_before_and_its_chain_against_the_second() -> None:
    second = {"skeptic": "Ticket prices rose sharply afterwards."}
    third = {"skeptic": FIRST["skeptic"]}
    found = row(measured(talk({"skeptic": FIRST["skeptic"]}, second, third)), "skeptic", 3)
    assert found.chain.median == 1.0
    assert found.own.median == 0.0


def test_quartiles_are_over_turns() -> None:
    new = {"skeptic": "Ticket prices rose sharply afterwards.", "advocate": FIRST["advocate"], "expert": FIRST["expert"]}
    found = row(measured(talk(FIRST, new)))
    assert (found.own.low, found.own.median, found.own.high) == (0, 0, pytest.approx(0.5))
    assert row(measured(talk(FIRST, new, count=4))).turns == 12


def test_quotations_are_runs_of_words_of_the_evidence_that_the_claim_does_not_have() -> None:
    assert quotations("It says “completed in March 1889.”", ITEM) == frozenset()  # four words
    assert quotations('It says: "was completed in March 1889".', ITEM) == {0}
    assert quotations("The IRON tower, in Paris, fell.", ITEM) == {0}
    assert quotations("He noted: some people hated it!", ITEM) == {1}
    assert quotations("yes, yes", ITEM) == frozenset()
    claimed = replace(ITEM, claim="Gustave Eiffel built it in 1887.")
    assert quotations("Gustave Eiffel built it", claimed) == frozenset()
    assert quotations("Gustave Eiffel built it", ITEM) == {3}


def test_citations_are_new_to_oneself_or_to_everybody() -> None:
    first = {"skeptic": "Some people hated it.", "advocate": "Nothing to say here."}
    second = {"skeptic": "Some people hated it. Gustave Eiffel built it.", "advocate": "Some people hated it."}
    found = measured(talk(first, second))
    assert row(found, "skeptic").citations.value == 1
    assert row(found, "advocate").citations.value == 1
    assert row(found, "advocate").citations_everyone.value == 0
    assert found.quoted == pytest.approx(3 / 4)


def test_without_reasons_novelty_is_undefined() -> None:
    found = measured(panel_of([debate(each.id, "c", "yyy", "yyn") for each in ITEMS]))
    assert found.rows == ()
    assert not found.defined
    assert (found.turns, found.texts) == (480, 0)
    assert math.isnan(found.between.median)


def test_turns_without_a_reason_are_left_out() -> None:
    found = measured(talk(FIRST, {"skeptic": FIRST["skeptic"]}))
    assert row(found).turns == 1
    assert (found.turns, found.texts) == (6, 4)


@pytest.mark.parametrize(
    ("text", "reason", "expected"),
    [
        ('{"verdict": "no", "reason": "It differs."}', "It differs.", "It differs."),
        ('{"verdict": "not supported at all", "confidence": 80}', "", ""),
        ("no", "", ""),
        ("I went through every date and found none.", "", "I went through every date and found none."),
        ("anything", "…", ""),
    ],
)
def test_the_reason_is_measured_else_a_whole_answer_that_is_more_than_a_verdict(text: str, reason: str, expected: str) -> None:
    turn = Turn("skeptic", 1, "key", text, "stop", Verdict(Outcome.OK, reason=reason))
    assert argument(turn) == expected

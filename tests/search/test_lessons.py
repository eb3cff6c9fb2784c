"""What reflection reads: blame on scripted debates with known answers, the bound in tokens, and what is left out."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from optimizer.data.item import Item, Label
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate, Turn
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.search.candidate import Candidate, Rejection, rough_tokens
from optimizer.search.lessons import Lesson, blame, role_map, shown_lessons, transcript
from optimizer.search.reflection import reading

PERSONAS = ("skeptic", "advocate", "expert")
YES, NO = Label.GROUNDED, Label.NOT_GROUNDED
CANDIDATE = Candidate({"skeptic": "Doubt.", "advocate": "Defend.", "expert": "Check.", "source_skepticism": "Trust no one."})


def lesson(name: str, gold: Label, *rounds: str, decision: Label | None) -> Lesson:
    """Rounds as "nyy": the verdicts of skeptic, advocate and expert."""
    turns = [
        Turn(persona, number, "", "", "stop", Verdict(Outcome.OK, YES if said == "y" else NO, reason=f"{persona} thinks so"))
        for number, votes in enumerate(rounds, 1)
        for persona, said in zip(PERSONAS, votes, strict=True)
    ]
    item = Item(name, f"Claim {name}.", ("Some evidence. " * 12,), gold, cluster=name, rationale="It says so.")
    return Lesson(item, Debate(name, "c", 0, tuple(turns), decision, "majority"))


def test_blame_says_who_was_wrong_who_moved_whom_and_where_it_was_lost() -> None:
    swayed = lesson("1", NO, "nyy", "yyy", decision=YES)
    assert blame(Protocol(), swayed, "rule") == [
        "Wrong in round 1: Advocate, Expert.",
        "Wrong in round 2: Skeptic, Advocate, Expert.",
        "Skeptic moved in round 2 to the wrong answer, as Advocate and Expert had said.",
        "Nobody was right at the end.",
    ]
    outvoted = lesson("2", NO, "nyy", "nyy", decision=YES)
    assert blame(Protocol(), outvoted, "rule")[-1] == "The vote lost it: someone was right in the last round."
    talked_out = lesson("3", NO, "nny", "yyy", decision=YES)
    assert blame(Protocol(), talked_out, "rule")[-1] == "The debate lost it: round 1 had decided rightly."
    saved = lesson("4", YES, "nny", "nyy", decision=YES)
    assert "Advocate moved in round 2 to the right answer, as Expert had said." in blame(Protocol(), saved, "rule")
    own_idea = lesson("5", NO, "nnn", "nyn", decision=NO)
    assert "Advocate moved in round 2 to the wrong answer, which nobody had said." in blame(Protocol(), own_idea, "rule")


def test_secret_votes_and_drafts_are_told() -> None:
    split = lesson("1", NO, "nyy", decision=YES)
    ballots = tuple(replace(turn, verdict=Verdict(Outcome.OK, YES)) for turn in split.debate.turns)
    split = replace(split, debate=replace(split.debate, ballots=ballots))
    protocol = Protocol(rounds=1, turns="sequential", contribution="draft", aggregator="ballot")
    assert "Secret votes after it: Skeptic for yes, Advocate for yes, Expert for yes" in transcript(protocol, split, "1", ())
    assert "secret vote" in role_map(protocol, CANDIDATE, "expert")
    assert "proposes a draft" in role_map(protocol, CANDIDATE, "expert")
    tied = lesson("2", YES, "nyy", "nnn", decision=NO)
    tied = replace(
        tied, debate=replace(tied.debate, ballots=tuple(replace(t, verdict=Verdict(Outcome.ABSTAINED)) for t in ballots))
    )
    assert blame(protocol, tied, "ballot")[-1] == "Nobody was right at the end."  # round 1 had decided nothing


def test_the_role_map_has_everybodys_instruction_and_whose_is_improved() -> None:
    text = role_map(Protocol(), CANDIDATE, "expert")
    assert all(f"{name}: {CANDIDATE.texts[key]}" in text for name, key in (("Skeptic", "skeptic"), ("Advocate", "advocate")))
    assert "about other sources: Trust no one." in text
    assert text.endswith("You improve the instruction of the Expert.")


@pytest.mark.parametrize("tokens", [150, 400, 1200])
def test_debates_are_bounded_in_tokens_and_what_is_left_out_is_said(tokens: int) -> None:
    lessons = [lesson(str(number), NO, "nyy", "yyy", decision=YES) for number in range(12)]
    lessons.append(lesson("won", YES, "nyy", "nyy", decision=YES))
    shown = shown_lessons(Protocol(), lessons, tokens, 12, True, "expert")
    mistakes = sum(text.startswith("Mistake") for text in shown)
    assert 1 <= mistakes < 12
    assert shown[-1] == f"({12 - mistakes} more mistakes are left out.)"
    if mistakes > 1:
        assert rough_tokens("\n\n".join(shown[:-1])) <= tokens
    assert sum(text.startswith("Contested") for text in shown) == 1
    assert "Reason of the Skeptic: skeptic thinks so" in shown[-2]


def test_small_models_read_the_short_form_and_everybody_the_rejections_with_their_reasons() -> None:
    lessons = [lesson("1", NO, "nyy", "yyy", decision=YES), lesson("2", YES, "nyy", "nyy", decision=YES)]
    long = " ".join(f"word{number}" for number in range(30))
    rejected = [
        Rejection("expert", "reflection:1", f"Be bold. {long}", "won 1 and lost 3 of 8 items", tried=True),
        Rejection("expert", "reflection:2", "Endless.", "has about 300 tokens, more than the cap of 100"),
    ]
    full, short = (
        "\n".join(astuple(reading(Protocol(), CANDIDATE, "expert", lessons, rejected, 100, full))) for full in (True, False)
    )
    assert f"- Be bold. {long} (won 1 and lost 3 of 8 items)" in full
    assert "- Endless. (has about 300 tokens, more than the cap of 100)" in full
    # Small models copy what they see, so they see little of it.
    assert "- Be bold. word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 ... (won 1" in short
    assert "Endless" not in short
    assert ("Skeptic moved" in full, "Skeptic moved" in short) == (True, False)
    assert ("Contested" in full, "Contested" in short) == (True, False)
    assert "wrong on 1 of 2 claims: 0 times it should have said yes, 1 times no" in short


def test_every_small_reflection_begins_with_other_mistakes_and_in_another_direction() -> None:
    lessons = [lesson(str(number), NO, "yyy", "yyy", decision=YES) for number in range(6)]
    first, second = (reading(Protocol(), CANDIDATE, "expert", lessons, (), 100, False, sample=sample) for sample in (0, 1))
    assert "Claim: Claim 0" in first.debates
    assert second.debates.index("Claim: Claim 4") < second.debates.index("Claim: Claim 0")
    assert first.limits != second.limits
    assert first.limits == reading(Protocol(), CANDIDATE, "expert", lessons, (), 100, False, sample=8).limits


def test_a_single_judge_is_not_called_a_panel() -> None:
    lessons = [lesson("1", NO, "yyy", decision=YES)]
    alone = Candidate({"expert": "Check."})
    for full in (True, False):
        assert reading(Protocol(rounds=1), alone, "expert", lessons, (), 100, full).panel.startswith("One judge")
        assert "panel of 3" in reading(Protocol(), CANDIDATE, "expert", lessons, (), 100, full).panel

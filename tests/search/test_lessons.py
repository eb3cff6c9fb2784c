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


def test_small_reflections_of_a_component_read_other_mistakes_and_get_another_direction_each_turn() -> None:
    lessons = [lesson(str(number), NO, "yyy", "yyy", decision=YES) for number in range(8)]
    turns = [reading(Protocol(), CANDIDATE, "expert", lessons, (), 100, False, turn=turn) for turn in range(9)]
    shown = [{text for text in (f"Claim {number}." for number in range(8)) if text in each.debates} for each in turns]
    assert all(len(claims) == 4 for claims in shown)
    assert len(set.union(*shown)) == 8
    assert len({frozenset(claims) for claims in shown}) > 4
    assert len({each.limits for each in turns[:8]}) == 8
    assert turns[8].limits == turns[0].limits
    assert turns[1] == reading(Protocol(), CANDIDATE, "expert", lessons, (), 100, False, turn=1)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("full", [True, False])
def test_a_single_judge_is_not_called_a_panel(rounds: int, full: bool) -> None:
    item = lesson("1", NO, "yyy", decision=YES)
    turns = tuple(turn for turn in item.debate.turns if turn.persona == "expert")
    alone = [replace(item, debate=replace(item.debate, turns=turns))]
    read = reading(Protocol(rounds=rounds), Candidate({"expert": "Check."}), "expert", alone, (), 100, full)
    assert read.panel.startswith("One judge")
    assert read.record.startswith("The judge was wrong on 1 of 1")
    assert not any(word in "\n".join(astuple(read)) for word in ("panel", "others"))
    assert "panel of 3" in reading(Protocol(rounds=rounds), CANDIDATE, "expert", [item], (), 100, full).panel

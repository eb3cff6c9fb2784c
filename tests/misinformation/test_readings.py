"""Every way of reading a transcript, on transcripts with known answers."""

from __future__ import annotations

import pytest

from optimizer.debate.extract import Extracted, Status
from optimizer.debate.protocol import Protocol
from optimizer.misinformation.answers import read_text, read_vote
from optimizer.misinformation.arms import System
from optimizer.misinformation.readings import Reading, Rule, elected, read_by
from optimizer.misinformation.records import Role
from tests.conftest import make_items
from tests.misinformation.made import NO, YES, debate, samples, uttered

ITEM = make_items(1)[0]


def voting(*drafts: str, **ballots: tuple[str, str]) -> Reading:
    return read_by(debate(drafts, {int(turn[1:]): each for turn, each in ballots.items()}), Rule.VOTING)


def test_the_vote_of_the_third_turn_decides() -> None:
    found = voting("nnn", "nyy", "yyn", t3=("yyn", "yny"))
    assert (found.answer, found.right, found.turn, found.tie) == (YES, True, 3, False)
    assert found.tokens == 9 * 10 + 3 * 10 + 3 * 10


def test_identical_final_answers_are_one_and_need_no_vote() -> None:
    found = voting("nnn", "nyy", "yyn", t3=("yyy", ""))
    assert (found.answer, found.turn, found.tokens) == (YES, 3, 120)


def test_what_cannot_be_read_is_not_on_the_ballot() -> None:
    assert voting("???", "???", "???", t3=("?y!", "")).answer == YES


def test_a_tie_is_no_decision_and_the_debate_goes_on() -> None:
    found = voting("yn", "yn", "yn", "yn", t3=("yn", "yn"), t4=("yn", "nn"))
    assert (found.answer, found.right, found.turn) == (NO, False, 4)
    assert found.tokens == 8 * 10 + 8 * 10


def test_a_tie_after_the_last_turn_is_wrong() -> None:
    found = voting("yn", "yn", "yn", "yn", "yn", t3=("yn", "yn"), t4=("yn", "ny"), t5=("yn", "yn"))
    assert (found.answer, found.right, found.tie, found.status) == ("", False, True, Status.PARSED)


def test_no_readable_final_answer_is_wrong_and_says_why() -> None:
    found = voting("??", "??", "??", t3=("??", ""))
    assert (found.right, found.tie, found.status) == (False, False, Status.NONE)
    assert voting("??", "??", "??", t3=("!?", "")).status is Status.AMBIGUOUS


def test_votes_that_cannot_be_read_do_not_count() -> None:
    votes = [uttered(Role.VOTE, 3, slot, letter) for slot, letter in enumerate("y??")]
    assert elected(votes) == YES
    assert elected(votes[1:]) is None
    assert elected([]) is None


def test_consensus_is_what_the_last_speaker_holds_in_the_end() -> None:
    transcript = debate(["nnn", "nny", "yyy", "nnn"], {3: ("yyn", "yyn")}, agreed=3)
    found = read_by(transcript, Rule.CONSENSUS)
    assert (found.answer, found.turn, found.tokens) == (YES, 3, 90)
    assert read_by(debate(["yyn"]), Rule.CONSENSUS).right is False
    assert read_by(debate(["yy?"]), Rule.CONSENSUS).status is Status.NONE


@pytest.mark.parametrize(
    ("letters", "answer", "strict"),
    [
        ("yyn", YES, YES),
        ("nnn", NO, NO),
        ("n?y", NO, ""),
        ("?yy", YES, YES),
        ("?yn", "", ""),
        ("y??", YES, ""),
        ("yynn?", YES, ""),
    ],
)
def test_samples_decide_by_majority_else_the_first_or_nothing(letters: str, answer: str, strict: str) -> None:
    transcript = samples(letters)
    assert read_by(transcript, Rule.MAJORITY).answer == answer
    assert read_by(transcript, Rule.STRICT).answer == strict


def test_fifteen_samples_need_eight() -> None:
    assert read_by(samples("y" * 8 + "n" * 7, System.SC15), Rule.STRICT).answer == YES
    assert read_by(samples("y" * 7 + "n" * 7 + "?", System.SC15), Rule.STRICT) == Reading("", False, Status.PARSED, True, 1, 150)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is so. Answer: yes", Extracted(Status.PARSED, YES)),
        ("Answer: no.", Extracted(Status.PARSED, NO)),
        ("Answer: yes. Answer: no", Extracted(Status.AMBIGUOUS)),
        ("Answer: yes or no", Extracted(Status.AMBIGUOUS)),
        ("Let us see.", Extracted(Status.NONE)),
        ("", Extracted(Status.NONE)),
        ("I'm sorry, I cannot help with that.", Extracted(Status.NONE)),
    ],
)
def test_a_claims_answer_is_parsed_ambiguous_or_none(text: str, found: Extracted) -> None:
    assert read_text(text, ITEM, Protocol()) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2", Extracted(Status.PARSED, YES)),
        ("I vote for 1.", Extracted(Status.PARSED, NO)),
        ("1. no", Extracted(Status.PARSED, NO)),
        ("yes", Extracted(Status.PARSED, YES)),
        ("Answer: yes", Extracted(Status.PARSED, YES)),
        ("1 or 2", Extracted(Status.AMBIGUOUS)),
        ("12", Extracted(Status.NONE)),
        ("-1", Extracted(Status.NONE)),
        ("1.5", Extracted(Status.NONE)),
        ("neither", Extracted(Status.NONE)),
    ],
)
def test_a_ballot_names_one_option(text: str, found: Extracted) -> None:
    assert read_vote(text, [NO, YES], ITEM, Protocol()) == found

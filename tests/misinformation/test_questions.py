"""Questions with choices, numbers and texts; the reader of questions itself is another module's, and stands in here."""

from __future__ import annotations

import re

import pytest

from optimizer.data.item import Item, Task
from optimizer.data.passages import JudgeFlags, Passage, PassageKind
from optimizer.debate.extract import Extracted, Status
from optimizer.debate.protocol import Protocol
from optimizer.debate.render import answer_words
from optimizer.misinformation import answers
from optimizer.misinformation.answers import intended, is_right, names_answer, read_vote
from optimizer.misinformation.prompts import Agent, Script

CHOICE = Item("q", "Who lost?", (), None, "q", task=Task.CHOICE, choices=("Anna", "Bert"), answers=("B",))
TEXT = Item("t", "Where is it?", (), None, "t", task=Task.TEXT, answers=("Bern", "Berne"))


@pytest.fixture(autouse=True)
def reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last line's answer, a letter for choices and lower case for texts."""

    def read(text: str, item: Item) -> Extracted:
        said = re.sub(r".*Answer:", "", text, flags=re.DOTALL).strip()
        if item.task is Task.CHOICE:
            return Extracted(Status.PARSED, said) if said in "ABCD" and said else Extracted(Status.NONE)
        return Extracted(Status.PARSED, said.lower()) if said else Extracted(Status.NONE)

    monkeypatch.setattr(answers, "extract", read)
    monkeypatch.setattr(answers, "question_is_right", lambda answer, item: answer in [each.lower() for each in item.answers])


def passage(item: Item, kind: PassageKind, text: str = "Anna lost.", answer: str = "") -> Passage:
    return Passage(item.id, kind, "plain", "tests", text, answer=answer)


def test_a_false_passage_speaks_for_the_answer_that_it_names_or_the_only_other_choice() -> None:
    assert intended(passage(CHOICE, PassageKind.FALSE), CHOICE) == "A"
    assert intended(passage(CHOICE, PassageKind.TRUE), CHOICE) == "B"
    assert intended(passage(TEXT, PassageKind.FALSE, answer="Basel"), TEXT) == "basel"
    assert intended(passage(TEXT, PassageKind.FALSE), TEXT) == ""
    assert intended(passage(TEXT, PassageKind.FILLER), TEXT) == ""


def test_naming_an_answer_verbatim_is_read_from_judges_or_whole_words() -> None:
    assert names_answer(passage(CHOICE, PassageKind.FALSE, "Anna lost."), CHOICE)
    assert not names_answer(passage(CHOICE, PassageKind.FALSE, "Annabel lost."), CHOICE)
    flags = {name: JudgeFlags(True, True, name == "one") for name in ("one", "two")}
    judged = Passage("q", PassageKind.FALSE, "plain", "tests", "Anna lost.", flags)
    assert not names_answer(judged, CHOICE)


def test_only_a_read_answer_is_right() -> None:
    assert is_right(Extracted(Status.PARSED, "bern"), TEXT)
    assert not is_right(Extracted(Status.AMBIGUOUS, "bern"), TEXT)


@pytest.mark.parametrize(("text", "answer"), [("2", "A"), ("2. A. Anna", "A"), ("1. B. Bert", "B"), ("Answer: B", "B")])
def test_a_ballot_of_choices_is_read_by_number_line_or_letter(text: str, answer: str) -> None:
    assert read_vote(text, ["B", "A"], CHOICE, Protocol()) == Extracted(Status.PARSED, answer)


def test_a_choice_is_shown_with_its_text_and_a_claim_with_the_protocols_word() -> None:
    assert answer_words("B", CHOICE, Protocol()) == "B. Bert"
    assert answer_words("bern", TEXT, Protocol()) == "bern"


def test_a_question_is_put_with_its_choices_and_asks_for_a_letter() -> None:
    system, user = Script(CHOICE, Protocol(), 3, 20, "Be wary.").draft(Agent("agent_1", "You are Agent 1."), ())
    assert system.content == "You are one of 3 agents who answer a question together.\nBe wary."
    assert "Choices:\nA. Anna\nB. Bert" in user.content
    assert user.content.endswith("end with the line Answer: LETTER")
    assert "Evidence" not in user.content
    first = Script(CHOICE, Protocol(), 3, 20, answer_first=True).draft(Agent("agent_1"), ())[1].content
    assert first.endswith("Begin with the line Answer: LETTER\nThen give your reason in at most 20 words.")


def test_what_a_passage_holds_stays_text_inside_a_fence_that_it_lacks() -> None:
    agent = Agent("agent_1", "You are Agent 1.", 'He said """stop""" {claim} {{ x }}')
    text = Script(CHOICE, Protocol(), 3, 20).draft(agent, ())[1].content
    assert '""""\nHe said """stop""" {claim} {{ x }}\n""""' in text

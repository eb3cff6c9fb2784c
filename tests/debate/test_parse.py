"""Answers are read right however they are dressed, and never guessed."""

from __future__ import annotations

import pytest

from optimizer.data.item import Label
from optimizer.debate.parse import parse_answer
from optimizer.debate.verdict import Outcome

YES, NO = Label.GROUNDED, Label.NOT_GROUNDED
OK, UNPARSED = Outcome.OK, Outcome.UNPARSED

COMPLETE = [
    ("plain JSON", '{"verdict": "grounded", "confidence": 80, "reason": "Stated."}', YES, 80),
    ("fenced JSON", '```json\n{"verdict": "not_grounded", "confidence": 70}\n```', NO, 70),
    ("JSON without a fence end", '```json\n{"verdict": "yes", "confidence": 70}', YES, 70),
    ("prose before", 'My verdict follows.\n{"verdict": "grounded", "confidence": 91}', YES, 91),
    ("prose with braces after", '{"verdict": "grounded", "confidence": 91}\n\nMore {details} on request.', YES, 91),
    ("Python literals", "{'verdict': 'grounded', 'confidence': 60, 'reason': 'It\\'s there', 'final': True}", YES, 60),
    ("Python None", "{'verdict': 'no', 'confidence': None}", NO, None),
    ("mixed quotes and true", "{'verdict': 'no', 'sure': true}", NO, None),
    ("thinking, then JSON", '<think>maybe {"verdict": "no"}?</think>{"verdict": "yes", "confidence": 75}', YES, 75),
    ("two thoughts", '<think>a</think><think>{"verdict":"no"}</think>{"verdict": "yes"}', YES, None),
    ("closing think tag alone", 'so {"verdict": "no"} is wrong</think>{"verdict": "yes"}', YES, None),
    ("closing think tag, prose", "Verdict: grounded would be rash </think> Verdict: not grounded", NO, None),
    ("think tag in a string", '{"verdict": "no", "confidence": 33, "reason": "it has <think> as text"}', NO, 33),
    ("trailing comma", '{"verdict": "grounded", "confidence": 61,}', YES, 61),
    ("smart quotes", "{“verdict”: “grounded”, “confidence”: 61}", YES, 61),
    ("unquoted inner quotes", '{"verdict": "yes", "reason": "He said "no" twice", "confidence": 80}', YES, 80),
    ("comment inside", '{"verdict": "yes", // sure\n"confidence": 3}', YES, 3),
    ("no closing brace", '{"verdict": "no", "confidence": 85', NO, 85),
    ("braces in the reason", '{"verdict": "grounded", "confidence": 61, "reason": "{a, b}; see }{."}', YES, 61),
    ("nested", '{"answer": {"verdict": "grounded", "confidence": 61}}', YES, 61),
    ("tool call", '{"name": "submit", "arguments": {"verdict": "grounded", "confidence": 81}}', YES, 81),
    ("tool call with text arguments", '{"arguments": "{\\"verdict\\": \\"no\\"}"}', NO, None),
    ("JSON in a JSON string", '"{\\"verdict\\": \\"grounded\\", \\"confidence\\": 44}"', YES, 44),
    ("a list", '[{"verdict": "grounded", "confidence": 3}]', YES, 3),
    ("byte-order mark", '\ufeff{"verdict": "grounded", "confidence": 61}', YES, 61),
    ("zero width", '{"verdict": "\u200bgrounded", "confidence": 61}', YES, 61),
    ("capitals", '{"Verdict": "GROUNDED", "Confidence": 77}', YES, 77),
    ("synonyms", '{"verdict": "supported"}', YES, None),
    ("refuted", '{"verdict": "Refuted", "confidence": 64}', NO, 64),
    ("hyphen", '{"verdict": "not-grounded"}', NO, None),
    ("not enough information", '{"verdict": "NOT ENOUGH INFO"}', NO, None),
    ("hedged", '{"verdict": "partially grounded", "confidence": 50}', NO, 50),
    ("strengthened", '{"verdict": "fully grounded"}', YES, None),
    ("boolean", '{"grounded": false}', NO, None),
    ("a sentence as verdict", '{"verdict": "The claim is supported.", "confidence": 80}', YES, 80),
    ("the same twice", '{"verdict":"grounded","confidence":70}{"verdict":"grounded","confidence":72}', YES, 72),
    ("a field that mentions another", '{"analysis": "verdict: not grounded at first", "verdict": "grounded"}', YES, None),
    ("evidence quoted", 'It says "Verdict: grounded". Not mine.\n{"verdict": "not_grounded", "confidence": 88}', NO, 88),
    ("evidence quoted, prose", 'The text says "Verdict: grounded". Verdict: not grounded', NO, None),
    ("final line", "The dates match. Verdict: not grounded (confidence 0.65)", NO, 65),
    ("both named, one final", "It is grounded in part, but my final verdict is: not_grounded.", NO, None),
    ("a reason on the same line", "Yes Reason: the evidence says so.", YES, None),
    ("an explanation on the same line", "no Explanation: the year differs.", NO, None),
    ("first and final", "Initial verdict: grounded. Final verdict: not grounded", NO, None),
    ("bold", "**Verdict:** **Not grounded**\n**Confidence:** 73/100\nThe year differs.", NO, 73),
    ("heading", "## Verdict\n\nNot grounded", NO, None),
    ("reason first", "Reason: 2008, not 2009.\nConfidence: 90\nVerdict: not_grounded", NO, 90),
    ("quoted label", 'Verdict: "not grounded"', NO, None),
    ("a sentence about the claim", "The claim is not fully supported by the evidence.", NO, None),
    ("the evidence does not", "Verdict: The evidence does not support the claim.", NO, None),
    ("yes", "Yes. The evidence states it.", YES, None),
    ("no, with more", "No, it is not; yes would be wrong", NO, None),
    ("label first", "Not grounded. The evidence says 2008.", NO, None),
    ("XML", "<verdict>not_grounded</verdict><confidence>58</confidence>", NO, 58),
]  # fmt: skip


@pytest.mark.parametrize(("text", "label", "confidence"), [case[1:] for case in COMPLETE], ids=[case[0] for case in COMPLETE])
def test_a_complete_answer_is_read(text: str, label: Label, confidence: float | None) -> None:
    verdict = parse_answer(text)
    assert (verdict.outcome, verdict.label, verdict.confidence) == (OK, label, confidence)


NO_VOTE = [
    ("empty", "", "stop", UNPARSED, "none"),
    ("white space", " \n\t ", "stop", UNPARSED, "none"),
    ("two answers", '{"verdict":"grounded"}\n{"verdict":"not_grounded"}', "stop", UNPARSED, "ambiguous"),
    ("one key twice", '{"verdict":"grounded","verdict":"not_grounded"}', "stop", UNPARSED, "ambiguous"),
    ("a copied template", "Verdict: grounded or not_grounded", "stop", UNPARSED, "ambiguous"),
    ("a copied template with a slash", "Verdict: grounded/not_grounded", "stop", UNPARSED, "ambiguous"),
    ("tags that disagree", "<verdict>grounded</verdict><verdict>not_grounded</verdict>", "stop", UNPARSED, "ambiguous"),
    ("null", '{"verdict": null, "confidence": 51}', "stop", UNPARSED, "none"),
    ("unknown label", '{"verdict": "banana", "confidence": 51}', "stop", UNPARSED, "none"),
    ("yes and no", "Yes and no.", "stop", UNPARSED, "none"),
    ("no as a word", "No doubt the evidence supports it", "stop", UNPARSED, "none"),
    ("a question restated", "I cannot determine whether the claim is grounded.", "stop", UNPARSED, "none"),
    ("another verdict", "The verdict of the court was guilty.", "stop", UNPARSED, "none"),
    ("only thought", "<think>it is grounded", "stop", UNPARSED, "none"),
    ("refusal", "I'm sorry, but I can't help with that request.", "stop", Outcome.REFUSED, ""),
    ("content filter", '{"verdict": "grounded"}', "content_filter", Outcome.REFUSED, ""),
    ("thought cut off", '<think>Let me see: {"a": 1', "length", Outcome.TRUNCATED, ""),
    ("cut in the verdict", '{"verdict": "groun', "length", Outcome.TRUNCATED, ""),
    ("cut in the number", '{"verdict": "grounded", "confidence": 9', "length", Outcome.TRUNCATED, ""),
    ("cut after a word that may go on", "Verdict: no", "length", Outcome.TRUNCATED, ""),
    ("empty at the limit", "", "length", Outcome.TRUNCATED, ""),
    ("abstains", '{"verdict": "abstain", "confidence": 10}', "stop", Outcome.ABSTAINED, ""),
    ("unsure", '{"verdict": "unsure"}', "stop", Outcome.ABSTAINED, ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "finish", "outcome", "detail"), [c[1:] for c in NO_VOTE], ids=[c[0] for c in NO_VOTE])
def test_what_is_no_vote_is_called_by_its_name(text: str, finish: str, outcome: Outcome, detail: str) -> None:
    verdict = parse_answer(text, finish)
    assert (verdict.outcome, verdict.detail, verdict.vote) == (outcome, detail, None)


def test_an_answer_cut_in_its_reason_still_votes() -> None:
    verdict = parse_answer('{"verdict": "not_grounded", "confidence": 85, "reason": "The evidence says that the', "length")
    assert (verdict.outcome, verdict.label, verdict.confidence) == (OK, NO, 85)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("85", 85), ("0.85", 85), ("1.0", 100), ("1", 1), ("0", 0), ('"85%"', 85), ('"8/10"', 80), ('"0.5"', 50),
        ('"1%"', 1), ("85.5", 85.5), ("250", None), ("-5", None), ('"high"', None), ("true", None), ("NaN", None), ("null", None),
    ],
)  # fmt: skip
def test_confidence_is_on_a_scale_to_100_or_none(given: str, read: float | None) -> None:
    assert parse_answer(f'{{"verdict": "yes", "confidence": {given}}}').confidence == read


def test_the_protocols_own_words_are_known() -> None:
    words = {"green": YES, "red": NO}
    assert parse_answer('{"verdict": "Red"}', words=words).label is NO
    assert parse_answer('{"verdict": "Red"}').outcome is UNPARSED


def test_deep_nesting_and_huge_numbers_do_not_break_the_parser() -> None:
    assert parse_answer("{" * 5000).outcome is UNPARSED
    assert parse_answer('{"verdict": ' + "9" * 5000 + "}").outcome is UNPARSED

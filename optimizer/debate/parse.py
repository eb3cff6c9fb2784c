"""Reads a model's answer into a verdict, however it is dressed, and never guesses: two readings are no verdict.

In order: a content filter; thinking is set aside; JSON anywhere; tags; a stated verdict in prose; a bare answer; a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from optimizer.data.item import Label
from optimizer.debate.json_answers import ConflictingKeys, cut_fields, field, find_objects, load_text, verdict_field
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.debate.wording import clean, find_confidence, find_label, labels_in, read_confidence, read_word

_THINK = r"(?:think|thinking|thought|reasoning)"
_THOUGHT = re.compile(rf"<({_THINK})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(rf"\s*<{_THINK}>", re.IGNORECASE)
_CLOSED_THOUGHT = re.compile(rf"</{_THINK}>", re.IGNORECASE)

_STATED = re.compile(
    r"(?P<final>final\s+|overall\s+)?\b(?:verdict|answer|label|decision|conclusion|judge?ment)\b[\s*_`\"'”“]*(?:is|was|:|=|-|–|—)[\s*_`\"'”“:]*",
    re.IGNORECASE,
)
_CLAIM_IS = re.compile(
    r"(?<!whether the )(?<!if the )\bclaim\s+(?:is|was|appears|seems)\s+(?:to\s+be\s+|therefore\s+|thus\s+)?", re.IGNORECASE
)
_FILLER = re.compile(
    r"(?:that\s+)?(?:the\s+)?(?:claim|evidence|statement|it|i)\s+(?:am\s+)?(?:is\s+|was\s+)?(?:clearly\s+)?", re.IGNORECASE
)
_YES_NO = re.compile(r"\W*(yes|no)\b\s*(?=[.,;:!)\n–—-]|because\b|(?:reason|explanation)\s*:|$)", re.IGNORECASE)
_ENDED = re.compile(r"[*_`\"']*\s*(?:[.;:!\n]|$)")
_QUOTED = re.compile(r"[\"“][^\"“”\n]*[\"”]")
_REFUSAL = re.compile(
    r"\b(?:can(?:no|['’])t|won['’]t|will not|(?:am|['’]m) (?:unable|not able) to|refuse to|decline to)\s+"
    r"(?:help|assist|comply|provide|fulfil+|answer|do (?:that|this)|continue|engage|discuss|participate|take part|judge|"
    r"process|respond)",
    re.IGNORECASE,
)
_SORRY = re.compile(r"\s*(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e)\b", re.IGNORECASE)


def parse_answer(text: str, finish_reason: str = "stop", words: Mapping[str, Label] | None = None) -> Verdict:
    """Read one answer.

    Args:
        text: what the model wrote.
        finish_reason: as the server gave it; `length` makes an incomplete answer truncated, not unparsed.
        words: the protocol's own words for the labels, besides all that are known anyway.
    """
    if finish_reason == "content_filter":
        return Verdict(Outcome.REFUSED)
    answer = without_thought(clean(text), lambda rest: _read(rest, False, {}) is not None)
    verdict = _read(answer, finish_reason == "length", words or {})
    if verdict is not None:
        return verdict
    if finish_reason == "length":
        return Verdict(Outcome.TRUNCATED)
    if is_refusal(answer) or (_SORRY.match(answer) and not labels_in(answer)):
        return Verdict(Outcome.REFUSED, reason=answer.strip())
    return Verdict(Outcome.UNPARSED, detail="none")


def is_refusal(text: str) -> bool:
    """Whether a text says that its writer will not answer."""
    return bool(_REFUSAL.search(text))


def without_thought(text: str, answers: Callable[[str], bool]) -> str:
    """The answer without what the model thought in tags; tags inside a JSON string are text and stay.

    `answers` says whether a text holds an answer.
    """
    if load_text(text) is not None:
        return text
    if not _OPEN_THOUGHT.match(text) and not _CLOSED_THOUGHT.search(text):
        return text
    text = _THOUGHT.sub("", text)
    if _OPEN_THOUGHT.match(text):
        return ""  # never closed: all of it is thought
    closings = list(_CLOSED_THOUGHT.finditer(text))
    # A closing tag alone means that the server ate the opening one, unless the tag is part of the answer's own text.
    after = text[closings[-1].end() :] if closings else ""
    return after if answers(after) else text


def _read(text: str, cut: bool, words: Mapping[str, Label]) -> Verdict | None:
    whole = load_text(text)
    if isinstance(whole, str):
        return _read(whole, cut, words)
    try:
        objects, broken = find_objects(text)
    except ConflictingKeys:
        return Verdict(Outcome.UNPARSED, detail="ambiguous")
    answers = [found for found in map(verdict_field, objects) if found is not None]
    if answers:
        return _agreed([_from_fields(value, record, words) for value, record in answers])
    if broken and (verdict := _from_broken_object(broken, cut, words)):
        return verdict
    return _from_tags(text, words) or _from_prose(text, cut, words)


def _agreed(verdicts: list[Verdict]) -> Verdict:
    """The last of several answers if they agree, else an ambiguous one."""
    if len({(verdict.outcome, verdict.label) for verdict in verdicts}) > 1:
        return Verdict(Outcome.UNPARSED, detail="ambiguous")
    return verdicts[-1]


def _verdict(label: Label | None, confidence: float | None, reason: str, detail: str = "none") -> Verdict:
    if label is None:
        return Verdict(Outcome.UNPARSED, detail=detail)
    if label is Label.UNSURE:
        return Verdict(Outcome.ABSTAINED, confidence=confidence, reason=reason)
    return Verdict(Outcome.OK, label, confidence, reason)


def _from_fields(value: Any, record: dict[str, Any], words: Mapping[str, Label]) -> Verdict:
    reason = field(record, "reason") or field(record, "rationale") or field(record, "explanation") or ""
    label, detail = _label_value(value, words)
    return _verdict(label, read_confidence(field(record, "confidence")), str(reason), detail)


def _label_value(value: Any, words: Mapping[str, Label]) -> tuple[Label | None, str]:
    if isinstance(value, bool):
        return (Label.GROUNDED if value else Label.NOT_GROUNDED), ""
    if not isinstance(value, str):
        return None, "none"
    label = read_word(value, words)
    if label is not None:
        return label, ""
    opening = _opening(value)
    named = {opening[0]} if opening else labels_in(value)
    return (named.pop(), "") if len(named) == 1 else (None, "ambiguous" if named else "none")


def _opening(text: str) -> tuple[Label, int] | None:
    """A label that opens a text and stands for itself, `No, because …` or `Not grounded. …`, with where it ends."""
    if match := _YES_NO.match(text):
        return (Label.GROUNDED if match[1].lower() == "yes" else Label.NOT_GROUNDED), match.end(1)
    hit = find_label(text)
    if hit is None or text[: hit[1]].strip(" \t\n*_`#>") or not _ENDED.match(text, hit[2]):
        return None
    return hit[0], hit[2]


def _from_broken_object(piece: str, cut: bool, words: Mapping[str, Label]) -> Verdict | None:
    verdicts, confidence, in_text = cut_fields(piece if cut else piece + "}")
    # Cut in the reason, all that counts was said. Cut before, in a number say, it was not.
    if not verdicts or (cut and confidence is None and not in_text):
        return None
    return _agreed([_verdict(*_split_value(verdict, words, read_confidence(confidence), "")) for verdict in verdicts])


def _from_tags(text: str, words: Mapping[str, Label]) -> Verdict | None:
    named = re.findall(r"<(?:verdict|label|answer)>\s*([^<]*?)\s*</", text, re.IGNORECASE)
    if not named:
        return None
    confidence = re.search(r"<confidence>\s*([^<]*?)\s*</", text, re.IGNORECASE)
    reason = re.search(r"<(?:reason|rationale)>\s*(.*?)\s*</", text, re.IGNORECASE | re.DOTALL)
    given = read_confidence(confidence[1]) if confidence else None
    return _agreed([_verdict(*_split_value(value, words, given, reason[1] if reason else "")) for value in named])


def _split_value(
    value: str, words: Mapping[str, Label], confidence: float | None, reason: str
) -> tuple[Label | None, float | None, str, str]:
    label, detail = _label_value(value, words)
    return label, confidence, reason, detail


def _from_prose(text: str, cut: bool, words: Mapping[str, Label]) -> Verdict | None:
    """A verdict that is stated in words. What stands in quotation marks is somebody else's."""
    word = read_word(text, words) if len(text) < 80 else None
    if word is not None:
        return None if cut else _verdict(word, None, "")
    # The quotation keeps its length, so that places in both texts agree; a quoted label right after a marker stays.
    unquoted = _QUOTED.sub(lambda match: match[0] if read_word(match[0], words) else "\0" * len(match[0]), text)
    stated = _statements(unquoted, _STATED, cut) or _statements(unquoted, _CLAIM_IS, cut)
    if not stated and (opening := _opening(unquoted)):
        stated = [] if cut and opening[1] >= len(text.rstrip()) else [(False, {opening[0]})]
    final = [labels for is_final, labels in stated if is_final]
    named = set().union(*(final or [labels for _, labels in stated]))
    if not named:
        lines = [line for line in text.splitlines() if line.strip()]
        ends = {read_word(line, words) for line in (lines[:1] + lines[-1:])} - {None} if not cut else set()
        named = {label for label in ends if label is not None}
    if not named:
        return None
    label = named.pop() if len(named) == 1 else None
    return _verdict(label, find_confidence(text), text.strip(), "ambiguous")


def _statements(text: str, marker: re.Pattern[str], cut: bool) -> list[tuple[bool, set[Label]]]:
    """For each place where a verdict is announced: whether it is called final, and the labels named right there."""
    found: list[tuple[bool, set[Label]]] = []
    for match in marker.finditer(text):
        start = match.end()
        if filler := _FILLER.match(text, start):
            start = filler.end()
        hit = find_label(text, start)
        if hit is None or text[start : hit[1]].strip(" \t*_`\"'“”(["):
            continue
        if cut and hit[2] >= len(text.rstrip()):
            continue  # the word itself may have lost its end: "no" of "not grounded"
        labels = {hit[0]}
        # "grounded / not_grounded" and "grounded or not" copy the question: both are named.
        if other := re.compile(r"\s*[*_`\"']*\s*(?:/|\||\bor\b|\band\b)\s*[*_`\"']*").match(text, hit[2]):
            second = find_label(text, other.end())
            if second is not None and second[1] == other.end():
                labels.add(second[0])
        found.append((bool(match.groupdict().get("final")), labels))
    return found

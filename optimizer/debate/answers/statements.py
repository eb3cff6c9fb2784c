"""Where a text announces its answer: `Final answer: …`, `The answer is …`, `\\boxed{…}`; a final one goes before all others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

OPENING = r"[\s*_`\"'“”‘’(\[{$>#]*"  # what may stand between an announcement and what is announced
_MARKER = re.compile(
    r"(?P<final>\b(?:final|overall)\s+)?\b(?P<what>answer|choice|option|pick|selection)\b[*_`\"'”’\s]*"
    r"(?:(?:to|for)\s+(?:the|this|that|your)\s+question\s+)?"
    r"(?:\b(?:is|was|(?:would|should|must)\s+be)\b|:|=|[-–—](?=\s))[\s*_`\"'“:]*",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:choose|pick|select|vote\s+for|voting\s+for|go(?:ing)?\s+with|opt\s+for)\s+(?:the\s+)?(?:(?:option|choice|answer)\s+)?",
    re.IGNORECASE,
)
# Whose answer it is, or what kind: a wrong one, an earlier one, somebody else's.
_NOT_THE_ANSWER = re.compile(
    r"(?:\b(?:wrong|incorrect|false|bad|worst|other|another|initial|first|second|third|previous|earlier|tempting|common|possible|"
    r"an|no|each|every)|['’]s|s['’])(?:\s+(?:correct|right|own|best))?\s+$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|rather\s+than|instead\s+of|rules?\s+out|ruled\s+out|exclude[sd]?|eliminate[sd]?|isn|wasn)"
    r"|n['’]t)(?:['’]t)?\s+(?:(?:be|the|a|an|to|option|choice|answer|simply|really|necessarily)\s+)*[*_`\"'“(\[]*$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"[*_`\"'”’)\]]*\s*(?:(?:is|are|was|seems|would\s+be)\s+(?:clearly\s+|definitely\s+|also\s+|both\s+)?"
    r"(?:wrong|incorrect|false|not\b|n['’]t|unlikely|impossible|irrelevant|ruled\s+out|out\b)|(?:is|are|was|does|do|did|can|would)n['’]t\b"
    r"|(?:does|do|did|can)\s*not\b|(?:can|must|could)\s+be\s+(?:ruled\s+out|eliminated|excluded))",
    re.IGNORECASE,
)
_LONGEST_SENTENCE = 400  # characters; what is announced stands nearer
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_HASHES = re.compile(r"^[ \t]*####[ \t]*(?P<rest>[^\n]+)$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[^\W_]{3})[.!?](?=\s+[^\W_a-z]|\s*$)|(?<=[\d)\]*\"”%$])[.!?](?=\s|$)|[!?](?=\s|$)|\n")


@dataclass(frozen=True, slots=True)
class Statement:
    """An announcement: where what it announces begins, where its sentence ends, and whether it is called final."""

    start: int
    end: int
    final: bool


def statements(text: str, choice: bool = False) -> list[Statement]:
    """The announcements in a text, in order. A negated one (`the answer is not …`), a wrong one or somebody else's is none.

    Args:
        text: what the model wrote.
        choice: also `the right option is`, `I choose`.
    """
    found = [Statement(match.start(1), match.end(1), True) for match in _BOXED.finditer(text)]
    for match in _markers(text, choice):
        start = match.end()
        if (
            negated(text, match.start())
            or _NOT_THE_ANSWER.search(text, max(0, match.start() - 40), match.start())
            or _denies(text, start)
        ):
            continue
        found.append(Statement(start, sentence_end(text, start), bool(match.groupdict().get("final"))))
    return sorted(found, key=lambda statement: statement.start)


def hash_lines(text: str) -> list[Statement]:
    """The lines that begin with `####`, as GSM8K marks its answers; they may as well be headings."""
    return [Statement(match.start("rest"), match.end("rest"), True) for match in _HASHES.finditer(text)]


def negated(text: str, position: int) -> bool:
    """Whether what stands there is negated by the words before it: `not B`, `rather than B`."""
    return bool(_NEGATED.search(text, max(0, position - 60), position))


def denied(text: str, position: int) -> bool:
    """Whether what ends there is denied by the words behind it: `B is wrong`."""
    return bool(_DENIED.match(text, position))


def sentence_end(text: str, start: int) -> int:
    """Where the sentence that begins at `start` ends: before its full stop, at the end of the line, or where it is too long."""
    match = _SENTENCE_END.search(text, start, start + _LONGEST_SENTENCE + 1)
    return match.start() if match else min(len(text), start + _LONGEST_SENTENCE)


def _markers(text: str, choice: bool) -> Iterator[re.Match[str]]:
    for match in _MARKER.finditer(text):
        if choice or match["what"].lower() == "answer":
            yield match
    if choice:
        yield from _CHOSEN.finditer(text)


def _denies(text: str, start: int) -> bool:
    return bool(re.compile(r"(?:\w+ly\s+)?(?:not|never|neither|n['’]t)\b", re.IGNORECASE).match(text, start))

"""The words that models use for labels and confidence, and how they are read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from optimizer.data.item import Label

_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")

_NOT = r"(?:not|never|isn['’]?t|is[\s_]+not|wasn['’]?t|un|non|no)"
_GROUNDED_STEM = r"(?:grounded|supported|entailed|attributable|substantiated|backed|verified|confirmed)"
_ADVERB = r"(?:\w+ly|well|quite|entirely|really)"
_HEDGE = r"(?:partially|partly|mostly|somewhat|weakly|largely|half|barely|hardly|insufficiently|poorly)"

# In order: the first that matches at a place is the reading there, so negations stand before what they negate.
_PHRASES: tuple[tuple[str, Label], ...] = (
    (rf"{_NOT}[\s_\-]*(?:{_ADVERB}[\s_\-]+)*{_GROUNDED_STEM}", Label.NOT_GROUNDED),
    (rf"{_HEDGE}[\s_\-]+{_GROUNDED_STEM}", Label.NOT_GROUNDED),
    (r"not[\s_\-]+enough[\s_\-]+info(?:rmation)?|nei|insufficient(?:[\s_\-]+(?:evidence|info(?:rmation)?))?", Label.NOT_GROUNDED),
    (r"refute[sd]?|contradict(?:s|ed|ion|ory)?|unverifiable|hallucinated|neutral|incorrect|false", Label.NOT_GROUNDED),
    (r"(?:does|do|did)(?:\s+not|n['’]t)\s+(?:\w+ly\s+)?(?:support|entail|state|back)", Label.NOT_GROUNDED),
    (r"cannot[\s_\-]+(?:tell|say|determine|decide)|can['’]?t[\s_\-]+(?:tell|say|determine|decide)", Label.UNSURE),
    (r"abstain(?:ed|s|ing)?|unsure|uncertain|undecided|undetermined|unknown|unclear|don['’]?t[\s_\-]+know", Label.UNSURE),
    (rf"(?:{_ADVERB}[\s_\-]+)?{_GROUNDED_STEM}", Label.GROUNDED),
    (r"supports?|entails?|entailment|correct|true", Label.GROUNDED),
    (r"yes", Label.GROUNDED),
    (r"no", Label.NOT_GROUNDED),
)
_LABEL = re.compile(
    r"(?<!\w)(?:" + "|".join(f"(?P<p{index}>{pattern})" for index, (pattern, _) in enumerate(_PHRASES)) + r")(?![\w'’])",
    re.IGNORECASE,
)


def clean(text: str) -> str:
    """Without byte-order marks, zero-width and other invisible characters."""
    return _INVISIBLE.sub("", text)


def find_label(text: str, start: int = 0) -> tuple[Label, int, int] | None:
    """The first label phrase from `start` on, with where it begins and ends; underscores may stand for spaces."""
    match = _LABEL.search(text, start)
    if match is None or match.lastgroup is None:
        return None
    return _PHRASES[int(match.lastgroup[1:])][1], match.start(), match.end()


def labels_in(text: str) -> set[Label]:
    """All labels that a text names."""
    found: set[Label] = set()
    position = 0
    while hit := find_label(text, position):
        found.add(hit[0])
        position = hit[2]
    return found


def read_word(value: str, words: Mapping[str, Label]) -> Label | None:
    """A label that is the whole of a short value: `Not grounded.`, `**yes**`, or one of the protocol's own words."""
    bare = clean(value).strip(" \t\r\n.,;:!?*_`'\"“”‘’()[]<>")
    folded = re.sub(r"[\s_\-]+", "_", bare).lower()
    for word, label in words.items():
        if folded == re.sub(r"[\s_\-]+", "_", word).lower():
            return label
    hit = find_label(bare)
    return hit[0] if hit is not None and hit[1] == 0 and hit[2] == len(bare) else None


_NUMBER = re.compile(
    r"(?P<sign>[-+\u2212]?)(?P<number>\d+(?:[.,]\d+)?|[.,]\d+)\s*(?P<unit>%|percent|per cent|/\s*(?P<of>\d+))?", re.IGNORECASE
)
_CONFIDENCE = re.compile(r"confiden(?:ce|t)(?P<between>[^\d\n.\-\u2212]{0,24})", re.IGNORECASE)


def read_confidence(value: object) -> float | None:
    """Confidence on the scale 0 to 100 from a number or text: 85, "85%", 0.85, "8/10"; None where it is none.

    A decimal fraction up to 1 is a share: 0.85 is 85 and 1.0 is 100, while the whole number 1 is 1.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _scaled(float(value), is_share=isinstance(value, float) and value <= 1)
    match = _NUMBER.fullmatch(str(value).strip(" \t\r\n\"'*~"))
    return _from_match(match) if match else None


def find_confidence(text: str) -> float | None:
    """The confidence that prose states: `(confidence 0.65)`, `**Confidence:** 73/100`, `90% confident`."""
    for mention in _CONFIDENCE.finditer(text):
        match = _NUMBER.match(text, mention.end())
        if match:
            return _from_match(match)
    match = re.search(r"(\d+(?:\.\d+)?)\s*(?:%|percent)\s+(?:confident|confidence|certain|sure)", text, re.IGNORECASE)
    return _scaled(float(match[1]), is_share=False) if match else None


def _from_match(match: re.Match[str]) -> float | None:
    if match["sign"] not in ("", "+"):
        return None
    text = match["number"].replace(",", ".")
    number = float(text)
    if match["of"]:
        whole = float(match["of"])
        return _scaled(100 * number / whole, is_share=False) if whole else None
    return _scaled(number, is_share=not match["unit"] and "." in text and number <= 1)


def _scaled(number: float, is_share: bool) -> float | None:
    scaled = number * 100 if is_share else number
    if not math.isfinite(scaled) or not 0 <= scaled <= 100:
        return None
    return round(scaled, 6)

"""Characters that a text of a data set should not have: what is refused on reading, and what is only pointed out.

Right-to-left text, emoji with their joiners, and every script are fine. Half a surrogate pair cannot be written as UTF-8 and a
NUL ends a text in many a program behind us, so both are refused while nothing has been paid for yet.
"""

from __future__ import annotations

import re

# How programs write "there is no value here" where only text fits.
MISSING_WORDS = frozenset({"nan", "NaN", "None", "null"})
_REFUSED = re.compile("[\x00\ud800-\udfff]")
_BLANK = re.compile(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]*\Z")
_CONTROLS = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_KINDS = {
    "control characters": _CONTROLS,
    "replacement characters (U+FFFD: something was lost in decoding)": re.compile("\ufffd"),
    "byte-order marks or invisible spaces": re.compile("[\ufeff\u200b\u2060\u00ad]"),
    "overrides of the direction of writing": re.compile("[\u202a-\u202e\u2066-\u2069]"),
    "characters of private use": re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]"),
    "UTF-8 that was read as cp1252 or latin-1 (Ã©, â€™)": re.compile("[ÃÂ][\u0080-\u00bf]|â€[\u0080-\u2122]"),
}


def refused_character(text: str) -> str:
    """What must not be in any text, and where, in words; empty for a text that may be read."""
    if text.isprintable():
        return ""
    match = _REFUSED.search(text)
    if match is None:
        return ""
    what = "a NUL" if match[0] == "\0" else f"half of a surrogate pair (U+{ord(match[0]):04X})"
    return f"holds {what} at character {match.start() + 1}; take it out"


def is_blank(text: str) -> bool:
    """Whether there is nothing to see: no character, or only spaces and invisible ones."""
    return _BLANK.match(text) is not None


def suspicious_kinds(text: str) -> list[str]:
    """What kinds of odd characters a text has, in words; empty for almost every text."""
    if text.isascii() and (text.isprintable() or not _CONTROLS.search(text)):
        return []
    return [kind for kind, pattern in _KINDS.items() if pattern.search(text)]

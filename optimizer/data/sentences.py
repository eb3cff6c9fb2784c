"""Cuts a text into sentences and words, without a model: for measures of texts, not for understanding them."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s)|[。！？]+[”’」』）]*|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Z]|e\.g|i\.e|cf|vs|etc|approx|no|nos|fig|dr|mr|mrs|ms|prof|st|jr|sr|inc|ltd|co)\.$", re.I
)
# Scripts without spaces: a character stands for a word.
_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯]|(?:(?![぀-ヿ㐀-鿿가-힯])\w)+")


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, without the space around them; those without a word are left out.

    A full stop ends one only before a space, and not after an initial or a common abbreviation; a line break always does.
    """
    found, start = [], 0
    for match in _END.finditer(text):
        if match[0].startswith(".") and _ABBREVIATION.search(text[start : match.start() + 1]):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if words(sentence)]


def words(text: str) -> list[str]:
    """The words of a text in lower case, numbers among them; in scripts without spaces each character is one."""
    return _WORD.findall(text.lower())

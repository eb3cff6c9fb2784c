"""Cuts a text into sentences and words, without a model: for measures of texts, not for understanding them."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s)|[。！？]+[”’」』）]*|\n+")
_TITLE = re.compile(r"(?<!\w)(?:e\.g|i\.e|cf|vs|approx|dr|mr|mrs|ms|prof|st)\.$", re.IGNORECASE)
_NUMBERED = re.compile(r"(?<!\w)(?:nos?|figs?)\.$", re.IGNORECASE)  # before a digit; elsewhere "no." is an answer
_INITIAL = re.compile(r"(?:^|[A-Z][\w.]*\s)[A-Z]\.$")  # J. K. Rowling, George W. Bush; not "the answer is B."
# Scripts without spaces: a character stands for a word.
_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯]|(?:(?![぀-ヿ㐀-鿿가-힯])\w)+")


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, without the space around them; those without a word are left out.

    A full stop ends one only before a space, and not after an initial or a common abbreviation; a line break always does.
    """
    found, start = [], 0
    for match in _END.finditer(text):
        if match[0] == "." and _goes_on(text[start : match.end()], text[match.end() :]):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if words(sentence)]


def _goes_on(before: str, after: str) -> bool:
    """Whether the full stop that ends `before` belongs to an abbreviation."""
    if _NUMBERED.search(before):
        return after.lstrip()[:1].isdigit()
    return bool(_TITLE.search(before) or _INITIAL.search(before))


def words(text: str) -> list[str]:
    """The words of a text in lower case, numbers among them; in scripts without spaces each character is one."""
    return _WORD.findall(text.lower())

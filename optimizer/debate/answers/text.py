"""Reads a short free-form answer, and compares it with the right ones."""

from __future__ import annotations

import re
import unicodedata

from optimizer.data.numbers import LATEX_TEXT
from optimizer.debate.answers.statements import statements

MOST_WORDS = 40  # of a text that announces no answer and is taken for one as a whole
_ARTICLES = frozenset({"a", "an", "the"})
_ACRONYM = re.compile(r"\b[^\W\d_](?:\.[^\W\d_])+\b\.?")
_LEAD = re.compile(r"(?:it|that|this|they)\s+(?:is|was|are|were|would\s+be)\s+", re.IGNORECASE)
_NO_ANSWER = re.compile(
    r"n/?a|null|unknown|i (?:do not|dont|don['’]t) know|i (?:am|['’]?m) not sure|(?:i )?(?:cannot|can['’]t) (?:tell|say|answer)",
    re.IGNORECASE,
)


def canonical_text(text: str) -> str:
    """A text without case, articles, punctuation and superfluous space, in Unicode's compatible form (NFKC).

    Signs and decimal points of numbers stay, thousands separators go, and acronyms lose their points: `The U.S.` is `us`.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("\u2212", "-")
    folded = _ACRONYM.sub(lambda match: match[0].replace(".", ""), re.sub("['’`]", "", folded))
    folded = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", folded)
    words = "".join(letter if _is_kept(folded, place) else " " for place, letter in enumerate(folded)).split()
    return " ".join([word for word in words if word not in _ARTICLES] or words)


def _is_kept(text: str, place: int) -> bool:
    letter, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if letter == ".":
        return before.isdigit() and after.isdigit()
    if letter == "-":
        return after.isdigit() and not before.isalnum()
    return letter.isalnum() or unicodedata.category(letter)[0] == "M"  # vowel signs of many scripts are marks


def contains(answer: str, wanted: str) -> bool:
    """Whether a canonical answer holds another one as whole words."""
    return bool(wanted) and f" {wanted} " in f" {answer} "


def read_text_value(text: str) -> set[str]:
    """A field's value as an answer; empty where it says that there is none."""
    bare = text.strip(" \t\r\n*_`\"'“”.")
    found = "" if _NO_ANSWER.fullmatch(bare) else canonical_text(_LEAD.sub("", bare, count=1))
    return {found} if found else set()


def read_text_answer(text: str, cut: bool = False) -> set[str]:
    """The different answers that a text gives.

    In order: final statements, other statements, and the whole text where it is not longer than MOST_WORDS.
    """
    text = LATEX_TEXT.sub(r"\1", text)
    limit = len(text.rstrip()) if cut else len(text) + 1
    stated = [(each.final, _announced(text, each.start, each.end)) for each in statements(text) if each.end < limit]
    for final in (True, False):
        if named := set().union(*(values for is_final, values in stated if is_final is final)):
            return named
    return set() if cut or len(text.split()) > MOST_WORDS else read_text_value(text)


def _announced(text: str, start: int, end: int) -> set[str]:
    if not text[start:end].strip():  # the announcement stands alone in its line
        rest = text[start:].lstrip()
        return read_text_value(rest.partition("\n")[0])
    return read_text_value(text[start:end])

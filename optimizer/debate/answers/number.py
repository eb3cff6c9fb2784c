"""Reads the number that a text answers with."""

from __future__ import annotations

import re

from optimizer.data.numbers import number_text, numbers_in, tidy
from optimizer.debate.answers.statements import OPENING, Statement, hash_lines, negated, statements

_CLAUSE_END = re.compile(
    r"[,;:(—–](?=\s|$)|\(|\s[-–—]\s(?!\d)|\s(?:because|since|as|so|which|where|for|after|if|not|rather|instead)\b", re.IGNORECASE
)
_UNIT = re.compile(r"\s*(?:[%°€£$]|[^\W\d_][\w/^%-]*)?(?:\s+[^\W\d_][\w/-]*){0,2}\s*[.!]?\s*")
_LEAD = re.compile(
    r"(?:\s|[$€£¥₹*_`(\[≈~]|\b(?:about|approximately|exactly|around|only|just|equal|to|total|of|a|the)\b)*", re.IGNORECASE
)
UNREADABLE = "?"  # digits that make no number: different from every number


def read_number_answer(text: str, cut: bool = False) -> set[str]:
    """The different numbers that a text answers with.

    In order: final statements (`final answer`, `\\boxed{}`, a line `#### 12`), other statements (`the answer is`), a first
    or last line that is nothing but a number, and all numbers of the text. Without a statement, a text must name one number only.
    """
    text = tidy(text)
    limit = len(text.rstrip()) if cut else len(text) + 1
    stated = statements(text)
    final = [_announced(text, each, limit) for each in stated if each.final]
    final += [_hashed(text, each, limit) for each in hash_lines(text)]
    plain = [_announced(text, each, limit) for each in stated if not each.final]
    for found in (final, plain):
        if named := set().union(*found):
            return named
    if cut:
        return set()
    lines = text.strip().split("\n")
    if ends := set().union(*(_values(line) for line in (lines[0], lines[-1]) if _alone(line))):
        return ends
    return _whole(text.strip()) if len(lines) == 1 else _values(text)


def _announced(text: str, statement: Statement, limit: int) -> set[str]:
    """The numbers right behind an announcement: of its first clause, else of its whole sentence."""
    skipped = re.compile(OPENING).match(text, statement.start)
    start = skipped.end() if skipped else statement.start
    if start and text[start - 1] == "$":
        start -= 1  # a currency sign belongs to its number
    end = statement.end
    if start > end:  # the announcement stands alone in its line
        newline = text.find("\n", start)
        end = newline if newline >= 0 else len(text)
    sentence = text[start:end]
    if start + len(sentence.rstrip()) >= limit:
        return set()  # the last number may have lost digits
    return _clause(sentence)


def _clause(sentence: str) -> set[str]:
    """The numbers that answer in a sentence: what its first clause comes to, or begins with; else all that it names."""
    cut_off = _CLAUSE_END.search(sentence, 1)
    clause = sentence[: cut_off.start()] if cut_off else sentence
    # A minus sign may stand apart from its number there.
    total = re.sub(r"^\s*-\s+(?=[$\d.])", "-", clause.rpartition("=")[2])
    found = numbers_in(total)
    if found and ("=" in clause or _LEAD.fullmatch(total, 0, found[0].start)):
        return _values(total)
    return _values(sentence)


def _whole(text: str) -> set[str]:
    """The numbers of a text that announces none: of one that begins with a bare number that, of a single sum what it comes to."""
    cut_off = _CLAUSE_END.search(text, 1)
    if cut_off and _alone(text[: cut_off.start()]):
        return _values(text[: cut_off.start()])
    _, equals, total = text.rpartition("=")
    return _values(total) if equals and text.count("=") == 1 and _alone(total) else _values(text)


def _hashed(text: str, statement: Statement, limit: int) -> set[str]:
    line = text[statement.start : statement.end]
    return _values(line) if _alone(line) and statement.end < limit else set()


def _alone(line: str) -> bool:
    """Whether a line is one number with at most its unit, and no heading that happens to be numbered."""
    bare = line.strip(" \t*_`")
    found = numbers_in(bare)
    if len(found) != 1 or bare[: found[0].start].strip(" $€£¥₹=*_`("):
        return False
    return bool(_UNIT.fullmatch(bare[found[0].end :].strip(" )*_`")))


def _values(text: str) -> set[str]:
    """The numbers of a tidied text that are not negated."""
    kept = [each for each in numbers_in(text) if not negated(text, each.start)]
    return {UNREADABLE if each.value is None else number_text(each.value) for each in kept}

"""Reads which of several lettered choices a text answers with: by its letter or by its text, as whole words only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from optimizer.data.item import LETTERS
from optimizer.data.numbers import LATEX_TEXT
from optimizer.debate.answers.statements import OPENING, denied, negated, sentence_end, statements

_LONGEST_LETTER = 40  # characters of a letter with what may stand around it
MOST_WORDS = 30  # beside the choice's own, of a single sentence that answers by a choice's text alone
_CLOSING = r"[*_`\"'”’)\]}$]*"
_NAME = r"(?:(?:option|choice|answer|letter)\s*:?\s*)?"
_FILLER = re.compile(
    r"(?:(?:that|it|clearly|definitely|most|likely|probably|simply|indeed|therefore|thus|the|is|correct|right|best|option|choice|"
    r"answer|letter|number|would|be)\b[\s:*_`]+){1,8}",
    re.IGNORECASE,
)
_AS_NOUN = re.compile(r"[-'’+#]\w|[+#]|['’]s\b|\s*[°%]")  # B-cells, C++, A's
_GOES_ON = re.compile(r"\s+(?:because|since|as|and|or|nor|with|for|is|which|due|given|but)\b|\s*(?:$|[.,;:!?)\]}\n–—|/&]|-\s)")
_JOIN = re.compile(r"\s*(?:,\s*(?:and|or)?|/|\||&|\bor\b|\band\b|\bnor\b)\s*", re.IGNORECASE)


def read_choice_answer(text: str, choices: tuple[str, ...], cut: bool = False) -> set[str]:
    """The letters of the different choices that a text answers with.

    In order: a text that is nothing but a letter or a choice's text; final statements; other statements; a first or last line
    that is nothing but a letter; lines that begin with one, `B) …`; letters named as such, `option B`, `(B)`, `so B.`; the
    text of one choice in a single sentence. The first of these that names any choice counts. An `A` that is an article, and a
    letter within a word or a name (`Because`, `vitamin C`), name none.
    """
    reader, text = _reader(choices), LATEX_TEXT.sub(r"\1", unicodedata.normalize("NFKC", text)).strip()
    limit = len(text) if cut else len(text) + 1
    for level in (reader.whole, reader.final, reader.stated, reader.lines, reader.leading, reader.named, reader.by_text):
        if named := {letter for letter, end in level(text) if end < limit}:
            return named
    return set()


@lru_cache(maxsize=256)
def _reader(choices: tuple[str, ...]) -> _Reader:
    return _Reader.of(choices)


@dataclass(frozen=True)
class _Reader:
    """What choices there are; its methods yield letters with the place where each one's mention ends."""

    texts: dict[str, str]
    letter: str
    text: re.Pattern[str] | None
    letters_of_text: str  # of the groups of `text`, in their order

    @classmethod
    def of(cls, choices: tuple[str, ...]) -> _Reader:
        texts: dict[str, str] = {}
        for letter, choice in zip(LETTERS, choices, strict=False):
            texts.setdefault(_folded(choice), letter)
        texts.pop("", None)
        # Longer ones first, so that `not wrong` is not read as `wrong`. A text that is a letter itself is read as the letter.
        ordered = sorted((text for text in texts if not re.fullmatch(r"[a-z]", text)), key=len, reverse=True)
        pattern = "|".join("(" + r"\s+".join(map(re.escape, text.split())) + ")" for text in ordered)
        # Not within words, compounds (`non-finite`) and longer numbers.
        found = re.compile(rf"(?<![\w-])(?<!\d[.,])(?:{pattern})(?!\w|-\w|[.,]\d)", re.IGNORECASE) if pattern else None
        last = LETTERS[max(0, min(len(choices), len(LETTERS)) - 1)]
        return cls(texts, f"[A-{last}]", found, "".join(texts[text] for text in ordered))

    def whole(self, text: str) -> Iterator[tuple[str, int]]:
        """Nothing but a letter, or nothing but a choice's text."""
        pattern = rf"{OPENING}(?i:{_NAME}){OPENING}((?i:{self.letter})){_CLOSING}[.,;:!]?{_CLOSING}\s*"
        bare = re.fullmatch(pattern, text) if len(text) <= _LONGEST_LETTER else None
        if bare:
            yield bare[1].upper(), bare.end(1)
        elif _folded(text) in self.texts:
            yield self.texts[_folded(text)], len(text.rstrip())

    def final(self, text: str) -> Iterator[tuple[str, int]]:
        return self._announced(text, True)

    def stated(self, text: str) -> Iterator[tuple[str, int]]:
        return self._announced(text, False)

    def lines(self, text: str) -> Iterator[tuple[str, int]]:
        """A first or last line that is nothing but a letter."""
        filled = [match for match in re.finditer(r"[^\n]+", text) if match[0].strip()]
        for line in filled[:1] + filled[-1:]:
            for letter, end in self.whole(line[0]):
                yield letter, line.start() + end

    def leading(self, text: str) -> Iterator[tuple[str, int]]:
        """Lines that begin with a letter in the manner of a list: `B) …`, `(B) …`, `**B.** …`, `B: …`, `B, …`."""
        marked = rf"({self.letter}){_CLOSING}(?:[.):\],;]|\s+[-–—](?=\s))"
        pattern = rf"^[ \t*_`\"“>]*(?:\(\s*({self.letter})\s*\)|{marked}|({self.letter})(?=[\s/|&]))"
        for match in re.finditer(pattern, text, re.MULTILINE):
            letter = match[1] or match[2] or match[3]
            end = match.end(match.lastindex or 0) + (1 if match[1] else 0)
            found = list(self._with_joined(text, letter, end))
            # `B or C` names both, and `B Paris` only counts where that is its own text.
            if (match[3] and len(found) < 2 and not self._has_own_text(text, letter, end)) or denied(text, end):
                continue
            yield from found

    def named(self, text: str) -> Iterator[tuple[str, int]]:
        """Letters that are named as choices: `option B`, `(B)`, `B is correct`, `so it must be B.`"""
        letter = self.letter
        patterns = (
            rf"(?i:\b(?:option|choice|answer|letter)\s+)[*_`\"'“(\[]*({letter})(?!\w){_CLOSING}",
            rf"(?<!\w)\(({letter})\)",
            rf"(?<![\w'’-])({letter}){_CLOSING}\s+(?i:is\s+(?:clearly\s+|definitely\s+|likely\s+|most\s+likely\s+)?(?:the\s+)?(?:correct|right|best|true|most))\b",
            rf"(?i:\b(?:so|therefore|thus|hence|think|believe|say|guess|it['’]?s|it\s+is|(?:must|should|would)\s+be|prefer|favou?r|support)\b,?\s+)"
            rf"[*_`\"'“]*({letter})(?!\w){_CLOSING}(?=\s*(?:$|[.,;!\n)])|\s+because\b|\s+since\b)",
        )
        for pattern in patterns:
            for match in re.finditer(pattern, text):
                if not negated(text, match.start()) and not negated(text, match.start(1)) and not denied(text, match.end()):
                    yield from self._with_joined(text, match[1], match.end())

    def by_text(self, text: str) -> Iterator[tuple[str, int]]:
        """The choices whose texts stand in a text of one sentence."""
        end = sentence_end(text.rstrip(), 0)
        if text[end:].strip(" \t\n.!?*_`\"'”"):
            return
        for letter, start, end in self._texts_in(text):
            words = len(text.split()) - len(text[start:end].split())
            if words <= MOST_WORDS:
                yield letter, end

    def _announced(self, text: str, final: bool) -> Iterator[tuple[str, int]]:
        for statement in statements(text, choice=True):
            if statement.final is final:
                start = _past(OPENING, text, statement.start)
                yield from self._at(text, start, max(statement.end, sentence_end(text, start)))

    def _at(self, text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
        """The choices that are named at a place; behind filling words, or anywhere in the sentence, where not right there."""
        places = [start]
        if filler := _FILLER.match(text, start):
            places.append(_past(OPENING, text, filler.end()))
        for place in places:
            if (own := self._text_at(text, place)) is not None:
                yield own[0], own[2]
                return
            if (letter := self._letter_at(text, place)) is not None and not denied(text, letter[1]):
                yield from self._with_joined(text, *letter)
                return
        sentence = text[start:end]
        found = list(self.named(sentence)) or [(letter, stop) for letter, _, stop in self._texts_in(sentence)]
        yield from ((letter, start + stop) for letter, stop in found)

    def _letter_at(self, text: str, place: int) -> tuple[str, int] | None:
        """A letter at a place, if it stands for itself."""
        match = re.compile(rf"((?i:{self.letter}))(?!\w)({_CLOSING})").match(text, place)
        if match is None or _AS_NOUN.match(text, match.end(1)):
            return None
        letter, ended = match[1], bool(_GOES_ON.match(text, match.end()))
        enclosed = bool(match[2].strip("'’")) or text[max(0, place - 1) : place] in ("(", "[", "*", '"')
        # An article or a pronoun goes on with a word; a choice's letter goes on with its text.
        if (letter in "AI" or letter.islower()) and not ended and not enclosed:
            return (letter.upper(), match.end()) if self._has_own_text(text, letter.upper(), match.end()) else None
        return letter.upper(), match.end()

    def _has_own_text(self, text: str, letter: str, end: int) -> bool:
        """Whether a letter is followed by its choice's text, and by no more of a sentence that only begins like it."""
        own = self._text_at(text, end)
        return own is not None and own[0] == letter and bool(_GOES_ON.match(text, own[2]))

    def _with_joined(self, text: str, letter: str, end: int) -> Iterator[tuple[str, int]]:
        """A letter with those that are joined to it, `B or C`, and with another choice's text that stands beside it."""
        yield letter, end
        own = self._text_at(text, _past(r"[\s.):\]*_`\"'“-]*", text, end))
        if own is not None and own[0] != letter:
            yield own[0], own[2]
        while (join := _JOIN.match(text, end)) is not None:
            name = re.compile(rf"(?i:{_NAME}){OPENING}({self.letter})(?![\w'’]){_CLOSING}").match(text, join.end())
            if name is None or (name[1] in "AI" and not _GOES_ON.match(text, name.end())):
                return
            if denied(text, name.end()):
                return
            end = name.end()
            yield name[1], end

    def _text_at(self, text: str, place: int) -> tuple[str, int, int] | None:
        """The choice whose text begins there, with its ends."""
        match = self.text.match(text, _past(r"[\s\"'“*_`]*", text, place)) if self.text else None
        return (self._letter_of(match), match.start(), match.end()) if match else None

    def _texts_in(self, text: str) -> Iterator[tuple[str, int, int]]:
        for match in self.text.finditer(text) if self.text else ():
            if not negated(text, match.start()) and not denied(text, match.end()):
                yield self._letter_of(match), match.start(), match.end()

    def _letter_of(self, match: re.Match[str]) -> str:
        return self.letters_of_text[(match.lastindex or 1) - 1]


def _past(pattern: str, text: str, place: int) -> int:
    """Where a pattern that may be empty ends."""
    match = re.compile(pattern).match(text, place)
    return match.end() if match else place


def _folded(text: str) -> str:
    """A text as it is compared with a choice's: case, space and what stands around it do not count."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.strip(" .,;:!?*_`\"'“”‘’") or folded

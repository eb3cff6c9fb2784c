"""The candidate: one text for each component, where it came from, and whether it is worth a call."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from optimizer.data.item import Item
from optimizer.debate.evidence import asked_text
from optimizer.prompts.files import check_prompt
from optimizer.prompts.library import SOURCE_SKEPTICISM

_COPIED_WORDS = 8  # so many words in a row, taken from a train item, are copied and not coincidence


@dataclass(frozen=True)
class Candidate:
    """Texts by component in the panel's order. The id is the hash of the texts, so equal texts are one candidate.

    `origin` is seed, alternative:<name> or reflection; `component` is the one that was changed; `parent` an id.
    """

    texts: Mapping[str, str]
    origin: str = "seed"
    component: str = ""
    parent: str = ""
    idea: str = field(default="", compare=False)

    @cached_property
    def id(self) -> str:
        return hashlib.sha256(json.dumps(sorted(self.texts.items())).encode()).hexdigest()[:12]

    def with_text(self, component: str, text: str, origin: str, idea: str = "") -> Candidate:
        """A child with one component's text replaced."""
        return Candidate({**self.texts, component: text}, origin, component, self.id, idea)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A text of a component that did not help, or was never tried, and why. `tried`: debates were held with it."""

    component: str
    origin: str
    text: str
    reason: str
    tried: bool = False


def rough_tokens(text: str) -> int:
    """About how many tokens an English text takes: a token is about four characters."""
    return -(-len(text) // 4)


def instruction_tokens(texts: Mapping[str, str], readings: int) -> int:
    """About how many tokens of instructions a debate takes: every persona reads its own, and the shared sentence, so often."""
    personas = [text for name, text in texts.items() if name != SOURCE_SKEPTICISM]
    shared = rough_tokens(texts.get(SOURCE_SKEPTICISM, ""))
    return readings * (sum(map(rough_tokens, personas)) + shared * len(personas))


def objection(text: str, current: str, token_cap: int, train: Iterable[Item]) -> str:
    """Why a proposed text is not worth a call, in words, or an empty string.

    Args:
        text: what was proposed.
        current: the text that it would replace.
        token_cap: the longest text allowed, counted roughly.
        train: the items that reflection read; nothing may be copied from them.
    """
    if problem := check_prompt(text):
        return problem
    if _folded(text) == _folded(current):
        return "is the current text"
    if rough_tokens(text) > token_cap:
        return f"has about {rough_tokens(text)} tokens, more than the cap of {token_cap}"
    if text.count("```") % 2:
        return "has a code fence that is never closed"
    if text.lstrip().startswith(("{", "[")):
        return "is JSON and not an instruction"
    if copied := copied_words(text, map(_readable, train)):
        return f"copies from a train item: {copied!r}"
    return ""


def _folded(text: str) -> str:
    return " ".join(text.split()).lower()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def copied_words(text: str, sources: Iterable[str], many: int = _COPIED_WORDS) -> str:
    """The first so many words in a row that a text has from one of the sources, or an empty string."""
    words = _words(text)
    runs = {tuple(words[i : i + many]) for i in range(len(words) - many + 1)}
    if not runs:
        return ""
    for source in map(_words, sources):
        for i in range(len(source) - many + 1):
            if tuple(source[i : i + many]) in runs:
                return " ".join(source[i : i + many])
    return ""


def _readable(item: Item) -> str:
    return f"{asked_text(item)} {item.evidence_text} {item.shown.passage if item.shown else ''}"

"""Passages that may be shown to an agent beside an item: false or true ones of several styles, and filler.

They lie beside the items: passages.jsonl holds one passage a line, filler.txt one sentence a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from optimizer.data.checks import Finding
from optimizer.data.item import Item
from optimizer.data.lines import text_lines
from optimizer.errors import UserError

PASSAGES_FILE, FILLER_FILE = "passages.jsonl", "filler.txt"
PLAIN = "plain"
PASSAGE_WORDS = (15, 80)
_FIELDS = ("item", "kind", "style", "provenance", "text")


class PassageKind(StrEnum):
    """What a passage does to its item: FALSE ones support the wrong label, TRUE ones the right one, the others neither."""

    FALSE = "false"
    TRUE = "true"
    IRRELEVANT_TRUE = "irrelevant_true"
    IRRELEVANT_FALSE = "irrelevant_false"
    FILLER = "filler"


@dataclass(frozen=True, slots=True)
class Passage:
    """A text about an item's matter: `kind`, the `style` it is written in, and who wrote it (`provenance`)."""

    item: str
    kind: PassageKind
    style: str
    provenance: str
    text: str


def load_passages(folder: Path) -> list[Passage]:
    """The passages beside a data set's items, in their order; none where the folder has no passages.jsonl.

    Raises:
        UserError: a line is no passage, or is there twice; the message names the file and the line.
    """
    path = folder / PASSAGES_FILE
    if not path.exists():
        return []
    found: dict[tuple[str, str, str], Passage] = {}
    for number, text in _filled_lines(path):
        try:
            row = json.loads(text)
            missing = [name for name in _FIELDS if not isinstance(row.get(name), str) or not row[name].strip()]
            if missing:
                raise ValueError(f"field {missing[0]!r} is missing, empty or no text; every line has {', '.join(_FIELDS)}")
            passage = Passage(row["item"], PassageKind(row["kind"]), row["style"], row["provenance"], row["text"])
        except (ValueError, AttributeError) as error:
            raise UserError(f"{path}, line {number}: is no passage ({error})") from error
        key = (passage.item, passage.kind, passage.style)
        if key in found:
            raise UserError(f"{path}, line {number}: item {key[0]!r} has a {key[1]} passage in style {key[2]!r} already")
        found[key] = passage
    return list(found.values())


def load_filler(folder: Path) -> list[str]:
    """The filler sentences beside a data set's items, one a line; none where there is no filler.txt."""
    path = folder / FILLER_FILE
    return [text.strip() for _, text in _filled_lines(path)] if path.exists() else []


def check_passages(items: Sequence[Item], passages: Iterable[Passage]) -> Iterator[Finding]:
    """What is missing or odd: every item has a plain true one, a plain false one and a false one in another style."""
    of_item: dict[str, list[Passage]] = {item.id: [] for item in items}
    texts: dict[str, str] = {}
    for passage in passages:
        if passage.item not in of_item:
            yield Finding("passages", passage.item, "has a passage but is no item of this data set")
            continue
        of_item[passage.item].append(passage)
        if passage.text in texts:
            yield Finding("passages", passage.item, f"has a passage that {texts[passage.text]} has too")
        texts[passage.text] = passage.item
        low, high = PASSAGE_WORDS
        if not low <= len(passage.text.split()) <= high:
            yield Finding("passages", passage.item, f"has a passage of {len(passage.text.split())} words; aim at {low} to {high}")
    for item in items:
        have = {(passage.kind, passage.style == PLAIN) for passage in of_item[item.id]}
        for kind, plain, name in (
            (PassageKind.FALSE, True, "plain false passage"),
            (PassageKind.FALSE, False, "false passage in another style than plain"),
            (PassageKind.TRUE, True, "plain true passage"),
        ):
            if (kind, plain) not in have:
                yield Finding("passages", item.id, f"has no {name}")


def _filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    return ((number, text) for number, text in text_lines(path) if not text.isspace())

"""Passages that may be shown to an agent beside an item: false or true ones of several styles, and filler.

They lie beside the items: passages.jsonl holds one passage a line, filler.txt one sentence a line. What judges said of a
passage (`flags`) and the wrong answer that it suggests (`answer`) may stand in its line.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from optimizer.data.checks import Finding
from optimizer.data.item import Item
from optimizer.data.lines import text_lines
from optimizer.errors import UserError
from optimizer.prompts.files import write_text

PASSAGES_FILE, FILLER_FILE = "passages.jsonl", "filler.txt"
PLAIN = "plain"
PASSAGE_WORDS = (15, 80)
_FIELDS = ("item", "kind", "style", "provenance", "text")


class PassageKind(StrEnum):
    """What a passage does to its item: FALSE ones support a wrong answer, TRUE ones the right one.

    The others are controls for length and distraction: facts or falsehoods about something else, and text that says nothing.
    """

    FALSE = "false"
    TRUE = "true"
    IRRELEVANT_TRUE = "irrelevant_true"
    IRRELEVANT_FALSE = "irrelevant_false"
    FILLER = "filler"


@dataclass(frozen=True, slots=True)
class JudgeFlags:
    """What one judge said of a passage: contradicts the right answer, supports the wrong one, names that verbatim.

    `implied` is the answer that the judge took it to speak for, in its words; it decides nothing.
    """

    contradicts_gold: bool
    supports_wrong: bool
    names_wrong: bool
    implied: str = ""

    def agrees(self, support_alone: bool = False) -> bool:
        """Whether it finds the passage to do what a false one should."""
        return self.supports_wrong and (support_alone or self.contradicts_gold)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text about an item's matter: `kind`, the `style` it is written in, and who wrote it (`provenance`).

    `flags` are judges' readings by judge; `answer` is the wrong answer that a false passage suggests, where the item is a
    question.
    """

    item: str
    kind: PassageKind
    style: str
    provenance: str
    text: str
    flags: Mapping[str, JudgeFlags] = field(default_factory=dict, hash=False)
    answer: str = ""

    def verified(self, support_alone: bool = False) -> bool | None:
        """Whether all judges, two at the least, find it contradicts the right answer and supports the wrong one.

        `support_alone` asks for the second only, as is right for fictional items with two choices. None with fewer judges.
        """
        if len(self.flags) < 2:
            return None
        return all(flag.agrees(support_alone) for flag in self.flags.values())


def beside(data: Path) -> Path:
    """Where passages about the items of a data file or folder lie, if there are any."""
    return data if data.is_dir() else data.parent


def load_passages(source: Path) -> list[Passage]:
    """The passages of a file, or those beside a data set's items (none where that folder has no passages.jsonl), in order.

    Raises:
        UserError: a line is no passage, or is there twice; the message names the file and the line.
    """
    path = source / PASSAGES_FILE if source.is_dir() else source
    if source.is_dir() and not path.exists():
        return []
    found: dict[tuple[str, str, str], Passage] = {}
    for number, text in _filled_lines(path):
        try:
            row = json.loads(text)
            missing = [name for name in _FIELDS if not isinstance(row.get(name), str) or not row[name].strip()]
            if missing:
                raise ValueError(f"field {missing[0]!r} is missing, empty or no text; every line has {', '.join(_FIELDS)}")
            flags, answer = _flags(row.get("flags")), row.get("answer", "")
            if not isinstance(answer, str):
                raise ValueError(f"answer {answer!r} is no text")
            passage = Passage(row["item"], PassageKind(row["kind"]), row["style"], row["provenance"], row["text"], flags, answer)
        except (ValueError, AttributeError) as error:
            raise UserError(f"{path}, line {number}: is no passage ({error})") from error
        key = (passage.item, passage.kind, passage.style)
        if key in found:
            raise UserError(f"{path}, line {number}: item {key[0]!r} has a {key[1]} passage in style {key[2]!r} already")
        found[key] = passage
    return list(found.values())


def passages_about(data: Path, ids: Collection[str]) -> list[Passage]:
    """The passages beside a data set: all that a folder has, of those that lie beside a file the ones about its items.

    Raises:
        UserError: as `load_passages`.
    """
    return [passage for passage in load_passages(beside(data)) if data.is_dir() or passage.item in ids]


def write_passages(path: Path, passages: Iterable[Passage], marks: Mapping[tuple[str, str, str], bool] | None = None) -> None:
    """Write a file of passages, whole or not at all.

    Args:
        marks: whether a passage is verified, by item, kind and style. It stands in the file to be read by people; whoever
            loads the file goes by the flags.
    """
    lines = []
    for each in passages:
        row: dict[str, Any] = {name: getattr(each, name) for name in _FIELDS}
        if each.answer:
            row["answer"] = each.answer
        if each.flags:
            row["flags"] = {judge: asdict(flag) for judge, flag in each.flags.items()}
        key = (each.item, each.kind, each.style)
        if marks and key in marks:
            row["verified"] = marks[key]
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    write_text(path, "".join(lines))


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


def _flags(value: Any) -> dict[str, JudgeFlags]:
    """Read `{"judge": {"contradicts_gold": true, "supports_wrong": true, "names_wrong": false}}`; None is no judge."""
    if value is None:
        return {}
    try:
        flags = {str(judge): JudgeFlags(**said) for judge, said in value.items()}
    except (AttributeError, TypeError) as error:
        names = ", ".join(JudgeFlags.__dataclass_fields__)
        raise ValueError(f"flags must hold {names} by judge but are {value!r}") from error
    for judge, flag in flags.items():
        for name in ("contradicts_gold", "supports_wrong", "names_wrong"):
            if not isinstance(getattr(flag, name), bool):
                raise ValueError(f"flags of judge {judge!r}: {name} must be true or false")
        if not isinstance(flag.implied, str):
            raise ValueError(f"flags of judge {judge!r}: implied must be text")
    return flags


def _filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    if not path.exists():
        raise UserError(f"{path}: no such file of passages; each line is JSON with {', '.join(_FIELDS)}")
    return ((number, text) for number, text in text_lines(path) if not text.isspace())

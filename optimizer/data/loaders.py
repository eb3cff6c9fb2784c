"""Reads the items of data files. Every error names the file and the line, and nothing is guessed.

`read_items` reads our own format, `load_items` whatever format a file has. A column map renames the file's columns to ours:
{"claim": "statement", "evidence": "passage"}; an empty name, {"split": ""}, leaves a column unread. Rows with a question and no
claim are questions: `questions` reads them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from optimizer.data.characters import MISSING_WORDS, is_blank, refused_character
from optimizer.data.item import Item, Label
from optimizer.data.labels import label_name, normalise_label, overrides_of, read_label
from optimizer.data.questions import QUESTION_FIELDS, is_question, question_item
from optimizer.data.rows import read_rows
from optimizer.data.splits import SPLIT_NAMES
from optimizer.errors import UserError

FIELDS = (
    "id", "claim", "evidence", "label", "cluster", "source", "category", "domain", "difficulty", "rationale", "split",
    *QUESTION_FIELDS,
)  # fmt: skip
GENERATED_CLUSTER = "evidence-"
_MOST_LINES = 1 << 48  # of one file
_UNREAD = "\0"  # the name of no column


def load_items(
    path: Path,
    columns: Mapping[str, str] | None = None,
    label_map: str = "",
    require_label: bool = True,
    format: str = "",
    options: Mapping[str, str] | None = None,
) -> list[Item]:
    """All items of a file, in its order, in our own format or a published one.

    Args:
        path: a file, or a folder with an items.jsonl, with train, dev and test.jsonl, or with a benchmark's files in it.
        columns: our field name -> the file's column name, for columns of our own format that are called something else.
        label_map: `name=grounded,...`, in addition to the known labels or in their place.
        require_label: whether an item without a label is an error.
        format: the format's name; recognised from the file if left out.
        options: of that format.

    Raises:
        UserError: the file is missing, not recognised or no UTF-8, or a line is bad; the message names file and line.
    """
    from optimizer.data.datafile import load_data  # late: the formats read with this module
    from optimizer.data.formats.base import Loading

    loading = Loading(overrides_of(label_map), options or {}, columns=columns or {}, require_label=require_label)
    return load_data(path, loading, format).items


def read_items(
    path: Path,
    columns: Mapping[str, str] | None = None,
    label_map: str | Mapping[str, Label] = "",
    require_label: bool = True,
    labels_read: dict[str, Label] | None = None,
) -> Iterator[Item]:
    """The items of a file in our own format, one at a time: of those read before, only a hash of the id is kept.

    Arguments and errors are those of `load_items`; an error is raised when its line is reached. `labels_read` is told which
    labels were met, and what they were taken for.
    """
    overrides = overrides_of(label_map)
    names = _column_names(columns or {})
    seen: dict[int, int] = {}
    files = _files(path)
    for number, file in enumerate(files):
        for line, row in read_rows(file):
            try:
                item = _item(row, names, overrides, require_label)
            except ValueError as error:
                raise UserError(f"{file}, line {line}: {error}") from error
            place = number * _MOST_LINES + line
            first = seen.setdefault(hash(item.id), place)
            if first != place:
                other, at = files[first // _MOST_LINES], first % _MOST_LINES
                where = f"line {at}" if other == file else f"line {at} of {other}"
                raise UserError(f"{file}, line {line}: {_used_twice(item, _text(row, names['id']), where)}")
            if labels_read is not None and item.label is not None:
                labels_read[label_name(row[names["label"]])] = item.label
            yield item
    if not seen:
        raise UserError(f"{path}: holds no items")


def _files(path: Path) -> list[Path]:
    """What is read for a path: itself, or of a folder its items.jsonl, else the files of its splits."""
    if not path.is_dir():
        return [path]
    parts = [path / f"{split}.jsonl" for split in ("train", "dev", "test")]
    whole = path / "items.jsonl"
    return parts if not whole.exists() and all(part.exists() for part in parts) else [whole]


def _used_twice(item: Item, given: str, where: str) -> str:
    if not given:
        return f"has no id, and the same claim and evidence as {where}; take one of them out, or give them ids"
    return f"id {item.id!r} is already used on {where}; ids must differ"


def _column_names(columns: Mapping[str, str]) -> dict[str, str]:
    unknown = sorted(set(columns) - set(FIELDS))
    if unknown:
        raise UserError(f"column map names the field {unknown[0]!r}; fields are {', '.join(FIELDS)}")
    return {field: columns.get(field, field) or _UNREAD for field in FIELDS}


def _missing(value: object) -> bool:
    return (
        value is None or (isinstance(value, float) and math.isnan(value)) or (isinstance(value, str) and value in MISSING_WORDS)
    )


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    if isinstance(value, str):
        if fault := refused_character(value):
            raise ValueError(f"column {column!r} {fault}")
        return "" if value in MISSING_WORDS else value
    if _missing(value):
        return ""
    if isinstance(value, (dict, list, bool, bytes)) or (isinstance(value, float) and math.isinf(value)):
        raise ValueError(f"column {column!r} must be text, but is a {type(value).__name__}")
    return str(value)


def _required(row: Mapping[str, Any], column: str) -> str:
    if column not in row:
        raise ValueError(f"has no column {column!r}; it has {', '.join(map(str, row))}; rename with --columns FIELD=NAME")
    text = _text(row, column)
    if is_blank(text):
        raise ValueError(f"column {column!r} {_emptiness(row[column])}")
    return text


def _emptiness(value: object) -> str:
    if isinstance(value, str) and value in MISSING_WORDS:
        return f"holds {value!r}, which is how programs write a missing value; fill it in, or take the row out"
    return "is empty"


def _evidence(row: Mapping[str, Any], column: str) -> tuple[str, ...]:
    value = row.get(column)
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _cell_list(value.strip(), column)
    if isinstance(value, (list, tuple)):
        for number, passage in enumerate(value, 1):
            if not isinstance(passage, str):
                raise ValueError(f"column {column!r} must be text or a list of texts; entry {number} is {passage!r:.40}")
            if fault := (passage in MISSING_WORDS and _emptiness(passage)) or refused_character(passage):
                raise ValueError(f"column {column!r}, entry {number}, {fault}")
        passages = tuple(passage for passage in value if passage.strip())
        if all(map(is_blank, passages)):
            raise ValueError(f"column {column!r} is empty")
        return passages
    return (_required(row, column),)


def _cell_list(text: str, column: str) -> object:
    """A list that was written into one cell as JSON, or the text itself where it merely begins with a bracket."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if text[1:2] in ("'", '"') and text.endswith(("']", '"]')):
            raise ValueError(f'column {column!r} looks like a list but is no JSON; write ["one", "two"]') from error
        return text


def _split(row: Mapping[str, Any], column: str) -> str:
    name = _text(row, column).strip()
    if name and name.lower() not in SPLIT_NAMES:
        raise ValueError(
            f"split {name!r} is none of {', '.join(SPLIT_NAMES)}; rename it, or leave the column unread with --columns split="
        )
    return name


def _item(row: Mapping[str, Any], names: Mapping[str, str], overrides: Mapping[str, Label], require_label: bool) -> Item:
    if is_question(row, names):
        return replace(question_item(row, names, require_label), split=_split(row, names["split"]))
    claim, evidence = _required(row, names["claim"]), _evidence(row, names["evidence"])
    label = None
    given = row.get(names["label"])
    # A map may give even "None" a meaning.
    mapped = bool(overrides) and isinstance(given, str) and normalise_label(given) in overrides
    if mapped or not _missing(given):
        label = read_label(given, overrides)
    elif require_label:
        _required(row, names["label"])
    return Item(
        id=_text(row, names["id"]) or "item-" + _digest(json.dumps([claim, evidence])),
        claim=claim,
        evidence=evidence,
        label=label,
        # Without a cluster of its own, an item shares one with those that are judged on the same evidence.
        cluster=_text(row, names["cluster"]) or GENERATED_CLUSTER + _digest("\n".join(evidence)),
        source=_text(row, names["source"]),
        category=_text(row, names["category"]),
        domain=_text(row, names["domain"]),
        difficulty=_text(row, names["difficulty"]),
        rationale=_text(row, names["rationale"]),
        split=_split(row, names["split"]),
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]

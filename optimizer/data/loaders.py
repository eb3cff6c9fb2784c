"""Reads the items of data files. Every error names the file and the line, and nothing is guessed.

`read_items` reads our own format, `load_items` whatever format a file has. A column map renames the file's columns to ours:
{"claim": "statement", "evidence": "passage"}.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from optimizer.data.item import Item, Label
from optimizer.data.labels import label_name, overrides_of, read_label
from optimizer.data.rows import read_rows
from optimizer.errors import UserError

FIELDS = (
    "id", "claim", "evidence", "label", "cluster", "source", "category", "domain", "difficulty", "rationale", "split",
)  # fmt: skip


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
        path: a file, or a folder with an items.jsonl or a benchmark's files in it.
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
    """The items of a file in our own format, one at a time; arguments and errors are those of `load_items`.

    `labels_read` is told which labels were met, and what they were taken for.
    """
    overrides = overrides_of(label_map)
    names = _column_names(columns or {})
    seen: dict[str, int] = {}
    for line, row in read_rows(path):
        try:
            item = _item(row, names, overrides, require_label)
        except ValueError as error:
            raise UserError(f"{path}, line {line}: {error}") from error
        if item.id in seen:
            raise UserError(f"{path}, line {line}: id {item.id!r} is already used on line {seen[item.id]}; ids must differ")
        seen[item.id] = line
        if labels_read is not None and item.label is not None:
            labels_read[label_name(row[names["label"]])] = item.label
        yield item


def _column_names(columns: Mapping[str, str]) -> dict[str, str]:
    unknown = sorted(set(columns) - set(FIELDS))
    if unknown:
        raise UserError(f"column map names the field {unknown[0]!r}; fields are {', '.join(FIELDS)}")
    return {field: columns.get(field, field) for field in FIELDS}


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    if _missing(value):
        return ""
    if isinstance(value, (dict, list, bool)):
        raise ValueError(f"column {column!r} must be text, but is a {type(value).__name__}")
    return str(value)


def _required(row: Mapping[str, Any], column: str) -> str:
    if column not in row:
        raise ValueError(f"has no column {column!r}; it has {', '.join(map(str, row))}; rename with --columns FIELD=NAME")
    text = _text(row, column)
    if not text.strip():
        raise ValueError(f"column {column!r} is empty")
    return text


def _evidence(row: Mapping[str, Any], column: str) -> tuple[str, ...]:
    value = row.get(column)
    if isinstance(value, str) and value.lstrip().startswith("["):
        # A list that was written into one CSV cell, or text that merely begins with a bracket.
        with contextlib.suppress(json.JSONDecodeError):
            value = json.loads(value)
    if isinstance(value, (list, tuple)):
        if not all(isinstance(passage, str) for passage in value):
            raise ValueError(f"column {column!r} must be text or a list of texts")
        passages = tuple(passage for passage in value if passage.strip())
        if not passages:
            raise ValueError(f"column {column!r} is empty")
        return passages
    return (_required(row, column),)


def _item(row: Mapping[str, Any], names: Mapping[str, str], overrides: Mapping[str, Label], require_label: bool) -> Item:
    claim, evidence = _required(row, names["claim"]), _evidence(row, names["evidence"])
    content = hashlib.sha256(json.dumps([claim, evidence]).encode()).hexdigest()[:12]
    label = None
    if require_label or not _missing(row.get(names["label"])):
        if _missing(row.get(names["label"])):
            _required(row, names["label"])
        label = read_label(row[names["label"]], overrides)
    return Item(
        id=_text(row, names["id"]) or f"item-{content}",
        claim=claim,
        evidence=evidence,
        label=label,
        # Without a cluster of its own, an item shares one with those that are judged on the same evidence.
        cluster=_text(row, names["cluster"]) or "evidence-" + hashlib.sha256("\n".join(evidence).encode()).hexdigest()[:12],
        source=_text(row, names["source"]),
        category=_text(row, names["category"]),
        domain=_text(row, names["domain"]),
        difficulty=_text(row, names["difficulty"]),
        rationale=_text(row, names["rationale"]),
        split=_text(row, names["split"]),
    )

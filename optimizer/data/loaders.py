"""Reads items from JSONL, CSV and Parquet. Every error names the file and the line, and nothing is guessed.

A column map renames the file's columns to ours: {"claim": "statement", "evidence": "passage"}. Rows with a question and no claim
are questions: `questions` reads them.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from optimizer.data.item import Item, Label
from optimizer.data.labels import parse_label_map, read_label
from optimizer.data.questions import QUESTION_FIELDS, is_question, question_item
from optimizer.errors import UserError

FIELDS = (
    "id",
    "claim",
    "evidence",
    "label",
    "cluster",
    "source",
    "category",
    "domain",
    "difficulty",
    "rationale",
    *QUESTION_FIELDS,
)
Row = tuple[int, dict[str, Any]]


def load_items(
    path: Path, columns: Mapping[str, str] | None = None, label_map: str = "", require_label: bool = True
) -> list[Item]:
    """All items of a file, in its order.

    Args:
        path: a .jsonl, .csv or .parquet file, or a folder with an items.jsonl in it.
        columns: our field name -> the file's column name, for columns that are called something else.
        label_map: `name=grounded,...`, in addition to the known labels.
        require_label: whether an item without a label is an error.

    Raises:
        UserError: the file is missing, is no UTF-8, or a line is bad; the message names file and line.
    """
    path = path / "items.jsonl" if path.is_dir() else path
    if not path.exists():
        raise UserError(f"{path}: no such data file; give a .jsonl, .csv or .parquet file of claims with evidence")
    reader = {".jsonl": _jsonl_rows, ".csv": _csv_rows, ".parquet": _parquet_rows}.get(path.suffix.lower())
    if reader is None:
        raise UserError(f"{path}: files of kind {path.suffix!r} are not read; convert it to .jsonl, .csv or .parquet")
    try:
        overrides = parse_label_map(label_map)
    except ValueError as error:
        raise UserError(str(error)) from error
    names = _column_names(columns or {})
    items: list[Item] = []
    seen: dict[str, int] = {}
    try:
        for line, row in reader(path):
            try:
                item = _item(row, names, overrides, require_label)
            except ValueError as error:
                raise UserError(f"{path}, line {line}: {error}") from error
            if item.id in seen:
                raise UserError(f"{path}, line {line}: id {item.id!r} is already used on line {seen[item.id]}; ids must differ")
            seen[item.id] = line
            items.append(item)
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 (it may be cp1252 or UTF-16)"
        ) from error
    if not items:
        raise UserError(f"{path}: holds no items")
    return items


def _column_names(columns: Mapping[str, str]) -> dict[str, str]:
    unknown = sorted(set(columns) - set(FIELDS))
    if unknown:
        raise UserError(f"column map names the field {unknown[0]!r}; fields are {', '.join(FIELDS)}")
    return {field: columns.get(field, field) for field in FIELDS}


def _jsonl_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as file:
        for number, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except json.JSONDecodeError as error:
                raise UserError(f"{path}, line {number}: not JSON ({error.msg} at column {error.colno})") from error
            if not isinstance(row, dict):
                raise UserError(f"{path}, line {number}: is a JSON {type(row).__name__}; each line must be an object")
            yield number, row


def _csv_rows(path: Path) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        while True:
            start = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise UserError(f"{path}, line {start}: not CSV ({error})") from error
            if None in row:
                raise UserError(f"{path}, line {start}: has more cells than the header has columns; quote cells with commas")
            yield start, {name: None if value == "" else value for name, value in row.items()}


def _parquet_rows(path: Path) -> Iterator[Row]:
    import pyarrow.parquet  # heavy, and only this format needs it

    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise UserError(f"{path}: not a Parquet file ({error})") from error
    number = 0
    for batch in file.iter_batches(batch_size=1024):
        for row in batch.to_pylist():
            number += 1
            yield number, row


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
    if is_question(row, names):
        return question_item(row, names, require_label)
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
    )

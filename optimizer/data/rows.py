"""Reads records from JSON Lines, JSON arrays, CSV and Parquet, each with its line. Every fault names file and line."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from optimizer.errors import UserError

Row = tuple[int, dict[str, Any]]
_BETWEEN = re.compile(r"[\s,]*")
# What stands in a table's first line where that is a record and no header: a number, a sentence, or a long text.
_NO_COLUMN_NAME = re.compile(r"[-+]?\d[\d.,]*|.*[.?:!]|.{60,}", re.DOTALL)


def read_rows(path: Path, header: bool | None = None) -> Iterator[Row]:
    """The records of a file with their line numbers (Parquet: record numbers), lazily.

    Args:
        path: .jsonl, .json (an array, or one object a line), .csv or .parquet.
        header: whether a CSV file has one; None looks. Without a header the columns are "0", "1" …

    Raises:
        UserError: the kind of file is not read, or a record is bad.
    """
    reader = READERS.get(path.suffix.lower())
    if path.is_dir():
        raise UserError(f"{path}: is a folder; give one of its files")
    if reader is None:
        kinds = ", ".join(READERS)
        raise UserError(f"{path}: files of kind {path.suffix!r} are not read; convert it to one of {kinds}")
    try:
        yield from _csv_rows(path, header) if reader is _csv_rows else reader(path)
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 (it may be cp1252 or UTF-16)"
        ) from error


def _jsonl_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as file:
        for number, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except json.JSONDecodeError as error:
                raise UserError(f"{path}, line {number}: not JSON ({error.msg} at column {error.colno})") from error
            yield number, _object(path, number, row, "each line")


def _json_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as file:
        first = next((text.strip() for text in file if text.strip()), "")
    return _array_rows(path) if first.startswith("[") else _jsonl_rows(path)


def _array_rows(path: Path) -> Iterator[Row]:
    text = path.read_text(encoding="utf-8-sig")
    decoder = json.JSONDecoder()
    end, line = 0, 1
    start = text.index("[") + 1
    while True:
        start = _BETWEEN.match(text, start).end()  # type: ignore[union-attr]  # it matches anything
        line += text.count("\n", end, start)
        if text.startswith("]", start):
            return
        try:
            row, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}, line {error.lineno}: not JSON ({error.msg} at column {error.colno})") from error
        yield line, _object(path, line, row, "each entry of the array")
        line += text.count("\n", start, end)
        start = end


def _object(path: Path, line: int, row: object, what: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise UserError(f"{path}, line {line}: is a JSON {type(row).__name__}; {what} must be an object")
    return row


def _csv_rows(path: Path, header: bool | None = None) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        names: list[str] | None = None
        while True:
            start = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise UserError(f"{path}, line {start}: not CSV ({error})") from error
            if not cells:
                continue
            if names is None:
                if header or (header is None and not any(_NO_COLUMN_NAME.fullmatch(cell) for cell in cells)):
                    names = cells
                    continue
                names = [str(column) for column in range(len(cells))]
            if len(cells) > len(names):
                raise UserError(f"{path}, line {start}: has more cells than the header has columns; quote cells with commas")
            padded = cells + [""] * (len(names) - len(cells))
            yield start, {name: None if cell == "" else cell for name, cell in zip(names, padded, strict=True)}


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


READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": _jsonl_rows,
    ".json": _json_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
}

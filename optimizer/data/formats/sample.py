"""The beginning of a file, by which its format is recognised."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from optimizer.data.formats.base import Sample
from optimizer.data.lines import text_lines
from optimizer.data.rows import read_rows
from optimizer.errors import UserError

KINDS = (".jsonl", ".json", ".csv", ".parquet")
_RECORDS = 5  # that are looked at
# What stands in a table's first line where that is a record and no header: a number, a sentence, or a long text.
_NO_COLUMN_NAME = re.compile(r"[-+]?\d[\d.,]*|.*[.?:!]|.{60,}", re.DOTALL)


def sample_of(path: Path) -> Sample:
    """The beginning of a file. Raises UserError if it cannot be read."""
    if path.suffix.lower() == ".toml":
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: cannot be read as TOML ({error})") from error
        return Sample(path, frozenset(table), (table,))
    found = _table(path) if path.suffix.lower() == ".csv" else (row for _, row in read_rows(path))
    rows = tuple(islice(found, _RECORDS))
    return Sample(path, frozenset(column for row in rows for column in row), rows)


def _table(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a CSV file; without a header the columns are "0", "1" …"""
    rows = csv.reader(text for _, text in text_lines(path))
    try:
        first = next(rows, [])
        if not any(_NO_COLUMN_NAME.fullmatch(cell) for cell in first):
            yield from (row for _, row in read_rows(path))
            return
        for cells in chain([first], rows):
            yield {str(column): cell for column, cell in enumerate(cells)}
    except csv.Error as error:
        raise UserError(f"{path}: not CSV ({error})") from error


def data_files(folder: Path) -> list[Path]:
    """The files of a folder that could hold records, by name."""
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in KINDS)

"""The beginning of a file, by which its format is recognised."""

from __future__ import annotations

import tomllib
from itertools import islice
from pathlib import Path

from optimizer.data.formats.base import Sample
from optimizer.data.rows import READERS, read_rows
from optimizer.errors import UserError

_RECORDS = 5  # that are looked at


def sample_of(path: Path) -> Sample:
    """The beginning of a file. Raises UserError if it cannot be read."""
    if path.suffix.lower() == ".toml":
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: cannot be read as TOML ({error})") from error
        return Sample(path, frozenset(table), (table,))
    rows = tuple(row for _, row in islice(read_rows(path), _RECORDS))
    return Sample(path, frozenset(column for row in rows for column in row), rows)


def data_files(folder: Path) -> list[Path]:
    """The files of a folder that could hold records, by name."""
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in READERS)

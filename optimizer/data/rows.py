"""The rows of a data file as they stand in it, one at a time: JSON lines, a JSON array, CSV, Parquet.

Nothing is interpreted but the file's syntax, and nothing of it is forgiven: a key or column that stands twice, a row with too
few cells or a quote that never closes is an error with file and line. At any time one row is in memory (of Parquet 1,024).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from optimizer.data.lines import text_lines, text_pieces
from optimizer.errors import UserError

Row = tuple[int, dict[str, Any]]
LONGEST_CELL = 100_000_000
_CHUNK = 1 << 20
_BEGINNING = 4_096
_NEAR_END = 16  # characters: where text stops in the middle of a word or an escape, the fault is said to be this near
_GAP = re.compile(r"[\s,]*")


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file, each with the line that it begins on (of Parquet: its number from 1).

    A file called .json, .jsonl or .ndjson is an array if it begins with a bracket, else one object a line. Text files may be
    gzipped: .jsonl.gz.

    Raises:
        UserError: there is no such file, its kind is not read, or a row is bad; the message names file and line.
    """
    if not path.exists():
        raise UserError(f"{path}: no such data file; give a .jsonl, .csv or .parquet file of claims with evidence")
    zipped = path.suffix.lower() == ".gz"
    kind = (path.with_suffix("") if zipped else path).suffix.lower()
    reader = _READERS.get(kind)
    if reader is None or (zipped and kind == ".parquet"):
        raise UserError(f"{path}: files of kind {path.suffix!r} are not read; convert it to .jsonl, .csv or .parquet")
    return reader(path)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _json_rows(path: Path) -> Iterator[Row]:
    first = next((text for text in text_pieces(path, _BEGINNING) if not text.isspace()), "")
    return _array_rows(path) if first.lstrip().startswith("[") else _object_rows(path)


def _object_rows(path: Path) -> Iterator[Row]:
    for number, text in text_lines(path):
        if text.isspace():
            continue
        try:
            row = _DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}, line {number}: not JSON ({_json_fault(error)})") from error
        yield number, _object(path, number, row)


def _object(path: Path, number: int, row: object) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise UserError(f"{path}, line {number}: is a JSON {type(row).__name__}; each line must be an object")
    return row


def _json_fault(error: Exception, before: int = 0) -> str:
    """What is wrong, in words. `before` counts the characters of the line that stand before the text that was decoded."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return "a number has too many digits" if "digits" in str(error) else str(error)
    at = f"at column {error.colno + (before if error.lineno == 1 else 0)}"
    if error.doc[: error.pos].rstrip().endswith(",") and error.doc[error.pos : error.pos + 1] in ("}", "]"):
        return f"a comma too many before {error.doc[error.pos]} {at}"
    if error.msg == "Extra data":
        return f"something follows the object {at}; each line must be one object"
    return f"{error.msg} {at}"


class _Array:
    """A JSON array read in pieces: `text` is what of the file is in memory, from line `line`, after `before` characters of it."""

    def __init__(self, path: Path) -> None:
        self.path, self.text, self.line, self.before = path, "", 1, 0
        self._pieces = text_pieces(path, _CHUNK)

    def more(self) -> bool:
        """Append the next piece of the file; whether there was one."""
        pieces, size = [], 0
        for piece in self._pieces:
            pieces.append(piece)
            size += len(piece)
            if size >= max(_CHUNK, len(self.text)):  # doubling: a long object is not parsed anew for each piece of it
                break
        self.text += "".join(pieces)
        return bool(pieces)

    def drop(self, end: int) -> None:
        """Forget the text before `end`."""
        newlines = self.text.count("\n", 0, end)
        self.before = end - self.text.rindex("\n", 0, end) - 1 if newlines else self.before + end
        self.line += newlines
        self.text = self.text[end:]

    def fail(self, what: str, at: int = 0) -> UserError:
        """The error for a fault at a character of the text."""
        return UserError(f"{self.path}, line {self.line + self.text.count(chr(10), 0, at)}: {what}")


def _array_rows(path: Path) -> Iterator[Row]:
    array = _Array(path)
    while "[" not in array.text and array.more():
        pass
    array.drop(array.text.index("[") + 1)
    end, line, first = 0, array.line, True
    while True:
        start = _next_start(array, end, first)
        if array.text[start] == "]":
            _check_end(array, start + 1)
            return
        if start > _CHUNK:
            array.drop(start)
            start, line, end = 0, array.line, 0
        line += array.text.count("\n", end, start)
        row, end = _decoded(array, start)
        if not isinstance(row, dict):
            raise UserError(f"{path}, line {line}: the array holds a JSON {type(row).__name__}; each entry must be an object")
        yield line, row
        line += array.text.count("\n", start, end)
        first = False


def _next_start(array: _Array, end: int, first: bool) -> int:
    """Where the next entry, or the closing bracket, begins; one comma stands between two entries."""
    while True:
        match = _GAP.match(array.text, end)
        start = match.end() if match else end
        if start < len(array.text) or not array.more():
            break
    if start >= len(array.text):
        raise array.fail("the file ends before the array does; a ] is missing", start)
    commas, closes = array.text.count(",", end, start), array.text[start] == "]"
    if commas > 1 or (commas and (first or closes)):
        raise array.fail(f"not JSON (a comma too many before {array.text[start]})", start)
    if not (commas or first or closes):
        raise array.fail("not JSON (a comma is missing between two entries)", start)
    return start


def _decoded(array: _Array, start: int) -> tuple[Any, int]:
    """The entry that begins at `start`, and where it ends; reads on where the text in memory stops in the middle of it."""
    while True:
        try:
            return _DECODER.raw_decode(array.text, start)
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated string") or error.pos >= len(array.text) - _NEAR_END
            if not (cut and array.more()):
                raise array.fail(f"not JSON ({_json_fault(error, array.before)})", error.pos) from error
        except (ValueError, RecursionError) as error:
            raise array.fail(f"not JSON ({_json_fault(error)})", start) from error


def _check_end(array: _Array, end: int) -> None:
    while True:
        rest = array.text[end:].lstrip()
        if rest:
            at = len(array.text) - len(rest)
            raise array.fail("something follows the end of the array; a file is one array, or one object a line", at)
        array.drop(len(array.text))
        end = 0
        if not array.more():
            return


def _csv_rows(path: Path) -> Iterator[Row]:
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader((text for _, text in text_lines(path)), strict=True)
    header: list[str] | None = None
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UserError(f"{path}, line {start}: not CSV ({_csv_fault(str(error), start)})") from error
        if not cells:
            continue
        if header is None:
            header = _header(path, start, cells)
            continue
        if len(cells) != len(header):
            more = len(cells) > len(header)
            raise UserError(
                f"{path}, line {start}: has {'more' if more else 'fewer'} cells than the header has columns ({len(cells)}, not "
                f"{len(header)}); {'quote cells with commas' if more else 'a cell or its comma is missing'}"
            )
        yield start, {name: cell if cell else None for name, cell in zip(header, cells, strict=True)}


def _header(path: Path, line: int, cells: list[str]) -> list[str]:
    if twice := [name for name in cells if cells.count(name) > 1]:
        raise UserError(f"{path}, line {line}: the column {twice[0]!r} stands twice in the header; rename one")
    if len(cells) == 1 and (other := [mark for mark in (";", "\t", "|") if mark in cells[0]]):
        raise UserError(f"{path}, line {line}: cells are parted by {other[0]!r}, not by commas; save it with commas")
    return cells


def _csv_fault(text: str, start: int) -> str:
    if "unexpected end of data" in text or "field larger than" in text:
        return f"a quote that opens in the row of line {start} is never closed"
    if "expected after" in text:
        return f'in this row a quote closes in the middle of a cell; write "" for a quote within one ({text})'
    return text


def _parquet_rows(path: Path) -> Iterator[Row]:
    import pyarrow.parquet  # heavy, and only this format needs it

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if twice := [name for name in names if names.count(name) > 1]:
                raise UserError(f"{path}: the column {twice[0]!r} is there twice; rename one")
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (OSError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: not a Parquet file, or damaged after row {number} ({error})") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: a text after row {number} is not UTF-8 ({error.reason}); write the file anew") from error


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".json": _json_rows,
    ".jsonl": _json_rows,
    ".ndjson": _json_rows,
    ".csv": _csv_rows,
    ".parquet": _parquet_rows,
}

"""Reads the records of a benchmark's file, each with the line it begins on, and makes question items of them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from optimizer.data.formats.base import Loading
from optimizer.data.item import Item, Task
from optimizer.errors import UserError

NO_ANSWER = "no published answer"  # why a record of a withheld test set becomes no item
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Record = Mapping[str, Any]
_Row = TypeVar("_Row")
_SPLITS = {"train": "train", "dev": "dev", "val": "dev", "validation": "dev", "test": "test"}
_GAP = re.compile(r"[\s,]*")


def records(path: Path) -> Iterator[tuple[int, Record]]:
    """The records of a CSV file with a header, of JSON lines, or of a JSON list of objects, whatever the file is called.

    Raises:
        UserError: the file cannot be read; the message names it and the line.
    """
    if path.suffix.lower() != ".csv":
        yield from _json_records(path, _text_of(path))
        return
    rows = csv_rows(path)
    _, header = next(rows, (1, []))
    for line, cells in rows:
        if len(cells) != len(header):
            raise UserError(f"{path}, line {line}: has {len(cells)} cells, but the header has {len(header)} columns")
        yield line, dict(zip(header, cells, strict=True))


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of every row of a CSV file, a header among them; blank lines are passed over."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(_text_of(path), newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UserError(f"{path}, line {line}: not CSV ({error}); it may have been cut off") from error
        if cells:
            yield line, cells


def items_of(path: Path, rows: Iterable[tuple[int, _Row]], make: Callable[[int, _Row], Item | None]) -> Iterator[Item]:
    """The items that `make` gives for (index from 0, row). Its ValueErrors get the file and the line; None is left out."""
    for index, (line, row) in enumerate(rows):
        try:
            item = make(index, row)
        except UserError:
            raise
        except ValueError as error:
            raise UserError(f"{path}, line {line}: {error}") from error
        if item is not None:
            yield item


def options_of(format_name: str, known: Mapping[str, str], loading: Loading) -> dict[str, str]:
    """The options of a format, the caller's over the defaults.

    Args:
        format_name: for the message.
        known: option -> its default; where it has only some values, all of them with | between, the default first.
        loading: holds the caller's.

    Raises:
        UserError: the format has no such option, or the option no such value.
    """
    for name, value in loading.options.items():
        if name not in known:
            raise UserError(f"{format_name} has no option {name!r}; it has {', '.join(known) or 'none'}")
        values = known[name].split("|")
        if len(values) > 1 and value not in values:
            raise UserError(f"{format_name}: option {name} is {value!r}; it can be {' or '.join(filter(None, values))}")
    return {name: values.partition("|")[0] for name, values in known.items()} | dict(loading.options)


def leave_out(loading: Loading, reason: str, item_id: str) -> None:
    """Note that a record becomes no item, and why."""
    loading.left_out.setdefault(reason, []).append(item_id)


def question(
    task: Task,
    item_id: str,
    text: str,
    answers: Sequence[str],
    *,
    source: str,
    choices: Sequence[str] = (),
    cluster: str = "",
    category: str = "",
    split: str = "",
    rationale: str = "",
) -> Item:
    """A question as an item. Without a cluster of its own it shares one with those that ask the very same.

    Raises:
        ValueError: the question, a choice or the answers are empty, or there are more choices than letters.
    """
    if not text.strip():
        raise ValueError("the question is empty")
    if any(not choice.strip() for choice in choices):
        raise ValueError("a choice is empty")
    if len(choices) > len(LETTERS):
        raise ValueError(f"has {len(choices)} choices; there are letters for {len(LETTERS)}")
    if not answers:
        raise ValueError("has no answer")
    return Item(
        id=item_id,
        claim=text,
        evidence=(),
        label=None,
        cluster=cluster or question_cluster(text),
        source=source,
        category=category,
        rationale=rationale,
        task=task,
        choices=tuple(choices),
        answers=tuple(answers),
        split=split,
    )


def question_cluster(text: str) -> str:
    """The cluster of those that ask the very same."""
    return f"question-{text_key(text)}"


def text_key(text: str) -> str:
    """A name for a text: 12 hex digits of its hash."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:12]


def string(record: Record, *names: str) -> str:
    """The first of these fields that is there, as a text.

    Raises:
        ValueError: none of them is there, or it is no text; names the fields that are.
    """
    for name in names:
        value = record.get(name)
        if isinstance(value, str):
            return value.strip()
        if value is not None:
            raise ValueError(f"field {name!r} must be text, but is a {type(value).__name__}")
    raise ValueError(f"has no field {' or '.join(map(repr, names))}; it has {', '.join(map(str, record))}")


def split_of(path: Path) -> str:
    """Where the authors put a file, from its name: train, dev or test; empty where the name does not say."""
    words = re.split(r"[^a-z]+", path.stem.lower())
    return next((_SPLITS[word] for word in words if word in _SPLITS), "")


def _text_of(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error


def _json_records(path: Path, text: str) -> Iterator[tuple[int, Record]]:
    decoder = json.JSONDecoder()
    position = _after_gap(text, 0)
    is_list = text.startswith("[", position)
    position = _after_gap(text, position + is_list)
    line, counted = 1, 0
    while position < len(text) and not (is_list and text[position] == "]"):
        line, counted = line + text.count("\n", counted, position), position
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}, line {error.lineno}: not JSON ({error.msg} at column {error.colno})") from error
        if not isinstance(value, dict):
            raise UserError(f"{path}, line {line}: is a JSON {type(value).__name__}; each record must be an object")
        yield line, value
        position = _after_gap(text, end)
    if is_list and position >= len(text):
        raise UserError(f"{path}: ends before its list does; it was cut off")


def _after_gap(text: str, position: int) -> int:
    found = _GAP.match(text, position)
    return found.end() if found else position

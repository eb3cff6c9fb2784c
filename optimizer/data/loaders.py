"""Reads the items of a data file, whatever its format. Every error names the file and the line, and nothing is guessed.

The own format has the columns of FIELDS; a column map renames the file's columns to ours: {"claim": "statement",
"evidence": "passage"}. The published formats are in formats/.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimizer.data.item import Item, Label
from optimizer.data.labels import GOLD_LABELS, parse_label_map
from optimizer.data.rows import READERS, read_rows
from optimizer.data.shipped import data_path
from optimizer.errors import UserError

# The formats' own modules read with this one, so it imports them late.
if TYPE_CHECKING:
    from optimizer.config import Settings
    from optimizer.data.formats.base import Loading

FIELDS = (
    "id", "claim", "evidence", "label", "cluster", "source", "category", "domain", "difficulty", "rationale", "split",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Data:
    """What a data file holds: its items, the format they were read in, the labels as read, and what was left out and why."""

    items: list[Item]
    format: str
    labels: Mapping[str, Label]
    left_out: Mapping[str, list[str]]

    @property
    def record(self) -> dict[str, Any]:
        """The format and the label map, as a run records them."""
        return {"format": self.format, "labels": {name: str(label) for name, label in sorted(self.labels.items())}}


def load_items(
    path: Path,
    columns: Mapping[str, str] | None = None,
    label_map: str = "",
    require_label: bool = True,
    format: str = "",
    options: Mapping[str, str] | None = None,
) -> list[Item]:
    """All items of a file, in its order: those of load_data.

    Raises:
        UserError: the file is missing, is no UTF-8, or a line is bad; the message names file and line.
    """
    from optimizer.data.formats.base import Loading

    loading = Loading(_overrides(label_map), options or {}, columns=columns or {}, require_label=require_label)
    return load_data(path, loading, format).items


def chosen_data(settings: Settings) -> Data:
    """The data that the settings name, read as they say.

    Raises:
        UserError: as load_items.
    """
    from optimizer.data.formats.base import Loading

    loading = Loading(_overrides(settings.label_map), settings.format_options, columns=settings.columns)
    return load_data(data_path(settings.data), loading, settings.format)


def load_data(path: Path, loading: Loading, format: str = "") -> Data:
    """All items of a file, or of a folder with an items.jsonl or a benchmark's files in it, in their order.

    Args:
        path: in our own format or a published one.
        loading: the caller's labels, options and columns; what was read and left out is noted in it.
        format: the format's name; empty recognises it. A column map means our own.

    Raises:
        UserError: the file is missing, not recognised or has no items, or a record is bad; the message names file and line.
    """
    from optimizer.data.formats import OWN, recognise

    path = _data_file(path)
    chosen = OWN if loading.columns and not format else recognise(path, format)
    if loading.columns and chosen is not OWN:
        raise UserError(f"{path}: --columns is for data in our own format, but the format is {chosen.name}; leave one away")
    items = list(_once(path, chosen.items(path, loading), loading))
    if not items:
        raise UserError(f"{path}: holds no items{_reasons(loading)}")
    return Data(items, chosen.name, loading.read, loading.left_out)


def _overrides(label_map: str) -> dict[str, Label]:
    try:
        return parse_label_map(label_map)
    except ValueError as error:
        raise UserError(str(error)) from error


def _data_file(path: Path) -> Path:
    path = path / "items.jsonl" if (path / "items.jsonl").is_file() else path
    if not path.exists():
        raise UserError(f"{path}: no such data file; give a {', '.join(READERS)} file of claims with evidence")
    return path


def _once(path: Path, items: Iterable[Item], loading: Loading) -> Iterator[Item]:
    """The items without those that repeat an earlier one; an id that stands for two different ones is an error."""
    seen: dict[str, str] = {}
    for item in items:
        content = item.content_hash
        earlier = seen.setdefault(item.id, "")
        if not earlier:
            seen[item.id] = content
            yield item
        elif earlier == content:
            loading.leave_out("repeats an earlier record", item.id)
        else:
            raise UserError(f"{path}: two different items have the id {item.id!r}; ids must differ")


def _reasons(loading: Loading) -> str:
    parts = [f"{len(ids)} left out because: {reason} ({', '.join(ids[:3])})" for reason, ids in loading.left_out.items()]
    return "; " + "; ".join(parts) if parts else ""


def own_items(path: Path, loading: Loading) -> Iterator[Item]:
    """The items of a file in our own format: one record an item, with the columns of FIELDS or as the column map says.

    Raises:
        UserError: a line is bad, or an id is used twice; the message names file and line.
    """
    names = _column_names(loading.columns)
    seen: dict[str, int] = {}
    for line, row in read_rows(path, header=True):
        try:
            item = _item(row, names, loading)
        except ValueError as error:
            raise UserError(f"{path}, line {line}: {error}") from error
        if item.id in seen:
            raise UserError(f"{path}, line {line}: id {item.id!r} is already used on line {seen[item.id]}; ids must differ")
        seen[item.id] = line
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


def _item(row: Mapping[str, Any], names: Mapping[str, str], loading: Loading) -> Item:
    claim, evidence = _required(row, names["claim"]), _evidence(row, names["evidence"])
    content = hashlib.sha256(json.dumps([claim, evidence]).encode()).hexdigest()[:12]
    given = row.get(names["label"])
    if loading.require_label and _missing(given):
        _required(row, names["label"])
    return Item(
        id=_text(row, names["id"]) or f"item-{content}",
        claim=claim,
        evidence=evidence,
        label=None if _missing(given) else loading.gold(given, GOLD_LABELS),
        # Without a cluster of its own, an item shares one with those that are judged on the same evidence.
        cluster=_text(row, names["cluster"]) or "evidence-" + hashlib.sha256("\n".join(evidence).encode()).hexdigest()[:12],
        source=_text(row, names["source"]),
        category=_text(row, names["category"]),
        domain=_text(row, names["domain"]),
        difficulty=_text(row, names["difficulty"]),
        rationale=_text(row, names["rationale"]),
        split=_text(row, names["split"]),
    )

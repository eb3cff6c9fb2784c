"""What a data file holds, whatever its format: its items, how they were read, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimizer.data.formats import OWN, recognise
from optimizer.data.formats.base import Loading
from optimizer.data.item import Item, Label
from optimizer.data.labels import overrides_of
from optimizer.data.shipped import data_path
from optimizer.errors import UserError

if TYPE_CHECKING:
    from optimizer.config import Settings


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


def chosen_data(settings: Settings) -> Data:
    """The data that the settings name, read as they say.

    Raises:
        UserError: as load_items.
    """
    return load_data(data_path(settings.data), loading_of(settings), settings.format)


def loading_of(settings: Settings) -> Loading:
    """What the settings choose of how a file is read."""
    return Loading(overrides_of(settings.label_map), settings.format_options, columns=settings.columns)


def load_data(path: Path, loading: Loading, format: str = "") -> Data:
    """All items of a file, or of a folder with an items.jsonl or a benchmark's files in it, in their order.

    Args:
        path: in our own format or a published one.
        loading: the caller's labels, options and columns; what was read and left out is noted in it.
        format: the format's name; empty recognises it. A column map means our own.

    Raises:
        UserError: the file is missing, not recognised or has no items, or a record is bad; the message names file and line.
    """
    items, name = stream_data(path, loading, format)
    found = list(items)
    if not found:
        raise UserError(f"{path}: holds no items{_reasons(loading)}")
    return Data(found, name, loading.read, loading.left_out)


def stream_data(path: Path, loading: Loading, format: str = "") -> tuple[Iterator[Item], str]:
    """The same one item at a time, at flat memory, and the format's name; arguments and errors are those of load_data."""
    path = path / "items.jsonl" if (path / "items.jsonl").is_file() else path
    if not path.exists():
        raise UserError(f"{path}: no such data file; give a .jsonl, .csv or .parquet file of claims with evidence")
    chosen = OWN if loading.columns and not format else recognise(path, format)
    if loading.columns and chosen is not OWN:
        raise UserError(f"{path}: --columns is for data in our own format, but the format is {chosen.name}; leave one away")
    return _once(path, chosen.items(path, loading), loading), chosen.name


def _once(path: Path, items: Iterable[Item], loading: Loading) -> Iterator[Item]:
    """The items without those that repeat an earlier one; an id that stands for two different ones is an error."""
    seen: dict[int, int] = {}  # hashes: of a large file no text is kept
    for item in items:
        identity, content = hash(item.id), hash(item)
        earlier = seen.get(identity)
        if earlier is None:
            seen[identity] = content
            yield item
        elif earlier == content:
            loading.leave_out("repeats an earlier record", item.id)
        else:
            raise UserError(f"{path}: two different items have the id {item.id!r}; ids must differ")


def _reasons(loading: Loading) -> str:
    parts = [f"{len(ids)} left out because: {reason} ({', '.join(ids[:3])})" for reason, ids in loading.left_out.items()]
    return "; " + "; ".join(parts) if parts else ""

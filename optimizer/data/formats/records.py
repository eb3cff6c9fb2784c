"""What formats of one record an item or more have in common: reading, ids, clusters, labels, and errors with file and line."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.sample import data_files, sample_of
from optimizer.data.item import Item, Label, Task
from optimizer.data.rows import read_rows
from optimizer.errors import UsageError, UserError

Record = Mapping[str, Any]
_SPLIT = re.compile(r"(?:^|[^a-z])(train|dev|test|val|valid|validation)(?:[^a-z]|$)")


class Blank(ValueError):
    """A record lacks a text that it should have. Published data has such records: they are left out, not errors."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One file being read: where it lies, the split that its name tells (or empty), the options in force, and what is noted."""

    path: Path
    split: str
    options: Mapping[str, str]
    loading: Loading


class RecordFormat(ABC):
    """A format whose records each become items of their own. A subclass says what it is, and what one record becomes."""

    name: str
    title: str
    licence: str
    home: str
    labels: Mapping[str, Label]
    task: Task = Task.CLAIM
    files: tuple[RemoteFile, ...] = ()
    options: Mapping[str, str] = {}

    @abstractmethod
    def recognises(self, sample: Sample) -> bool:
        """Whether a file that begins so is of this format."""

    @abstractmethod
    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        """The items of one record. Raises Blank where it lacks a text, another ValueError where it is bad."""

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The items of a file, lazily, in its order, or of all files of this format in a folder.

        Raises:
            UserError: a record is bad; the message names the file and the line.
        """
        options = chosen_options(self.name, self.options, loading)
        for file in self.files_in(path) if path.is_dir() else [path]:
            reading = Reading(file, split_of(file), options, loading)
            for line, record in self.records(reading):
                made = []
                try:
                    for item in self.from_record(record, reading):
                        made.append(item)  # what comes before a blank stays
                except Blank as gap:
                    loading.leave_out(str(gap), f"{file.name}, line {line}")
                except ValueError as error:
                    raise error if isinstance(error, UserError) else UserError(f"{file}, line {line}: {error}") from error
                yield from made

    def files_in(self, folder: Path) -> list[Path]:
        """The files of this format in a folder, by name."""
        return [file for file in data_files(folder) if self.recognises(sample_of(file))]

    def records(self, reading: Reading) -> Iterable[tuple[int, dict[str, Any]]]:
        """The file's records with their lines; for formats that must look at all of them first."""
        return read_rows(reading.path)

    def item(
        self,
        reading: Reading,
        id: object,
        claim: str,
        evidence: Iterable[str],
        label: Label | None,
        cluster: object,
        category: str = "",
        domain: str = "",
        split: str = "",
    ) -> Item:
        """An item whose id and cluster are namespaced by the benchmark. Raises Blank if there is no evidence."""
        passages = tuple(passage.strip() for passage in evidence if passage.strip())
        if not passages:
            raise Blank("its evidence is empty")
        return Item(
            id=f"{self.name}:{id}",
            claim=claim.strip(),
            evidence=passages,
            label=label,
            cluster=f"{self.name}:{cluster}",
            source=self.name,
            category=category,
            domain=domain,
            split=split or reading.split,
        )

    def gold(self, record: Record, column: str, reading: Reading) -> Label | None:
        """The record's label, or None where it has none and need not. Raises ValueError if it is unknown or missing."""
        value = record.get(column)
        if value is None or value == "":
            if reading.loading.require_label:
                raise ValueError(f"column {column!r} has no label")
            return None
        return reading.loading.gold(value, self.labels)


def chosen_options(name: str, known: Mapping[str, str], loading: Loading) -> dict[str, str]:
    """The options of a format, with the defaults where the caller says nothing.

    Raises:
        UsageError: the format has no such option, or the option no such value.
    """
    chosen = {option: values.partition("|")[0] for option, values in known.items()}
    for option, value in loading.options.items():
        if option not in known:
            raise UsageError(f"format {name} has no option {option!r}; it has {', '.join(known) or 'none'}")
        allowed = known[option].split("|")
        if len(allowed) > 1 and value not in allowed:
            raise UsageError(f"option {option} of format {name} is {value!r}; it can be {' or '.join(allowed)}")
        chosen[option] = value
    return chosen


def split_of(path: Path) -> str:
    """The split that a file's name tells: train, dev or test, or an empty text."""
    found = _SPLIT.search(path.stem.lower())
    if not found:
        return ""
    return "dev" if found[1].startswith("val") else found[1]


def text_of(record: Record, column: str) -> str:
    """A column that holds text; numbers are written out. Raises Blank if it is empty, ValueError if it is missing or no text."""
    value = _column(record, column)
    if isinstance(value, (dict, list, bool)):
        raise ValueError(f"column {column!r} must hold text, but is a {type(value).__name__}")
    if value is None or not str(value).strip():
        raise Blank(f"its {column} is empty")
    return str(value)


def texts_of(record: Record, column: str) -> tuple[str, ...]:
    """A column that holds a list of texts. Raises Blank if it is empty, ValueError if it is missing or no such list."""
    value = _column(record, column)
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise ValueError(f"column {column!r} must hold a list of texts")
    if not value:
        raise Blank(f"its {column} is empty")
    return tuple(value)


def _column(record: Record, column: str) -> Any:
    if column not in record:
        raise ValueError(f"has no column {column!r}; it has {', '.join(map(str, record))}")
    return record[column]


def digest(*texts: str) -> str:
    """Twelve hex digits that stand for texts, for records without an id of their own."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]

"""What a published format is: how it is recognised, how its labels are read, and how its lines become items.

One small module a benchmark; `formats/__init__.py` lists them all. A loader reads lazily, names the file and the line in every
error, and reports what it had to leave out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from optimizer.data.item import Item, Label, Task
from optimizer.data.labels import label_name, read_label


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a benchmark at its public home. `name` is the path it gets under the benchmark's folder."""

    url: str
    name: str
    split: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, for recognising its format: `rows` are its first records (CSV without header: keys "0", "1" …)."""

    path: Path
    columns: frozenset[str]
    rows: tuple[Mapping[str, Any], ...]


@dataclass(slots=True)
class Loading:
    """What the caller may choose, and what a loader reports back.

    Attributes:
        labels: the caller's overrides, normalised source label -> ours.
        options: of this format, e.g. `due_to_null` -> "grounded"; unknown ones are errors.
        left_out: why records became no items -> their ids (a claim without its document, say). Never silent.
        columns: of our own format alone, our field -> the file's column.
        require_label: whether a claim without a label is an error.
        read: the labels that were met, normalised source label -> ours.
    """

    labels: Mapping[str, Label] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    require_label: bool = True
    read: dict[str, Label] = field(default_factory=dict)

    def gold(self, value: object, known: Mapping[str, Label]) -> Label:
        """What a source's label stands for, by the caller's overrides, else by `known`. Raises ValueError for an unknown one."""
        label = read_label(value, self.labels, known)
        self.read[label_name(value)] = label
        return label

    def leave_out(self, reason: str, id: object) -> None:
        """Note that a record became no item."""
        self.left_out.setdefault(reason, []).append(str(id))


class Format(Protocol):
    """One published format. Implementations are stateless; most are a RecordFormat (records.py)."""

    name: str
    title: str
    task: Task
    licence: str
    home: str

    @property
    def files(self) -> tuple[RemoteFile, ...]:
        """What can be fetched, by `optimizer data fetch` or by hand; the first is what the benchmark's name alone stands for."""
        ...

    @property
    def labels(self) -> Mapping[str, Label]:
        """The source's own labels, normalised, and ours."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """Option -> its default; where it has only some values, all of them with | between, the default first."""
        ...

    def recognises(self, sample: Sample) -> bool:
        """Whether a file that begins so is of this format. No two formats recognise the same file."""
        ...

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The items of a file, lazily, in its order.

        Raises:
            UserError: a record is bad; the message names the file and the line.
        """
        ...

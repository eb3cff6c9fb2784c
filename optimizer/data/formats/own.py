"""Our own format: one claim a record with the columns of FIELDS, as JSON Lines, a JSON array, CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from optimizer.data.formats.base import Format, Loading, RemoteFile, Sample
from optimizer.data.formats.records import chosen_options
from optimizer.data.item import Item, Task
from optimizer.data.labels import GOLD_LABELS
from optimizer.data.loaders import read_items


class Own:
    """What `optimizer data convert` writes and `data new` begins. Our column names are common: where one of `published` has
    them too, with others of its own, the file is of that format.
    """

    name = "optimizer"
    title = "the toolkit's own"
    task = Task.CLAIM
    licence = "the data's"
    home = "docs/data.md"
    files: tuple[RemoteFile, ...] = ()
    labels = GOLD_LABELS
    options: dict[str, str] = {}

    def __init__(self, published: Sequence[Format] = ()) -> None:
        self._published = published

    def recognises(self, sample: Sample) -> bool:
        """Whether there is a claim, evidence, or a question to be read; what else is missing is then said with its line."""
        return bool({"claim", "evidence", "question"} & sample.columns) and not any(
            known.recognises(sample) for known in self._published
        )

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The items of a file, lazily, in its order. Raises UserError naming file and line."""
        chosen_options(self.name, self.options, loading)
        return read_items(path, loading.columns, loading.labels, loading.require_label, loading.read)

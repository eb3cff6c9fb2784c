"""ETHICS, commonsense morality: is what somebody tells acceptable or wrong? CSV, label 1 being wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.reading import LETTERS, Record, items_of, options_of, question, records, split_of, string
from optimizer.data.item import Item, Label, Task

CHOICES = ("acceptable", "wrong")
_COLUMNS = frozenset({"label", "input", "is_short"})
_ARCHIVE = "https://people.eecs.berkeley.edu/~hendrycks/ethics.tar"
_SHARED_WORDS = 0.3  # of all words of a pair: the twins of the published files have this much in common, neighbours have not


class Ethics:
    """Short scenes of one sentence, and long ones told on a forum; option `length` takes short, long or all of them.

    Short scenes come in twins that stand next to each other, have most words in common and the other label: a twin pair is
    one cluster.
    """

    name = "ethics"
    title = "ETHICS commonsense"
    task = Task.CHOICE
    licence = "MIT"
    home = "https://github.com/hendrycks/ethics"
    files: tuple[RemoteFile, ...] = tuple(
        RemoteFile(f"{_ARCHIVE}#ethics/commonsense/{name}.csv", f"{name}.csv", split)
        for name, split in (("cm_test", "test"), ("cm_test_hard", "test"), ("cm_train", "train"))
    )
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {"length": "all|short|long"}

    def recognises(self, sample: Sample) -> bool:
        """By its columns."""
        return sample.columns >= _COLUMNS

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The scenes of one file."""
        length = options_of(self.title, self.options, loading)["length"]
        split, twins = split_of(path), _Twins(path.stem)

        def make(index: int, record: Record) -> Item | None:
            label, text = string(record, "label"), string(record, "input")
            if label not in ("0", "1"):
                raise ValueError(f"the label is {label!r}; it must be 0 (acceptable) or 1 (wrong)")
            category = "short" if string(record, "is_short").lower() == "true" else "long"
            cluster = twins.cluster(index, label, text) if category == "short" else ""
            if length not in ("all", category):
                return None
            return question(
                self.task, f"ethics:{path.stem}:{index}", text, [LETTERS[int(label)]], source=self.name, choices=CHOICES,
                cluster=cluster, category=category, split=split,
            )  # fmt: skip

        yield from items_of(path, records(path), make)


class _Twins:
    """Gives a short scene the cluster of the one before it if the two are twins. Holds the one that is still alone."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._alone: tuple[int, str, frozenset[str], str] | None = None

    def cluster(self, index: int, label: str, text: str) -> str:
        words = frozenset(re.findall(r"\w+", text.lower()))
        alone, self._alone = self._alone, None
        if alone is not None:
            before, other_label, other_words, name = alone
            shared = len(words & other_words) / max(1, len(words | other_words))
            if before == index - 1 and other_label != label and shared >= _SHARED_WORDS:
                return name
        name = f"ethics:{self._file}:{index}"
        self._alone = (index, label, words, name)
        return name

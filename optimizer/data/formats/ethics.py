"""ETHICS, commonsense morality: is what somebody tells acceptable or wrong? CSV, label 1 being wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.questions import QuestionFormat
from optimizer.data.formats.records import Reading, Record, text_of
from optimizer.data.item import LETTERS, Item, Task

CHOICES = ("acceptable", "wrong")
_ARCHIVE = "https://people.eecs.berkeley.edu/~hendrycks/ethics.tar"
_SHARED_WORDS = 0.3  # of all words of a pair: the twins of the published files have this much in common, neighbours have not


class Ethics(QuestionFormat):
    """Short scenes of one sentence, and long ones told on a forum; option `length` takes short, long or all of them.

    Short scenes come in twins that stand next to each other, have most words in common and the other label: a twin pair is
    one cluster.
    """

    name = "ethics"
    title = "ETHICS, commonsense morality"
    task = Task.CHOICE
    licence = "MIT"
    home = "https://github.com/hendrycks/ethics"
    files = tuple(
        RemoteFile(f"{_ARCHIVE}#ethics/commonsense/{name}.csv", f"{name}.csv", split)
        for name, split in (("cm_test", "test"), ("cm_test_hard", "test"), ("cm_train", "train"))
    )
    options = {"length": "all|short|long"}

    def recognises(self, sample: Sample) -> bool:
        return {"label", "input", "is_short"} <= sample.columns

    def records(self, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
        """The scenes, each with the number of the first of its twins under "twins"."""
        before: dict[str, Any] = {}
        for number, (line, record) in enumerate(super().records(reading)):
            found = _are_twins(before, record)
            record["twins"] = before["twins"] if found else number
            yield line, record
            before = {} if found else record  # a scene has one twin

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        label, category = text_of(record, "label"), "short" if _is_short(record) else "long"
        if label not in ("0", "1"):
            raise ValueError(f"the label is {label!r}; it must be 0 ({CHOICES[0]}) or 1 ({CHOICES[1]})")
        if reading.options["length"] in ("all", category):
            stem = reading.path.stem
            yield self.question(
                reading,
                f"{stem}:{reading.number}",
                text_of(record, "input"),
                [LETTERS[int(label)]],
                CHOICES,
                cluster=f"{stem}:{record['twins']}" if category == "short" else "",
                category=category,
            )


def _is_short(record: Record) -> bool:
    return str(record.get("is_short")).lower() == "true"


def _are_twins(one: Record, other: Record) -> bool:
    """Whether two neighbours are short, labelled differently, and have most words in common."""
    if one.get("label") == other.get("label") or not (_is_short(one) and _is_short(other)):
        return False
    words, others = (set(re.findall(r"\w+", str(record.get("input")).lower())) for record in (one, other))
    return len(words & others) >= _SHARED_WORDS * max(1, len(words | others))

"""MMLU: questions with four choices on 57 subjects, as CSV without a header, one file a subject and split."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from optimizer.data.fields import digest
from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.questions import QuestionFormat
from optimizer.data.formats.records import Reading, Record
from optimizer.data.item import LETTERS, Item, Task
from optimizer.data.rows import csv_cells
from optimizer.errors import UsageError, UserError

_CHOICES = LETTERS[:4]
_CELLS = len(_CHOICES) + 2
_ARCHIVE = "https://people.eecs.berkeley.edu/~hendrycks/data.tar"
# The five questions a subject of the authors' dev folder are for examples; their validation split is val.
_OURS = {"dev": "train", "val": "dev", "test": "test"}


class Mmlu(QuestionFormat):
    """A file's name gives the subject and the split.

    Option `shots` puts so many solved questions of the subject's dev file before each, as in the published few-shot prompt.
    """

    name = "mmlu"
    title = "MMLU, 57 subjects"
    task = Task.CHOICE
    licence = "MIT"
    home = "https://github.com/hendrycks/test"
    files = tuple(RemoteFile(f"{_ARCHIVE}#data/{folder}/", f"data/{folder}/", _OURS[folder]) for folder in ("test", "val", "dev"))
    options = {"shots": "0"}

    def recognises(self, sample: Sample) -> bool:
        """Six cells without a header, the last of them A to D."""
        return (
            sample.columns == set(map(str, range(_CELLS)))
            and bool(sample.rows)
            and all(str(row.get(str(_CELLS - 1))).strip() in [*_CHOICES] for row in sample.rows)
        )

    def files_in(self, folder: Path) -> list[Path]:
        """All tables: one whose first question could be a header is not recognised by itself."""
        return sorted(folder.glob("*.csv"))

    def records(self, reading: Reading) -> Iterable[tuple[int, dict[str, Any]]]:
        """The lines, each with its "cells" and the solved questions that go "before" it."""
        before = _examples(reading.path, _shots(reading.options["shots"]))
        return ((line, {"cells": cells, "before": before}) for line, cells in csv_cells(reading.path))

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        subject, split = _subject_and_split(reading.path)
        question, choices, letter = _parts(record["cells"])
        yield self.question(
            reading,
            f"{subject}:{split or 'all'}:{reading.number}",
            record["before"] + question,
            [letter],
            choices,
            cluster=digest(question),
            category=subject,
            split=_OURS.get(split, ""),
        )


def _shots(text: str) -> int:
    if not text.isdigit():
        raise UsageError(f"option shots of format mmlu must be a whole number, 0 or 5 as published, but is {text!r}")
    return int(text)


def _subject_and_split(path: Path) -> tuple[str, str]:
    subject, separator, split = path.stem.rpartition("_")
    return (subject, split) if separator and split in _OURS else (path.stem, "")


def _parts(cells: list[str]) -> tuple[str, list[str], str]:
    if len(cells) != _CELLS:
        raise ValueError(f"has {len(cells)} cells; a line is the question, {len(_CHOICES)} choices and a letter")
    letter = cells[-1].strip()
    if letter not in [*_CHOICES]:
        raise ValueError(f"the answer is {letter!r}; it must be one of {', '.join(_CHOICES)}")
    return cells[0].strip(), [cell.strip() for cell in cells[1:-1]], letter


def _examples(path: Path, shots: int) -> str:
    """The solved questions as they stand before the question in the published few-shot prompt; empty without any."""
    if not shots:
        return ""
    subject, split = _subject_and_split(path)
    if split == "dev":
        raise UserError(f"{path}: its questions are the examples; take the test or val file where shots is not 0")
    places = [path.parent.parent / "dev" / f"{subject}_dev.csv", path.parent / f"{subject}_dev.csv"]
    source = next((place for place in places if place.is_file()), None)
    if source is None:
        raise UserError(
            f"{path}: shots={shots} takes its examples from {places[0]}, which is not there; put it there or use shots=0"
        )
    texts = []
    for line, cells in csv_cells(source):
        try:
            text, choices, letter = _parts(cells)
        except ValueError as error:
            raise UserError(f"{source}, line {line}: {error}") from error
        options = "".join(f"\n{name}. {choice}" for name, choice in zip(_CHOICES, choices, strict=True))
        texts.append(f"{text}{options}\nAnswer: {letter}\n\n")
    if len(texts) < shots:
        raise UserError(f"{source}: has {len(texts)} examples, fewer than shots={shots}")
    intro = f"The following are multiple choice questions (with answers) about {subject.replace('_', ' ')}.\n\n"
    return intro + "".join(texts[:shots])

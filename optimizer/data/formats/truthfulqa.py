"""TruthfulQA as multiple choice: mc_task.json, or TruthfulQA.csv with its best and its incorrect answers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.reading import LETTERS, Record, items_of, options_of, question, records, string, text_key
from optimizer.data.item import Item, Label, Task

_JSON, _CSV = frozenset({"question", "mc1_targets"}), frozenset({"Question", "Best Answer", "Incorrect Answers"})
_FOLDER = "https://raw.githubusercontent.com/sylinrl/TruthfulQA/main"


class TruthfulQa:
    """One right choice among several. The right one stands first in the file, so the choices are shuffled.

    Options: `targets` is mc1 (one right answer, several wrong ones) or mc0 (the best right and the best wrong one); `seed`
    shuffles the choices, each question's by itself, so that no other question's order depends on it.
    """

    name = "truthfulqa"
    title = "TruthfulQA"
    task = Task.CHOICE
    licence = "Apache-2.0"
    home = "https://github.com/sylinrl/TruthfulQA"
    files: tuple[RemoteFile, ...] = (
        RemoteFile(f"{_FOLDER}/TruthfulQA.csv", "TruthfulQA.csv"),
        RemoteFile(f"{_FOLDER}/data/mc_task.json", "mc_task.json"),
    )
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {"targets": "mc1|mc0", "seed": "0"}

    def recognises(self, sample: Sample) -> bool:
        """By the columns of either form."""
        return sample.columns >= _JSON or sample.columns >= _CSV

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The questions with their choices in the seed's order."""
        options = options_of(self.title, self.options, loading)
        targets, seed = options["targets"], options["seed"]

        def make(index: int, record: Record) -> Item:
            text = string(record, "question", "Question")
            right, wrong = _csv_answers(record, targets) if "Best Answer" in record else _json_answers(record, targets)
            choices = list(dict.fromkeys([right, *wrong]))
            if len(choices) < 2:
                raise ValueError("has no wrong answer")
            random.Random(f"{seed}:{text}").shuffle(choices)
            category = string(record, "Category") if "Category" in record else ""
            return question(
                self.task, f"truthfulqa:{text_key(text)}", text, [LETTERS[choices.index(right)]], source=self.name,
                choices=choices, category=category,
            )  # fmt: skip

        yield from items_of(path, records(path), make)


def _csv_answers(record: Record, targets: str) -> tuple[str, list[str]]:
    if targets == "mc0":
        return string(record, "Best Answer"), [string(record, "Best Incorrect Answer")]
    wrong = [part.strip() for part in string(record, "Incorrect Answers").split(";")]
    return string(record, "Best Answer"), [part for part in wrong if part]


def _json_answers(record: Record, targets: str) -> tuple[str, list[str]]:
    """From `{answer: 1 or 0}`, or from the hub's `{"choices": [...], "labels": [...]}`."""
    found = record.get(f"{targets}_targets")
    if not isinstance(found, dict):
        raise ValueError(f"has no {targets}_targets; it has {', '.join(map(str, record))}")
    if set(found) == {"choices", "labels"} and isinstance(found["choices"], list):
        found = dict(zip(found["choices"], found["labels"], strict=True))
    right = [answer for answer, mark in found.items() if mark == 1]
    if len(right) != 1:
        raise ValueError(f"{targets}_targets has {len(right)} right answers; it must have one")
    return right[0].strip(), [answer.strip() for answer, mark in found.items() if mark != 1]

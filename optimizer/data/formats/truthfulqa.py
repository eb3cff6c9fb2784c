"""TruthfulQA as multiple choice: mc_task.json, or TruthfulQA.csv with its best and its incorrect answers."""

from __future__ import annotations

import random
from collections.abc import Iterable

from optimizer.data.fields import digest
from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.questions import QuestionFormat
from optimizer.data.formats.records import Reading, Record, text_of
from optimizer.data.item import LETTERS, Item, Task

_FOLDER = "https://raw.githubusercontent.com/sylinrl/TruthfulQA/main"


class TruthfulQa(QuestionFormat):
    """One right choice among several. The right one stands first in the file, so the choices are shuffled.

    Options: `targets` is mc1 (one right answer, several wrong ones) or mc0 (the best right and the best wrong one); `seed`
    shuffles the choices, each question's by itself, so that no other question's order depends on it.
    """

    name = "truthfulqa"
    title = "TruthfulQA, one right choice"
    task = Task.CHOICE
    licence = "Apache-2.0"
    home = "https://github.com/sylinrl/TruthfulQA"
    files = (
        RemoteFile(f"{_FOLDER}/TruthfulQA.csv", "TruthfulQA.csv"),
        RemoteFile(f"{_FOLDER}/data/mc_task.json", "mc_task.json"),
    )
    options = {"targets": "mc1|mc0", "seed": "0"}

    def recognises(self, sample: Sample) -> bool:
        return {"question", "mc1_targets"} <= sample.columns or {
            "Question",
            "Best Answer",
            "Incorrect Answers",
        } <= sample.columns

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        is_csv, targets = "Best Answer" in record, reading.options["targets"]
        question = text_of(record, "Question" if is_csv else "question")
        right, wrong = _csv_answers(record, targets) if is_csv else _json_answers(record, targets)
        choices = list(dict.fromkeys([right, *wrong]))
        if len(choices) < 2:
            raise ValueError("has no wrong answer")
        random.Random(f"{reading.options['seed']}:{question}").shuffle(choices)
        category = str(record.get("Category") or "")
        yield self.question(reading, digest(question), question, [LETTERS[choices.index(right)]], choices, category=category)


def _csv_answers(record: Record, targets: str) -> tuple[str, list[str]]:
    right = text_of(record, "Best Answer")
    if targets == "mc0":
        return right, [text_of(record, "Best Incorrect Answer")]
    wrong = [part.strip() for part in text_of(record, "Incorrect Answers").split(";")]
    return right, [part for part in wrong if part]


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

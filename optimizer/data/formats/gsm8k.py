"""GSM8K: arithmetic in words, as JSON lines whose answer ends in `#### N`; also the socratic variant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.reading import Record, items_of, options_of, question, records, split_of, string
from optimizer.data.item import Item, Label, Task

_MARK = "####"
_CALCULATOR = re.compile(r"<<[^<>]*>>")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_FOLDER = "https://raw.githubusercontent.com/openai/grade-school-math/master/grade_school_math/data"


class Gsm8k:
    """The solution, without its calculator notes, becomes the rationale."""

    name = "gsm8k"
    title = "GSM8K"
    task = Task.NUMBER
    licence = "MIT"
    home = "https://github.com/openai/grade-school-math"
    files: tuple[RemoteFile, ...] = tuple(
        RemoteFile(f"{_FOLDER}/{name}.jsonl", f"{name}.jsonl", split)
        for name, split in (("test", "test"), ("train", "train"), ("test_socratic", "test"), ("train_socratic", "train"))
    )
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {}

    def recognises(self, sample: Sample) -> bool:
        """A question and an answer with the mark in it."""
        return (
            sample.columns == {"question", "answer"}
            and bool(sample.rows)
            and all(_MARK in str(row.get("answer")) for row in sample.rows)
        )

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The questions of one file."""
        options_of(self.title, self.options, loading)
        split = split_of(path)

        def make(index: int, record: Record) -> Item:
            solution, mark, number = string(record, "answer").rpartition(_MARK)
            if not mark:
                raise ValueError(f"the answer has no line {_MARK} N")
            return question(
                self.task, f"gsm8k:{path.stem}:{index}", string(record, "question"), [_number(number)], source=self.name,
                split=split, rationale=_CALCULATOR.sub("", solution).strip(),
            )  # fmt: skip

        yield from items_of(path, records(path), make)


def _number(text: str) -> str:
    plain = text.strip().replace(",", "").removeprefix("$")
    if not _NUMBER.fullmatch(plain):
        raise ValueError(f"the answer after {_MARK} is {text.strip()!r}, which is no number")
    return plain

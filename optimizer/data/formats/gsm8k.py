"""GSM8K: arithmetic in words, as JSON lines whose answer ends in `#### N`; also the socratic variant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.questions import QuestionFormat
from optimizer.data.formats.records import Reading, Record, text_of
from optimizer.data.item import Item, Task

_MARK = "####"
_CALCULATOR = re.compile(r"<<[^<>]*>>")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_FOLDER = "https://raw.githubusercontent.com/openai/grade-school-math/master/grade_school_math/data"


class Gsm8k(QuestionFormat):
    """The solution, without its calculator notes, becomes the rationale."""

    name = "gsm8k"
    title = "GSM8K, sums in words"
    task = Task.NUMBER
    licence = "MIT"
    home = "https://github.com/openai/grade-school-math"
    files = tuple(
        RemoteFile(f"{_FOLDER}/{name}.jsonl", f"{name}.jsonl", split)
        for name, split in (("test", "test"), ("train", "train"), ("test_socratic", "test"), ("train_socratic", "train"))
    )

    def recognises(self, sample: Sample) -> bool:
        return (
            sample.columns == {"question", "answer"}
            and bool(sample.rows)
            and all(_MARK in str(row.get("answer")) for row in sample.rows)
        )

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        solution, mark, number = text_of(record, "answer").rpartition(_MARK)
        if not mark:
            raise ValueError(f"the answer has no line {_MARK} N")
        yield self.question(
            reading,
            f"{reading.path.stem}:{reading.number}",
            text_of(record, "question"),
            [_number(number)],
            rationale=_CALCULATOR.sub("", solution).strip(),
        )


def _number(text: str) -> str:
    plain = text.strip().replace(",", "").removeprefix("$")
    if not _NUMBER.fullmatch(plain):
        raise ValueError(f"the answer after {_MARK} is {text.strip()!r}, which is no number")
    return plain

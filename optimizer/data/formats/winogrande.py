"""WinoGrande: which of two options fills the blank; JSON lines, or the instruction form in which it is also passed on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from optimizer.data.fields import digest
from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.questions import NO_ANSWER, QuestionFormat
from optimizer.data.formats.records import Reading, Record, text_of
from optimizer.data.item import LETTERS, Item, Task

_INSTRUCTION = re.compile(r"given sentence:\s*(.*?)\s*Option1:\s*(.*?)\s*Option2:\s*(.*?)\s*Answer format:", re.DOTALL)
_ARCHIVE = "https://storage.googleapis.com/ai2-mosaic/public/winogrande/winogrande_1.1.zip"
_SPLITS = {"dev": "dev", "train_xl": "train", "train_debiased": "train"}


class WinoGrande(QuestionFormat):
    """Sentences come in twins that differ in a few words and have the other answer: a twin pair is one cluster.

    Those without an answer, all of the test file, are left out.
    """

    name = "winogrande"
    title = "WinoGrande, pronouns"
    task = Task.CHOICE
    licence = "CC BY (data), Apache-2.0 (code)"
    home = "https://github.com/allenai/winogrande"
    files = tuple(
        RemoteFile(f"{_ARCHIVE}#winogrande_1.1/{name}.jsonl", f"{name}.jsonl", split) for name, split in _SPLITS.items()
    )

    def recognises(self, sample: Sample) -> bool:
        """By its columns, or by an instruction that lists two options."""
        if {"sentence", "option1", "option2"} <= sample.columns:
            return True
        return bool(sample.rows) and all(_INSTRUCTION.search(str(row.get("instruction", ""))) for row in sample.rows)

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        plain = from_instruction(record) if "instruction" in record else record
        sentence, options = text_of(plain, "sentence"), (text_of(plain, "option1"), text_of(plain, "option2"))
        own_id = str(plain.get("qID") or "")
        id = own_id or f"{reading.path.stem}:{reading.number}"
        answer = str(plain.get("answer") or "")
        if not answer:
            reading.loading.leave_out(NO_ANSWER, id)
            return
        if answer not in ("1", "2"):
            raise ValueError(f"the answer is {answer!r}; it must be 1 or 2")
        cluster = own_id.rpartition("-")[0] or own_id or _twins(sentence, options)
        yield self.question(reading, id, sentence, [LETTERS[int(answer) - 1]], options, cluster)


def from_instruction(record: Record) -> Record:
    """The fields of a record whose instruction holds the sentence and its options, and whose answer is option1 or option2."""
    found = _INSTRUCTION.search(text_of(record, "instruction"))
    if not found:
        raise ValueError(
            "the instruction is not of the form: ... given sentence: ... Option1: ... Option2: ... Answer format: ..."
        )
    sentence, first, second = found.groups()
    answer = str(record.get("answer") or "").removeprefix("option")
    return {"sentence": sentence, "option1": first, "option2": second, "answer": answer}


def _twins(sentence: str, options: tuple[str, str]) -> str:
    """What twins without ids share: their options and how they begin."""
    beginning = sentence.lower().split()[:2]
    return digest(" ".join([*sorted(option.lower() for option in options), *beginning]))

"""WinoGrande: which of two options fills the blank; JSON lines, or the instruction form in which it is also passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.reading import (
    LETTERS,
    NO_ANSWER,
    Record,
    items_of,
    leave_out,
    options_of,
    question,
    records,
    split_of,
    string,
    text_key,
)
from optimizer.data.item import Item, Label, Task

_COLUMNS = frozenset({"sentence", "option1", "option2"})
_INSTRUCTION = re.compile(r"given sentence:\s*(.*?)\s*Option1:\s*(.*?)\s*Option2:\s*(.*?)\s*Answer format:", re.DOTALL)
_ARCHIVE = "https://storage.googleapis.com/ai2-mosaic/public/winogrande/winogrande_1.1.zip"
_SPLITS = {"dev": "dev", "train_xl": "train", "train_debiased": "train"}


class WinoGrande:
    """Sentences come in twins that differ in a few words and have the other answer: a twin pair is one cluster."""

    name = "winogrande"
    title = "WinoGrande"
    task = Task.CHOICE
    licence = "CC BY (data), Apache-2.0 (code)"
    home = "https://github.com/allenai/winogrande"
    files: tuple[RemoteFile, ...] = tuple(
        RemoteFile(f"{_ARCHIVE}#winogrande_1.1/{name}.jsonl", f"{name}.jsonl", split) for name, split in _SPLITS.items()
    )
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {}

    def recognises(self, sample: Sample) -> bool:
        """By its columns, or by an instruction that lists two options."""
        if sample.columns >= _COLUMNS:
            return True
        return bool(sample.rows) and all(_INSTRUCTION.search(str(row.get("instruction", ""))) for row in sample.rows)

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The sentences that have an answer; the others, all of the test file, are left out."""
        options_of(self.title, self.options, loading)
        split = split_of(path)

        def make(index: int, record: Record) -> Item | None:
            plain = from_instruction(record) if "instruction" in record else record
            sentence, options = string(plain, "sentence"), (string(plain, "option1"), string(plain, "option2"))
            own_id = plain.get("qID")
            item_id = f"winogrande:{own_id}" if own_id else f"winogrande:{path.stem}:{index}"
            answer = str(plain.get("answer") or "")
            if not answer:
                leave_out(loading, NO_ANSWER, item_id)
                return None
            if answer not in ("1", "2"):
                raise ValueError(f"the answer is {answer!r}; it must be 1 or 2")
            return question(
                self.task, item_id, sentence, [LETTERS[int(answer) - 1]], source=self.name, choices=options,
                cluster=_cluster(own_id, sentence, options), split=split,
            )  # fmt: skip

        yield from items_of(path, records(path), make)


def from_instruction(record: Record) -> Record:
    """The fields of a record whose instruction holds the sentence and its options, and whose answer is option1 or option2."""
    found = _INSTRUCTION.search(string(record, "instruction"))
    if not found:
        raise ValueError(
            "the instruction is not of the form: ... given sentence: ... Option1: ... Option2: ... Answer format: ..."
        )
    sentence, first, second = found.groups()
    return {
        "sentence": sentence,
        "option1": first,
        "option2": second,
        "answer": string(record, "answer").removeprefix("option"),
    }


def _cluster(own_id: object, sentence: str, options: tuple[str, str]) -> str:
    """Twins share the stem of their id; without ids, their options and how they begin."""
    if own_id:
        return f"winogrande:{str(own_id).rpartition('-')[0] or own_id}"
    beginning = sentence.lower().split()[:2]
    return f"winogrande:{text_key(' '.join([*sorted(option.lower() for option in options), *beginning]))}"

"""ComplexWebQuestions: questions of several steps with short answers and their aliases, as a JSON list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from optimizer.data.formats.answers import answer_texts
from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.reading import NO_ANSWER, Record, items_of, leave_out, options_of, question, records, split_of, string
from optimizer.data.item import Item, Label, Task

_COLUMNS = frozenset({"ID", "question", "compositionality_type"})
_FOLDER = "https://www.dropbox.com/sh/7pkwkrfnwqhsnpo"


class ComplexWebQuestions:
    """Questions that were made from one question of WebQuestionsSP are one cluster."""

    name = "complexwebquestions"
    title = "ComplexWebQuestions"
    task = Task.TEXT
    licence = "not stated for the data (its README speaks of the GPL, copies on the hub of Apache-2.0)"
    home = "https://www.tau-nlp.sites.tau.ac.il/compwebq"
    files: tuple[RemoteFile, ...] = (
        RemoteFile(
            f"{_FOLDER}/AADH8beLbOUWxwvY_K38E3ADa/ComplexWebQuestions_dev.json?dl=1", "ComplexWebQuestions_dev.json", "dev"
        ),
        RemoteFile(
            f"{_FOLDER}/AAAIHeWX0cPpbpwK6w06BCxva/ComplexWebQuestions_train.json?dl=1", "ComplexWebQuestions_train.json", "train"
        ),
    )
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {}

    def recognises(self, sample: Sample) -> bool:
        """By its columns."""
        return sample.columns >= _COLUMNS

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The questions that have an answer; the others, all of the test file, are left out."""
        options_of(self.title, self.options, loading)
        split = split_of(path)

        def make(index: int, record: Record) -> Item | None:
            item_id = string(record, "ID")
            answers = answer_texts(record.get("answers"))
            if not answers:
                leave_out(loading, NO_ANSWER, item_id)
                return None
            origin = record.get("webqsp_ID")
            return question(
                self.task, item_id, string(record, "question"), answers, source=self.name,
                cluster=f"webqsp:{origin}" if origin else "", category=string(record, "compositionality_type"), split=split,
            )  # fmt: skip

        yield from items_of(path, records(path), make)

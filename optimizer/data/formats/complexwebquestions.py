"""ComplexWebQuestions: questions of several steps with short answers and their aliases, as a JSON list."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.data.fields import answer_texts
from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.questions import NO_ANSWER, QuestionFormat
from optimizer.data.formats.records import Reading, Record, text_of
from optimizer.data.item import Item, Task

_FOLDER = "https://www.dropbox.com/sh/7pkwkrfnwqhsnpo"


class ComplexWebQuestions(QuestionFormat):
    """Questions that were made from one question of WebQuestionsSP are one cluster. Those without an answer are left out."""

    name = "complexwebquestions"
    title = "ComplexWebQuestions"
    task = Task.TEXT
    licence = "not stated for the data (its README speaks of the GPL, copies on the hub of Apache-2.0)"
    home = "https://www.tau-nlp.sites.tau.ac.il/compwebq"
    files = tuple(
        RemoteFile(f"{_FOLDER}/{key}/ComplexWebQuestions_{split}.json?dl=1", f"ComplexWebQuestions_{split}.json", split)
        for split, key in (("dev", "AADH8beLbOUWxwvY_K38E3ADa"), ("train", "AAAIHeWX0cPpbpwK6w06BCxva"))
    )

    def recognises(self, sample: Sample) -> bool:
        return {"ID", "question", "compositionality_type"} <= sample.columns

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        id, answers = text_of(record, "ID"), answer_texts(record.get("answers"))
        if not answers:
            reading.loading.leave_out(NO_ANSWER, id)
            return
        yield self.question(
            reading,
            id,
            text_of(record, "question"),
            answers,
            cluster=record.get("webqsp_ID") or "",
            category=text_of(record, "compositionality_type"),
        )

"""HaluEval: right and made-up answers, dialogue turns and summaries on given knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.records import Reading, Record, RecordFormat, digest, text_of
from optimizer.data.item import Item, Label

_RAW = "https://raw.githubusercontent.com/RUCAIBox/HaluEval/main/data"
_FAILED = "failed!"  # what the authors' filter writes where it found no better answer
_GENERAL = {"user_query", "chatgpt_response", "hallucination"}


@dataclass(frozen=True, slots=True)
class _Kind:
    """One of the tasks: where its evidence and its context stand, what is judged, and how a claim is made of them."""

    task: str
    evidence: str
    context: str
    answer: str
    template: str

    @property
    def pair(self) -> tuple[str, str]:
        return f"right_{self.answer}", f"hallucinated_{self.answer}"

    def claim(self, record: Record, answer: str) -> str:
        context = text_of(record, self.context).strip() if self.context else ""
        return self.template.format(context, answer.strip()) if context else answer

    def needs(self) -> set[str]:
        return {self.evidence, *([self.context] if self.context else [])}


_KINDS = (
    _Kind("qa", "knowledge", "question", "answer", "Question: {}\nAnswer: {}"),
    _Kind("dialogue", "knowledge", "dialogue_history", "response", "Dialogue: {}\nResponse: {}"),
    _Kind("summarization", "document", "", "summary", ""),
)


class HaluEval(RecordFormat):
    """A right and a hallucinated text a record (two items), or one text with yes or no under `hallucination` (one item).

    Records on the same knowledge are a cluster. general_data.json has no knowledge: nothing there can be grounded, so all of it
    is left out. `category` is the task.
    """

    name = "halueval"
    title = "HaluEval, question answering, dialogue, summarization"
    licence = "MIT"
    home = "https://github.com/RUCAIBox/HaluEval"
    files = tuple(RemoteFile(f"{_RAW}/{task}_data.json", f"{task}_data.json") for task in ("qa", "dialogue", "summarization"))
    labels = {
        "right": Label.GROUNDED,
        "hallucinated": Label.NOT_GROUNDED,
        "no": Label.GROUNDED,
        "yes": Label.NOT_GROUNDED,
    }

    def recognises(self, sample: Sample) -> bool:
        return sample.columns >= _GENERAL or _kind(sample.columns) is not None

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        if record.keys() >= _GENERAL:
            reading.loading.leave_out("general_data.json has no knowledge to judge against", record.get("ID"))
            return
        kind = _kind(record.keys())
        if kind is None:
            raise ValueError(f"is of none of the tasks; it has {', '.join(record)}")
        evidence = text_of(record, kind.evidence)
        for answer, label in self._answers(kind, record, reading):
            claim = kind.claim(record, answer)
            # Generated answers may be the right ones word for word.
            id = f"{kind.task}:{digest(evidence, claim)}:{'right' if label is Label.GROUNDED else 'hallucinated'}"
            if answer.strip() == _FAILED:
                reading.loading.leave_out("the authors' generation failed", id)
                continue
            yield self.item(reading, id, claim, [evidence], label, digest(evidence), category=kind.task)

    def _answers(self, kind: _Kind, record: Record, reading: Reading) -> Iterator[tuple[str, Label | None]]:
        if "hallucination" in record:
            yield text_of(record, kind.answer), self.gold(record, "hallucination", reading)
            return
        for column in kind.pair:
            yield text_of(record, column), reading.loading.gold(column.partition("_")[0], self.labels)


def _kind(columns: Iterable[str]) -> _Kind | None:
    have = set(columns)
    for kind in _KINDS:
        if kind.needs() <= have and (have.issuperset(kind.pair) or {kind.answer, "hallucination"} <= have):
            return kind
    return None

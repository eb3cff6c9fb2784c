"""VitaminC: claims on sentences before and after a revision of a Wikipedia page; a small change of them flips the label."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.records import Reading, Record, RecordFormat, text_of
from optimizer.data.item import Item, Label

_HOME = "https://huggingface.co/datasets/tals/vitaminc"
_REVISION = "be6febb761b0b2807687e61e0b5282e459df2fa0"


class VitaminC(RecordFormat):
    """One claim and one sentence a record; a page is a cluster. `category` is the label as published."""

    name = "vitaminc"
    title = "VitaminC, fact verification"
    licence = "CC BY-SA 3.0 and Wikipedia terms"
    home = _HOME
    files = tuple(
        RemoteFile(f"{_HOME}/resolve/{_REVISION}/{split}.jsonl", f"{split}.jsonl", split) for split in ("test", "dev", "train")
    )
    labels = {
        "supports": Label.GROUNDED,
        "refutes": Label.NOT_GROUNDED,
        "not_enough_info": Label.NOT_GROUNDED,
    }

    def recognises(self, sample: Sample) -> bool:
        return {"unique_id", "case_id", "claim", "evidence", "label"} <= sample.columns

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        page = record.get("page") or text_of(record, "case_id")
        yield self.item(
            reading,
            text_of(record, "unique_id"),
            text_of(record, "claim"),
            [text_of(record, "evidence")],
            self.gold(record, "label", reading),
            page,
            category=str(record.get("label") or ""),
        )

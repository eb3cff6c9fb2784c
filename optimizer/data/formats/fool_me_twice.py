"""FoolMeTwice: claims that players wrote on Wikipedia pages to fool each other, with the evidence they chose."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.records import Reading, Record, RecordFormat, text_of
from optimizer.data.item import Item, Label

_RAW = "https://raw.githubusercontent.com/google-research/fool-me-twice/8f393a87e9ecd3d66ac85c96cdc54041652be712/dataset"


class FoolMeTwice(RecordFormat):
    """One claim a record, with the writer's evidence; a page is a cluster. `domain` is the topic.

    `evidence=retrieved` shows the sentences that were retrieved for the other players, the writer's among them.
    """

    name = "fool_me_twice"
    title = "FoolMeTwice"
    licence = "Apache-2.0 (Wikipedia terms for the evidence)"
    home = "https://github.com/google-research/fool-me-twice"
    files = tuple(RemoteFile(f"{_RAW}/{split}.jsonl", f"{split}.jsonl", split) for split in ("test", "dev", "train"))
    labels = {"supports": Label.GROUNDED, "refutes": Label.NOT_GROUNDED}
    options = {"evidence": "gold|retrieved"}

    def recognises(self, sample: Sample) -> bool:
        return {"id", "text", "label", "gold_evidence", "wikipedia_page"} <= sample.columns

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        column = f"{reading.options['evidence']}_evidence"
        passages = record.get(column)
        if not isinstance(passages, list) or not all(isinstance(part, dict) for part in passages):
            raise ValueError(f"column {column!r} must hold a list of objects with a text")
        yield self.item(
            reading,
            text_of(record, "id"),
            text_of(record, "text"),
            [str(passage.get("text") or "") for passage in passages],
            self.gold(record, "label", reading),
            text_of(record, "wikipedia_page"),
            domain=str(record.get("category") or ""),
        )

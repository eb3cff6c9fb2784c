"""FEVER-Symmetric 0.1 and 0.2: every claim with evidence for and against it, so that the claim alone gives nothing away."""

from __future__ import annotations

import re
from collections.abc import Iterable

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.records import Reading, Record, RecordFormat, text_of
from optimizer.data.item import Item, Label

_RAW = "https://raw.githubusercontent.com/TalSchuster/FeverSymmetric/7a0d73cb6744815c4c6ac54ebbd1951009a154c4"
_NAMES = (
    ("symmetric_v0.2/fever_symmetric_dev.jsonl", "dev"),
    ("symmetric_v0.2/fever_symmetric_test.jsonl", "test"),
    ("symmetric_v0.1/fever_symmetric_full.jsonl", ""),
    ("symmetric_v0.1/fever_symmetric_generated.jsonl", ""),
)
# The pairs that were made from a FEVER claim have its id with 0000002, 0000003 or 0000004 behind it.
_MADE = re.compile(r"(\d+)000000[234]")


class FeverSymmetric(RecordFormat):
    """One claim and one sentence a record; the two claims and two sentences of a FEVER id are a cluster."""

    name = "fever_symmetric"
    title = "FEVER-Symmetric 0.1 and 0.2"
    licence = "CC BY-SA 3.0 and Wikipedia terms"
    home = "https://github.com/TalSchuster/FeverSymmetric"
    files = tuple(RemoteFile(f"{_RAW}/{name}", name, split) for name, split in _NAMES)
    labels = {"supports": Label.GROUNDED, "refutes": Label.NOT_GROUNDED}

    def recognises(self, sample: Sample) -> bool:
        first = {"id", "label", "claim", "evidence_sentence"} <= sample.columns
        return first or {"id", "label", "claim", "evidence", "gold_label", "evid"} <= sample.columns

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        id = text_of(record, "id")
        made = _MADE.fullmatch(id)
        evidence = text_of(record, "evidence_sentence" if "evidence_sentence" in record else "evidence")
        yield self.item(
            reading,
            id,
            text_of(record, "claim"),
            [evidence],
            self.gold(record, "label", reading),
            made[1] if made else id,
        )

"""WiCE: claims of Wikipedia with the web pages that they cite, whole or as chunks that hold the supporting sentences."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.records import Reading, Record, RecordFormat, digest, text_of, texts_of
from optimizer.data.item import Item, Label

_RAW = "https://raw.githubusercontent.com/ryokamoi/wice/94d6188c19f051ee6b7978205938186e328767ca"


def _meta(record: Record) -> Record:
    meta = record.get("meta")
    if not isinstance(meta, dict) or "id" not in meta:
        raise ValueError("column 'meta' must be an object with an id")
    return meta


def _is_wice(sample: Sample) -> bool:
    return {"label", "claim", "evidence", "meta"} <= sample.columns and all(
        isinstance(row.get("meta"), dict) and "claim_title" in row["meta"] for row in sample.rows
    )


class Wice(RecordFormat):
    """One claim, or a part of one, and all sentences of the page it cites a record; the article it stands in is a cluster."""

    name = "wice"
    title = "WiCE, claims and subclaims with whole pages"
    licence = "ODC-BY (annotations), Wikipedia and Common Crawl terms"
    home = "https://github.com/ryokamoi/wice"
    files: tuple[RemoteFile, ...] = tuple(
        RemoteFile(f"{_RAW}/data/entailment_retrieval/claim/{split}.jsonl", f"{split}.jsonl", split)
        for split in ("test", "dev", "train")
    )
    labels = {
        "supported": Label.GROUNDED,
        "partially_supported": Label.NOT_GROUNDED,
        "not_supported": Label.NOT_GROUNDED,
    }

    def recognises(self, sample: Sample) -> bool:
        return _is_wice(sample) and "supporting_sentences" in sample.columns

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        evidence, meta = texts_of(record, "evidence"), _meta(record)
        yield self.item(
            reading,
            self.id_of(str(meta["id"]), evidence),
            text_of(record, "claim"),
            evidence,
            self.gold(record, "label", reading),
            meta.get("claim_title") or meta["id"],
            category=str(record.get("label") or ""),
        )

    def id_of(self, id: str, evidence: tuple[str, ...]) -> str:
        """The item's id: here the claim's."""
        return id


class WiceOracle(Wice):
    """One claim and one chunk of the page, chosen to hold supporting sentences, a record; a claim has several chunks."""

    name = "wice_oracle"
    title = "WiCE, claims with oracle chunks"
    files = tuple(
        RemoteFile(f"{_RAW}/code_and_resources/entailment_inputs/oracle_chunks/claim/{split}.jsonl", f"{split}.jsonl", split)
        for split in ("test", "dev")
    )

    def recognises(self, sample: Sample) -> bool:
        return (
            _is_wice(sample)
            and "supporting_sentences" not in sample.columns
            and all("chunk_idx" in row["meta"] for row in sample.rows)
        )

    def id_of(self, id: str, evidence: tuple[str, ...]) -> str:
        """The item's id: the claim's, and the chunk's content."""
        return f"{id}:{digest(*evidence)}"

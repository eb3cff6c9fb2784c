"""SciFact: claims on scientific abstracts; the labels are of a claim and one abstract that it cites."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.families import Families
from optimizer.data.formats.records import Reading, Record, RecordFormat, digest, text_of, texts_of
from optimizer.data.item import Item, Label
from optimizer.data.rows import read_rows
from optimizer.errors import UserError

_CORPUS = "corpus.jsonl"
_ARCHIVE = "https://scifact.s3-us-west-2.amazonaws.com/release/latest/data.tar.gz"
_NOTHING_FOUND = "not_enough_info"
_MIRROR_LABELS = {"SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO"}


class SciFact(RecordFormat):
    """One claim a record, one item for each abstract it cites; the abstracts stand in corpus.jsonl beside it (option `corpus`).

    An abstract in which no evidence was found is not enough info. All items show the sentences of the whole abstract, since
    rationales for some labels alone would tell them by their length; `evidence=rationale` shows the annotated sentences where
    there are any. Claims that share abstracts are a cluster, through others too. `category` is the label as published.
    """

    name = "scifact"
    title = "SciFact, claims with cited abstracts"
    licence = "CC BY 4.0 (claims), ODC-BY 1.0 (abstracts)"
    home = "https://github.com/allenai/scifact"
    files = tuple(
        RemoteFile(f"{_ARCHIVE}#data/{name}", name, split)
        for name, split in (("claims_dev.jsonl", "dev"), ("claims_train.jsonl", "train"), (_CORPUS, ""))
    )
    labels = {
        "support": Label.GROUNDED,
        "contradict": Label.NOT_GROUNDED,
        _NOTHING_FOUND: Label.NOT_GROUNDED,
    }
    options = {"evidence": "abstract|rationale", "corpus": ""}

    def recognises(self, sample: Sample) -> bool:
        # The test file has no labels and no documents, just these two columns.
        return {"id", "claim", "evidence", "cited_doc_ids"} <= sample.columns or (
            sample.columns == {"id", "claim"} and "claims_test" in sample.path.name
        )

    def records(self, reading: Reading) -> Iterable[tuple[int, dict[str, Any]]]:
        """The claims, each with its abstracts under "abstracts" and the name of its family under "family"."""
        claims = list(read_rows(reading.path))
        path = Path(reading.options["corpus"] or reading.path.with_name(_CORPUS))
        if reading.options["corpus"] and not path.exists():
            raise UserError(f"{path}: no such corpus; option corpus names SciFact's {_CORPUS}")
        families, wanted = Families(), set[str]()
        for line, claim in claims:
            try:
                cited = _cited(claim)
            except ValueError as error:
                raise UserError(f"{reading.path}, line {line}: {error}") from error
            families.join(cited)
            wanted.update(cited)
        abstracts = _abstracts(path, wanted) if path.exists() else {}
        for line, claim in claims:
            cited = _cited(claim)
            yield line, {**claim, "abstracts": abstracts, "family": families.of(cited[0]) if cited else ""}

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        id, found = text_of(record, "id"), _found(record)
        cited = _cited(record)
        if not cited:
            reading.loading.leave_out("cites no abstract and has no label (the test file)", id)
        for document in cited:
            abstract = record["abstracts"].get(document)
            if abstract is None:
                reading.loading.leave_out(f"its abstract is not in {_CORPUS}", f"{id}:{document}")
                continue
            rationales = found.get(document) or []
            label = text_of(rationales[0], "label") if rationales else _NOTHING_FOUND
            chosen = sorted({number for part in rationales for number in part.get("sentences") or ()})
            if chosen and reading.options["evidence"] == "rationale":
                abstract = _sentences(abstract, chosen, document)
            gold = reading.loading.gold(label, self.labels)
            yield self.item(
                reading, f"{id}:{document}", text_of(record, "claim"), abstract, gold, record["family"], category=label
            )


class SciFactMirror(RecordFormat):
    """SciFact as packed for few-shot work: evidence as one text, labels in words, ids that begin anew in each file.

    Nothing but the folder's name tells such a file from one of our own, so it is only recognised under a folder called scifact….
    Claims on the same evidence are a cluster.
    """

    name = "scifact_mirror"
    title = "SciFact, evidence as one text"
    licence = SciFact.licence
    home = "https://github.com/allenai/scifact"
    labels = {
        "supports": Label.GROUNDED,
        "refutes": Label.NOT_GROUNDED,
        _NOTHING_FOUND: Label.NOT_GROUNDED,
    }

    def recognises(self, sample: Sample) -> bool:
        return (
            sample.columns == {"claim", "evidence", "label", "id"}
            and any("scifact" in part.lower() for part in sample.path.absolute().parts)
            and all(isinstance(row.get("id"), int) and row.get("label") in _MIRROR_LABELS for row in sample.rows)
        )

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        claim, evidence = text_of(record, "claim"), text_of(record, "evidence")
        yield self.item(
            reading,
            f"{text_of(record, 'id')}:{digest(claim, evidence)}",
            claim,
            [evidence],
            self.gold(record, "label", reading),
            digest(evidence),
            category=str(record.get("label") or ""),
        )


def _cited(claim: Record) -> list[str]:
    """The documents of a claim, those with evidence first, each once."""
    return list(dict.fromkeys(str(document) for document in (*_found(claim), *(claim.get("cited_doc_ids") or ()))))


def _found(claim: Record) -> dict[str, Any]:
    """The rationales of each document in which evidence was found. Exported tables name the others too, with nothing in them."""
    evidence = claim.get("evidence") or {}
    if not isinstance(evidence, dict):
        raise ValueError("column 'evidence' must be an object of documents")
    return {document: rationales for document, rationales in evidence.items() if rationales}


def _abstracts(path: Path, wanted: set[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line, row in read_rows(path):
        document = str(row.get("doc_id"))
        if document in wanted:
            try:
                found[document] = texts_of(row, "abstract")
            except ValueError as error:
                raise UserError(f"{path}, line {line}: {error}") from error
    return found


def _sentences(abstract: tuple[str, ...], numbers: list[int], document: str) -> tuple[str, ...]:
    if numbers[-1] >= len(abstract):
        raise ValueError(f"abstract {document} has {len(abstract)} sentences, but evidence names sentence {numbers[-1]}")
    return tuple(abstract[number] for number in numbers)

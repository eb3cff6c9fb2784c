"""FEVEROUS: claims on sentences and table cells of Wikipedia, with the evidence as text or as ids of the wiki database."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.families import Families
from optimizer.data.formats.records import Reading, Record, RecordFormat, text_of
from optimizer.data.item import Item, Label
from optimizer.data.rows import read_rows

_RAW = "https://raw.githubusercontent.com/teacherpeterpan/ProgramFC/2601070da7ebd96f0e025f3440be0744ad267d4c"
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_NO_TEXT = "its evidence is ids of the FEVEROUS wiki database, without text"


class Feverous(RecordFormat):
    """One claim a record. Evidence as text has a line a passage, `page<TAB>sentence`; links are shown as the words they stand on.

    The authors' own files name the evidence by ids alone (evidence: [{content: [ids], context}]); those claims are left out, as
    their text is in a database of its own. Claims that share pages are a cluster, through others too. `category` is the
    challenge.
    """

    name = "feverous"
    title = "FEVEROUS, claims with evidence as text"
    licence = "CC BY-SA 3.0 (Wikipedia), MIT (the form with text)"
    home = "https://fever.ai/dataset/feverous.html"
    files = (RemoteFile(f"{_RAW}/datasets/FEVEROUS/claims/dev.json", "dev.json", "dev"),)
    labels = {
        "supports": Label.GROUNDED,
        "refutes": Label.NOT_GROUNDED,
        "not_enough_info": Label.NOT_GROUNDED,
    }

    def recognises(self, sample: Sample) -> bool:
        return {"id", "claim", "label", "challenge", "evidence"} <= sample.columns

    def records(self, reading: Reading) -> Iterable[tuple[int, dict[str, Any]]]:
        """The claims, each with the name of its family under "family"."""
        claims = list(read_rows(reading.path))
        families = Families()
        for _, claim in claims:
            families.join(_pages(claim))
        for line, claim in claims:
            pages = _pages(claim)
            yield line, {**claim, "family": families.of(pages[0]) if pages else claim.get("id")}

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        if not record.get("claim"):
            reading.loading.leave_out("has no claim (the authors' files begin with such a line)", record.get("id"))
            return
        id = text_of(record, "id")
        if not isinstance(record.get("evidence"), str):
            reading.loading.leave_out(_NO_TEXT, id)
            return
        yield self.item(
            reading,
            id,
            text_of(record, "claim"),
            [_passage(line) for line in _lines(record)],
            self.gold(record, "label", reading),
            record["family"],
            category=str(record.get("challenge") or ""),
        )


def _lines(record: Record) -> list[str]:
    evidence = record.get("evidence")
    return [line for line in evidence.split("\n") if line.strip()] if isinstance(evidence, str) else []


def _pages(record: Record) -> list[str]:
    return list(dict.fromkeys(page for page, tab, _ in (line.partition("\t") for line in _lines(record)) if tab))


def _passage(line: str) -> str:
    page, tab, text = line.partition("\t")
    return _LINK.sub(r"\1", f"{page}: {text}" if tab else line)

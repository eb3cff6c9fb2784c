"""LLM-AggreFact: claims of models on documents, collected from several benchmarks into four columns."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.records import Reading, Record, RecordFormat, digest, text_of
from optimizer.data.item import Item, Label


class AggreFact(RecordFormat):
    """One claim and one document a record, label 1 or 0; a document is a cluster. `category` is the data set it comes from.

    Its files are only given to accounts that accepted its terms, so fetching takes a login at the hub.
    """

    name = "llm_aggrefact"
    title = "LLM-AggreFact"
    licence = "CC BY-ND 4.0, for evaluation only"
    home = "https://huggingface.co/datasets/lytang/LLM-AggreFact"
    files = tuple(
        RemoteFile(f"hf://datasets/lytang/LLM-AggreFact/data/{split}-00000-of-00001.parquet", f"{split}.parquet", split)
        for split in ("test", "dev")
    )
    labels = {"1": Label.GROUNDED, "0": Label.NOT_GROUNDED}

    def recognises(self, sample: Sample) -> bool:
        return {"dataset", "doc", "claim", "label"} <= sample.columns

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        dataset, document, claim = text_of(record, "dataset"), text_of(record, "doc"), text_of(record, "claim")
        yield self.item(
            reading,
            f"{dataset}:{digest(document, claim, str(record.get('label')))}",
            claim,
            [document],
            self.gold(record, "label", reading),
            digest(document),
            category=dataset,
        )

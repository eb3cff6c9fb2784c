"""RAGTruth: answers, overviews and summaries that models wrote from given sources, with the spans that these do not bear out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.records import Reading, Record, RecordFormat, text_of
from optimizer.data.item import Item, Label
from optimizer.data.rows import read_rows

_RAW = "https://raw.githubusercontent.com/ParticleMedia/RAGTruth/main/dataset"
_RESPONSES, _SOURCES = "response.jsonl", "source_info.jsonl"
_PASSAGE = re.compile(r"^passage \d+:", re.MULTILINE)
_NO_SPAN = "no_span"


class RagTruth(RecordFormat):
    """One response a record of response.jsonl; its source stands in source_info.jsonl beside it, and is the cluster.

    A response is not grounded if a span counts whose type the label map calls so. `implicit_true` spans are right though the
    source does not say so; `due_to_null` ones read something into a missing value. `category` is the task.
    """

    name = "ragtruth"
    title = "RAGTruth, whole responses"
    licence = "MIT"
    home = "https://github.com/ParticleMedia/RAGTruth"
    files = tuple(RemoteFile(f"{_RAW}/{name}", name) for name in (_RESPONSES, _SOURCES))
    labels = {
        _NO_SPAN: Label.GROUNDED,
        "evident_conflict": Label.NOT_GROUNDED,
        "subtle_conflict": Label.NOT_GROUNDED,
        "evident_baseless_info": Label.NOT_GROUNDED,
        "subtle_baseless_info": Label.NOT_GROUNDED,
    }
    options = {
        "implicit_true": "not_grounded|grounded",
        "due_to_null": "not_grounded|grounded",
        "quality": "all|good",
    }

    def recognises(self, sample: Sample) -> bool:
        return {"id", "source_id", "labels", "response"} <= sample.columns or {
            "source_id",
            "task_type",
            "source_info",
        } <= sample.columns

    def files_in(self, folder: Path) -> list[Path]:
        """The responses alone: their sources are read with them."""
        return [folder / _RESPONSES]

    def records(self, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
        """The responses, each with its source under "source"; what does not join is left out."""
        responses = reading.path.with_name(_RESPONSES) if reading.path.name == _SOURCES else reading.path
        sources = _sources(responses.with_name(_SOURCES))
        used: set[str] = set()
        for line, response in read_rows(responses) if responses.exists() else ():
            id = str(response.get("source_id"))
            if id in sources:
                used.add(id)
                yield line, {**response, "source": sources[id]}
            else:
                reading.loading.leave_out(f"its source_id is not in {_SOURCES} beside it", response.get("id"))
        for id in sources:
            if id not in used:
                reading.loading.leave_out(f"a source without a response in {responses.name}", id)

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        id = text_of(record, "id")
        if reading.options["quality"] == "good" and record.get("quality") != "good":
            reading.loading.leave_out(f"its quality is {record.get('quality')}", id)
            return
        question, evidence = _content(record["source"])
        response = text_of(record, "response")
        yield self.item(
            reading,
            id,
            f"Question: {question}\nAnswer: {response}" if question else response,
            evidence,
            self._label(record, reading),
            record["source_id"],
            category=str(record["source"].get("task_type") or ""),
            split=str(record.get("split") or ""),
        )

    def _label(self, record: Record, reading: Reading) -> Label | None:
        spans = record.get("labels")
        if spans is None:
            return self.gold(record, "labels", reading)
        if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
            raise ValueError("column 'labels' must be a list of spans")
        found = [reading.loading.gold(text_of(span, "label_type"), self.labels) for span in spans if _counts(span, reading)]
        if Label.NOT_GROUNDED in found:
            return Label.NOT_GROUNDED
        return reading.loading.gold(_NO_SPAN, self.labels)


def _counts(span: Record, reading: Reading) -> bool:
    return not any(span.get(flag) and reading.options[flag] == "grounded" for flag in ("implicit_true", "due_to_null"))


def _sources(path: Path) -> dict[str, dict[str, Any]]:
    return {str(row.get("source_id")): row for _, row in read_rows(path)} if path.exists() else {}


def _content(source: Record) -> tuple[str, tuple[str, ...]]:
    """The question, if there is one, and the passages of a source: a text, a question with passages, or a record of facts."""
    info = source.get("source_info")
    if isinstance(info, str):
        return "", (info,)
    if not isinstance(info, dict):
        raise ValueError(f"source {source.get('source_id')!r} has neither a text nor an object as source_info")
    if "passages" in info:
        return str(info.get("question", "")), _passages(str(info["passages"]))
    return "", tuple(_facts(info))


def _passages(text: str) -> tuple[str, ...]:
    """Passages without the headings `passage N:` that part them."""
    return tuple(part for part in _PASSAGE.split(text) if part.strip())


def _facts(info: Record) -> Iterator[str]:
    """One passage a field, `name: value`, and one an entry of a list; what is no text is written as JSON, null too."""
    for name, value in info.items():
        for part in value if isinstance(value, list) else [value]:
            yield f"{name}: {part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)}"

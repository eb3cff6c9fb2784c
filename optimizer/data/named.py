"""Data that goes by a name instead of a path: fetched benchmarks, and sums that are generated when they are asked for."""

from __future__ import annotations

from pathlib import Path

from optimizer.data.fetch import Benchmark, fetched_path
from optimizer.data.formats import FORMATS
from optimizer.data.formats.arithmetic import NAME as ARITHMETIC
from optimizer.data.formats.arithmetic import Sums, parse_sums, sums_text
from optimizer.errors import UsageError
from optimizer.models.catalogue import cache_folder
from optimizer.prompts.files import write_text


def benchmarks() -> dict[str, Benchmark]:
    """All that can be fetched, by name."""
    return {entry.name: entry for entry in FORMATS if entry.files}


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name. Raises UsageError listing the names there are."""
    known = benchmarks()
    if name not in known:
        raise UsageError(f"unknown benchmark {name!r}; known are {', '.join(known)}")
    return known[name]


def named_path(text: str) -> Path | None:
    """The file that NAME, NAME:PART or arithmetic:form=2,n=100,seed=0 stands for; None if the text is no such name.

    Raises:
        UserError: the benchmark is not fetched, or has changed since; UsageError: it has no such part.
    """
    name, _, part = text.partition(":")
    if name == ARITHMETIC:
        sums = parse_sums(part)
        return generate_sums(sums, cache_folder() / "data" / ARITHMETIC / f"{sums.text}.jsonl")
    known = benchmarks()
    return fetched_path(known[name], part) if name in known else None


def generate_sums(sums: Sums, path: Path) -> Path:
    """Write the file of these sums, unless it is there and the same; its path."""
    text = sums_text(sums)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)
    return path

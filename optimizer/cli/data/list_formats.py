"""`optimizer data list`: the formats of data files that are read, and the benchmarks that can be fetched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from optimizer.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optimizer.data.formats.base import Format
    from optimizer.data.item import Label

_BRACKETS = re.compile(r" \([^()]*\)")  # which part of a licence is for what


def command(as_json: options.Json = False) -> None:
    """The formats that are read, and what `data fetch` gets of each. `data show NAME` has one in full."""
    from optimizer.cli.console import print_json, print_table, say
    from optimizer.data.formats import FORMATS

    found = [describe(known) for known in FORMATS]
    if as_json:
        print_json(found)
        return
    rows = []
    for each in found:
        parts = "* " * each["fetched"] + ", ".join(each["parts"])
        rows.append([each["name"], each["task"], _BRACKETS.sub("", each["licence"]), parts])
    print_table("", ["name", "task", "licence", "parts to fetch (* are here)"], rows)
    say(
        "One in full: optimizer data show NAME. Once fetched with optimizer data fetch NAME, --data NAME reads the first part, "
        "--data NAME:PART another."
    )


def describe(known: Format) -> dict[str, Any]:
    """A format as JSON."""
    from optimizer.data.fetch import benchmark_folder, is_fetched, parts

    return {
        "name": known.name,
        "title": known.title,
        "task": str(known.task),
        "licence": known.licence,
        "home": known.home,
        "fetched": is_fetched(known, benchmark_folder(known)),
        "files": [{"url": file.url, "name": file.name, "split": file.split} for file in known.files],
        "parts": parts(known),
        "labels": {name: str(label) for name, label in known.labels.items()},
        "options": dict(known.options),
    }


def label_words(labels: Mapping[str, Label]) -> str:
    """A label map in words: the source's labels that each of ours stands for."""
    ours: dict[str, list[str]] = {}
    for name, label in labels.items():
        ours.setdefault(str(label), []).append(name)
    return "; ".join(f"{label}: {', '.join(names)}" for label, names in ours.items())

"""`optimizer data list`: the formats of data files that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optimizer.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optimizer.data.formats.base import Format
    from optimizer.data.item import Label


def command(as_json: options.Json = False) -> None:
    """The formats that are read: task, licence, home, files, label map and options. `data show NAME` has one in full."""
    from optimizer.cli.console import print_json, print_table
    from optimizer.data.formats import FORMATS

    if as_json:
        print_json([describe(known) for known in FORMATS])
        return
    rows = [
        [
            known.name,
            known.task,
            known.licence,
            known.home.removeprefix("https://"),
            ", ".join(file.name for file in known.files) or "–",
            label_map(known.labels),
        ]
        for known in FORMATS
    ]
    print_table("", ["format", "task", "licence", "home", "files", "labels"], rows)


def describe(known: Format) -> dict[str, Any]:
    """A format as JSON."""
    return {
        "name": known.name,
        "title": known.title,
        "task": str(known.task),
        "licence": known.licence,
        "home": known.home,
        "files": [{"url": file.url, "name": file.name, "split": file.split} for file in known.files],
        "labels": {name: str(label) for name, label in known.labels.items()},
        "options": dict(known.options),
    }


def label_map(labels: Mapping[str, Label]) -> str:
    """A label map in words: the source's labels that each of ours stands for."""
    ours: dict[str, list[str]] = {}
    for name, label in labels.items():
        ours.setdefault(str(label), []).append(name)
    return "; ".join(f"{label}: {', '.join(names)}" for label, names in ours.items()) or "–"

"""`optimizer data show`: what a data file holds, and how it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.data.datafile import Data

_IDS = 10  # of what was left out, before the rest is only counted
_TEXT = 300  # characters of a text


def command(
    file: Annotated[str, typer.Argument(help="A data file, a shipped data set, or the name of a format.")],
    format: options.Format = None,
    format_options: options.FormatOptions = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    first: Annotated[int, typer.Option(min=0, help="Show so many items, with evidence.")] = 2,
    as_json: options.Json = False,
) -> None:
    """Read a file: its format, label map, items by label, clusters, what was left out and why, and the first items.

    The name of a format shows what it is, its files, labels and options.
    """
    from dataclasses import asdict

    from optimizer.cli.console import print_json, say
    from optimizer.data.formats import FORMATS

    named = {known.name: known for known in FORMATS}.get(file)
    if named and not _is_there(file):
        from optimizer.cli.data.list_formats import describe

        _show_format(describe(named), as_json)
        return
    data = load(file, format, format_options, columns, label_map)
    if as_json:
        print_json({**summary(data), "first": [asdict(item) for item in data.items[:first]]})
        return
    _say_summary(file, data)
    say_left_out(data)
    for item in data.items[:first]:
        say(f"\n{item.id} ({item.label}, cluster {item.cluster}{', ' + item.category if item.category else ''})")
        say(f"  claim: {_short(item.claim)}")
        say(f"  evidence, {len(item.evidence)} passages: {_short(item.evidence_text)}")


def _is_there(file: str) -> bool:
    from optimizer.data.shipped import data_path
    from optimizer.errors import UserError

    try:
        return data_path(file).exists()
    except UserError:  # a name that stands for nothing yet
        return False


def load(
    file: str, format: str | None, format_options: list[str] | None, columns: list[str] | None, label_map: str | None
) -> Data:
    """The data of a file, read as the flags say; settings files play no part."""
    from optimizer.config import Settings
    from optimizer.data.datafile import chosen_data

    return chosen_data(
        Settings(
            data=file,
            format=format or "",
            format_options=options.pairs(format_options or [], "--option"),
            columns=options.pairs(columns or [], "--columns"),
            label_map=label_map or "",
        )
    )


def summary(data: Data) -> dict[str, Any]:
    """The counts of a data file, for programs."""
    from collections import Counter

    from optimizer.data.checks import label_counts

    return {
        **data.record,
        "items": len(data.items),
        "clusters": len({item.cluster for item in data.items}),
        "by_label": dict(sorted(label_counts(data.items).items())),
        "by_category": dict(sorted(Counter(item.category for item in data.items).items())),
        "by_split": dict(sorted(Counter(item.split for item in data.items).items())),
        "left_out": {reason: list(ids) for reason, ids in data.left_out.items()},
    }


def say_left_out(data: Data) -> None:
    """Say what became no item, and why."""
    from optimizer.cli.console import say

    for reason, ids in data.left_out.items():
        more = f" and {len(ids) - _IDS} more" if len(ids) > _IDS else ""
        say(f"left out, {len(ids)}: {reason}: {', '.join(ids[:_IDS])}{more}")


def _say_summary(file: str, data: Data) -> None:
    from optimizer.cli.console import say
    from optimizer.cli.data.list_formats import label_map

    counts = summary(data)
    say(f"{file}: format {data.format}, {counts['items']} items in {counts['clusters']} clusters")
    say(f"labels: {', '.join(f'{count} {name}' for name, count in counts['by_label'].items())}")
    say(f"label map: {label_map(dict(sorted(data.labels.items())))}")
    for what in ("category", "split"):
        found = {name or "(none)": count for name, count in counts[f"by_{what}"].items()}
        if set(found) != {"(none)"}:
            say(f"{what}: {', '.join(f'{count} {name}' for name, count in found.items())}")


def _show_format(known: dict[str, Any], as_json: bool) -> None:
    from optimizer.cli.console import print_json, say

    if as_json:
        print_json(known)
        return
    say(f"{known['name']}: {known['title']} ({known['task']}), {known['licence']}, {known['home']}")
    for name, label in known["labels"].items():
        say(f"  label {name} = {label}")
    for name, values in known["options"].items():
        say(f"  --option {name}={values or 'TEXT'}")
    for file in known["files"]:
        say(f"  file {file['name']}: {file['url']}")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _TEXT else flat[: _TEXT - 1] + "…"

"""`optimizer data show`: what a data file holds, and how it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from optimizer.cli import options
from optimizer.cli.data.list_formats import describe, label_words

if TYPE_CHECKING:
    from optimizer.data.datafile import Data
    from optimizer.data.item import Item

_IDS = 10  # of what was left out, before the rest is only counted
_TEXT = 300  # characters of a text


def command(
    file: Annotated[str, typer.Argument(help="A data file, a shipped data set, or the name of a format or benchmark.")],
    format: options.Format = None,
    format_options: options.FormatOptions = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    first: Annotated[int, typer.Option(min=0, help="Show so many items.")] = 2,
    as_json: options.Json = False,
) -> None:
    """Read a file: its format, label map, items by label or answer, clusters, what was left out and why, and the first items.

    The name of a format or benchmark shows what it is, its licence, files, labels and options, and if it is here, what it holds.
    """
    from dataclasses import asdict

    from optimizer.cli.console import print_json, say
    from optimizer.data.formats import FORMATS

    named = {known.name: known for known in FORMATS}.get(file)
    about = describe(named) if named else {}
    there = not named or _is_there(file)
    data = load(file, format, format_options, columns, label_map) if there else None
    if as_json:
        shown = {**summary(data), "first": [asdict(item) for item in data.items[:first]]} if data else {}
        print_json({**about, **({"data": shown} if about else shown)} if data else about)
        return
    if about:
        _say_format(about)
    if data is None:
        if about["files"]:
            say(f"  not here; to get it: optimizer data fetch {file}")
        return
    _say_summary(file, data)
    say_left_out(data)
    for item in data.items[:first]:
        _say_item(item)


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

    from optimizer.data.checks import answer_counts

    return {
        **data.record,
        "items": len(data.items),
        "clusters": len({item.cluster for item in data.items}),
        "answers": answer_counts(data.items),
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

    counts = summary(data)
    say(f"{file}: format {data.format}, {counts['items']} items in {counts['clusters']} clusters")
    say(f"{'labels' if data.labels else 'answers'}: {_counted(counts['answers'])}")
    if data.labels:
        say(f"label map: {label_words(dict(sorted(data.labels.items())))}")
    for what in ("category", "split"):
        found = {name or "(none)": count for name, count in counts[f"by_{what}"].items()}
        if set(found) != {"(none)"}:
            say(f"{what}: {_counted(found)}")


def _say_item(item: Item) -> None:
    from optimizer.cli.console import say
    from optimizer.data.item import Task

    is_claim = item.task is Task.CLAIM
    what = [(item.label or "no label") if is_claim else item.task, f"cluster {item.cluster}", item.category]
    say(f"\n{item.id} ({', '.join(filter(None, what))})")
    say(f"  {'claim' if is_claim else 'question'}: {_short(item.claim)}")
    if item.evidence:
        say(f"  evidence, {len(item.evidence)} passage{'s' * (len(item.evidence) > 1)}: {_short(item.evidence_text)}")
    if item.choices:
        say(f"  choices: {_short('; '.join(item.lettered))}")
    if not is_claim:
        say(f"  answer: {_short(item.gold) or 'none'}")


def _say_format(known: dict[str, Any]) -> None:
    from optimizer.cli.console import say

    say(f"{known['name']}: {known['title']} ({known['task']})")
    say(f"  licence: {known['licence']}")
    say(f"  home: {known['home']}")
    for name, label in known["labels"].items():
        say(f"  label {name} = {label}")
    for name, values in known["options"].items():
        say(f"  --option {name}={values.removeprefix('|') or 'TEXT'}")
    for file in known["files"]:
        say(f"  file {file['name']}: {file['url']}")


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _TEXT else flat[: _TEXT - 1] + "…"

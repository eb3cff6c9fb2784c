"""Writes to the terminal. Text from models and data is escaped: no markup, no terminal controls get through."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: object) -> str:
    """A text without control characters, its markup made harmless."""
    from rich.markup import escape

    return escape(_CONTROLS.sub("�", str(text).replace("\t", " ")))


def say(text: str = "") -> None:
    """Print a text literally, wrapped to the terminal."""
    from rich.console import Console

    Console(highlight=False, markup=False, emoji=False).print(_CONTROLS.sub("�", text), soft_wrap=not Console().is_terminal)


def print_json(content: Any) -> None:
    """Print JSON for programs: no wrapping, no colour."""
    import sys

    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table under its title; numbers go to the right."""
    from rich.console import Console
    from rich.table import Table

    if title:
        say(title)  # a table's own title would be wrapped to its width
    table = Table()
    body = [[plain(cell) for cell in row] for row in rows]
    for index, name in enumerate(columns):
        numeric = bool(body) and all(re.fullmatch(r"[-+\d.,%/ –]*", row[index]) for row in body)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in body:
        table.add_row(*row)
    console = Console(highlight=False, emoji=False)
    console.print(table) if console.is_terminal else Console(highlight=False, emoji=False, width=150).print(table)


def duration(seconds: float) -> str:
    """Seconds in the largest sensible unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def print_text(text: str) -> None:
    """Print a text as it is, for files and pipes: no wrapping, no colour, no terminal controls."""
    import sys

    sys.stdout.write(_CONTROLS.sub("�", text))

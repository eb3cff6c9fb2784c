"""`optimizer data convert`: a published file as a file of our own format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    file: Annotated[str, typer.Argument(help="A data file, or the name of a shipped data set.")],
    to: Annotated[Path, typer.Option(help="The .jsonl file to write; must not exist yet.")],
    format: options.Format = None,
    format_options: options.FormatOptions = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
) -> None:
    """Write the items of a file as JSON Lines of the toolkit's own format, whole or not at all.

    Passages that are published about them are written beside, as passages.jsonl.
    """
    from optimizer.cli.console import say
    from optimizer.cli.data.show import load, say_left_out
    from optimizer.data.convert import passages_jsonl, published_passages, to_jsonl
    from optimizer.data.passages import PASSAGES_FILE
    from optimizer.data.shipped import data_path
    from optimizer.errors import UsageError
    from optimizer.prompts.files import write_text

    if to.suffix.lower() != ".jsonl":
        raise UsageError(f"--to {to}: must end in .jsonl, since JSON Lines are written")
    _refuse_existing(to, to)
    data = load(file, format, format_options, columns, label_map)
    about = published_passages(data.format, data_path(file), data.items, to.parent)
    beside = to.with_name(PASSAGES_FILE)
    if about:
        _refuse_existing(to, beside)
        write_text(beside, passages_jsonl(about))
    write_text(to, to_jsonl(data.items))
    say(f"wrote {len(data.items)} items of format {data.format} to {to}")
    if about:
        say(f"wrote {len(about)} passages about them to {beside}")
    say_left_out(data)


def _refuse_existing(to: Path, path: Path) -> None:
    from optimizer.errors import UsageError

    if path.exists():
        raise UsageError(f"--to {to}: {path} exists already; choose another name or folder, or take that file away first")

"""`optimizer passages judge`: what two judges say of every passage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    data: Annotated[str | None, typer.Argument(help="Items with passages beside them.", show_default="starter")] = None,
    judge: Annotated[list[str] | None, typer.Option("--judge", help="A judge, NAME or NAME@URL; give it twice or more.")] = None,
    passages: Annotated[str | None, typer.Option(help="The file of passages.", show_default="beside the data")] = None,
    to: Annotated[Path | None, typer.Option(help="Write here instead of into that file.")] = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    format: options.Format = None,
    config: options.Config = None,
    assignments: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Ask judges what each passage does, write that into the file, and print how far they agree and what they verify."""
    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json, print_table, say
    from optimizer.cli.progress import RunProgress
    from optimizer.misinformation.judging import judge_passages, read_judge
    from optimizer.report import passages as words

    settings = options.settings_from(
        config, assignments, columns, data=data, label_map=label_map, format=format, misinformation__passages=passages
    )
    judges = [read_judge(each) for each in judge or []]
    with RunProgress() as progress:
        report = run_async(judge_passages(settings, judges, to, progress))
    if as_json:
        print_json(words.to_json(report))
        return
    for title, head, rows in words.tables(report):
        print_table(title, head, rows)
    for line in words.remarks(report):
        say(line)

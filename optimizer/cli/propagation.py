"""`optimizer propagation`: how a falsehood spread from the exposed to the others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    run: Annotated[list[str] | None, typer.Argument(help="Runs of misinform; the latest if left out.")] = None,
    runs: options.Runs = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: options.Json = False,
) -> None:
    """Injection, adoption against dissenting peers, switches, self-correction, transfer; styles, judges and writers."""
    from optimizer.cli.console import print_json, print_table, print_text, say
    from optimizer.misinformation.records import KIND, read_records
    from optimizer.report import propagation as words
    from optimizer.report.misinformation import markdown_tables
    from optimizer.runs.folder import find_run

    reports = []
    for name in run or [""]:
        folder = find_run(Path(runs or "runs"), name, finished=True, kinds=(KIND,))
        records, resolved = read_records(folder), folder.resolved()
        model, agents = resolved["model"]["name"], resolved["rules"]["agents"]
        reports.append(words.propagation_report(folder.path.name, model, records, agents))
    if as_json:
        print_json(words.to_json(reports))
        return
    found = [table for report in reports for table in words.tables(report)] + [words.exchange_table(reports)]
    if markdown:
        print_text(markdown_tables(found, [words.LEGEND]))
        return
    for title, head, rows in found:
        print_table(title, head, rows)
    say(words.LEGEND)

"""`optimizer data fetch`: public benchmarks from their homes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.data.fetch import Benchmark


def command(
    names: Annotated[list[str] | None, typer.Argument(help="Benchmarks; --list shows which there are.")] = None,
    to: Annotated[
        Path | None, typer.Option(help="A folder for them, each in one of its name; the user's cache if left out.")
    ] = None,
    accept: Annotated[bool, typer.Option(help="Take files that are no longer what they were when first fetched.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the benchmarks, their licences, and which are fetched.")] = False,
    as_json: options.Json = False,
) -> None:
    """Download benchmarks; then --data NAME reads the first file of one and --data NAME:PART another.

    Licences are shown first. Size and hash of each file are recorded the first time and checked from then on. The same
    command again goes on where it stopped.
    """
    from optimizer.cli.console import print_json, print_table, say
    from optimizer.data.fetch import benchmark_folder, fetch, is_fetched
    from optimizer.data.named import benchmark, benchmarks

    def folder_of(entry: Benchmark) -> Path:
        return to / entry.name if to else benchmark_folder(entry)

    if not names or listing:
        rows = [
            {
                "name": entry.name,
                "title": entry.title,
                "licence": entry.licence,
                "home": entry.home,
                "fetched": is_fetched(entry, folder_of(entry)),
                "files": [{"url": file.url, "path": str(folder_of(entry) / file.name)} for file in entry.files],
            }
            for entry in benchmarks().values()
        ]
        if as_json:
            print_json(rows)
            return
        print_table(
            "",
            ["name", "benchmark", "licence", "home", "fetched"],
            [[row["name"], row["title"], row["licence"], row["home"], "yes" if row["fetched"] else "no"] for row in rows],
        )
        return
    for entry in [benchmark(name) for name in names]:
        paths = fetch(entry, folder_of(entry), say, accept)
        for path in paths:
            say(f"{entry.name}: {path}")
        say(f"{entry.name}: use it with --data {paths[0] if to else entry.name}")

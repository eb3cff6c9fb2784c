"""`optimizer data fetch`: public benchmarks from their homes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    names: Annotated[list[str], typer.Argument(help="Benchmarks; optimizer data list shows which there are.")],
    to: Annotated[
        Path | None, typer.Option(help="A folder for them, each in one of its name; the user's cache if left out.")
    ] = None,
    accept: Annotated[bool, typer.Option(help="Take files that are no longer what they were when first fetched.")] = False,
) -> None:
    """Download benchmarks; then --data NAME reads the first part of one and --data NAME:PART another.

    Licences are shown first. Size and hash of each file are recorded the first time and checked from then on. The same
    command again goes on where it stopped.
    """
    from optimizer.cli.console import say
    from optimizer.data.fetch import benchmark_folder, fetch
    from optimizer.data.named import benchmark

    for entry in [benchmark(name) for name in names]:
        paths = fetch(entry, to / entry.name if to else benchmark_folder(entry), say, accept)
        for path in paths:
            say(f"{entry.name}: {path}")
        say(f"{entry.name}: use it with --data {paths[0] if to else entry.name}")

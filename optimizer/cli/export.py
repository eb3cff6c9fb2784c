"""`optimizer export`: the winning prompt files with their provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    run: options.Run = "",
    to: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("exported-prompts"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
    runs: options.Runs = None,
) -> None:
    """Write the winner's prompts, one file a component, with a provenance.json."""
    from optimizer.cli.console import say
    from optimizer.runs.export import export_winner
    from optimizer.runs.folder import find_run

    folder = find_run(Path(runs or "runs"), run, finished=True, kinds=("optimize",))
    for path in export_winner(folder, to, overwrite):
        say(f"wrote {path}")
    result = folder.summary()["result"]
    say(result["statement"])
    say(f"Use them: optimizer optimize --prompts {to}   or   optimizer judge FILE --prompts {to}")

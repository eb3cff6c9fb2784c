"""`optimizer data new`: a data set of one's own, ready to be filled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(folder: Annotated[Path, typer.Argument(help="Where to put it; must not hold a data set yet.")]) -> None:
    """Write a small data set in the toolkit's own format, to be replaced by yours, and say how to check it."""
    from optimizer.cli.console import say
    from optimizer.data.scaffold import scaffold

    for path in scaffold(folder):
        say(f"wrote {path}")
    say("Replace the examples by your own items, then:")
    say(f"  optimizer data check {folder}     labels, clusters, contrasts, lengths, and what the claims give away")
    say(f"  optimizer data card {folder}      the same with models as judges, with the evidence and without")
    say(f"  optimizer optimize --data {folder} --persona skeptic")

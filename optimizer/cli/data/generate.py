"""`optimizer data generate`: questions that are made, not fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    kind: Annotated[str, typer.Argument(help="What to generate: arithmetic.")],
    to: Annotated[Path, typer.Option(help="The .jsonl file to write.")],
    form: Annotated[int, typer.Option(help="1 is a+b*c+d, 2 is a+b*c+d-e*f, with numbers from 0 to 29.")] = 1,
    count: Annotated[int, typer.Option("--n", help="How many, all different.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same questions.")] = 0,
) -> None:
    """Write generated questions. --data arithmetic:form=2,n=100,seed=0 uses the same ones without a file of your own."""
    from optimizer.cli.console import say
    from optimizer.data.formats.arithmetic import NAME, Sums
    from optimizer.data.named import generate_sums
    from optimizer.errors import UsageError

    if kind != NAME:
        raise UsageError(f"nothing called {kind!r} can be generated; there is {NAME}")
    say(f"wrote {generate_sums(Sums(form, count, seed), to)}")

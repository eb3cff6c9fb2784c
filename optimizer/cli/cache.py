"""`optimizer cache info | prune | verify`: the response cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.models.cache import ResponseCache

app = typer.Typer(help="Look into the response cache, shrink it, check it.", no_args_is_help=True, rich_markup_mode=None)
_Cache = Annotated[str | None, typer.Option(help="The cache file; the user's if left out.")]


@app.command("info")
def info(cache: _Cache = None, as_json: options.Json = False) -> None:
    """How many answers of which model are stored, and where."""
    from dataclasses import asdict

    from optimizer.cli.console import print_json, print_table, say

    path, opened = _open(cache)
    with opened:
        models = opened.models()
    if as_json:
        print_json({"file": str(path), "models": [asdict(model) for model in models]})
        return
    print_table(str(path), ["model", "answers", "MB"], [[m.model, m.answers, f"{m.bytes / 1e6:.1f}"] for m in models])
    say(f"{sum(model.answers for model in models)} answers. No run pays for one of them again.")


@app.command("prune")
def prune(
    cache: _Cache = None,
    model: Annotated[str, typer.Option(help="Delete the answers of this model, as info names it.")] = "",
    keep: Annotated[int | None, typer.Option(min=0, help="Keep only so many of the last answers.")] = None,
) -> None:
    """Delete answers: of one model, or all but the last ones, or both."""
    from optimizer.cli.console import say
    from optimizer.errors import UsageError

    if not model and keep is None:
        raise UsageError("give --model NAME, or --keep N for all but the last N answers")
    _, opened = _open(cache)
    with opened:
        if model and model not in [each.model for each in opened.models()]:
            raise UsageError(
                f"no answers of {model!r} are stored; there are {', '.join(m.model for m in opened.models()) or 'none'}"
            )
        say(f"{opened.prune(model, keep)} answers deleted.")


@app.command("verify")
def verify(cache: _Cache = None) -> None:
    """Check that the file is whole and every answer can be read; exit code 1 where not."""
    from optimizer.cli.console import say
    from optimizer.errors import UserError

    path, opened = _open(cache)
    with opened:
        problems = opened.verify()
    if problems:
        raise UserError(f"{path}: {len(problems)} problems, the first: {problems[0]}; delete the file, answers are asked again")
    say(f"{path}: whole, every answer can be read.")


def _open(cache: str | None) -> tuple[Path, ResponseCache]:
    from optimizer.errors import UserError
    from optimizer.models.cache import ResponseCache
    from optimizer.models.catalogue import cache_folder

    path = Path(cache) if cache else cache_folder() / "responses.sqlite"
    if not path.exists():
        raise UserError(f"{path}: there is no response cache yet; the first run makes one")
    return path, ResponseCache(path)

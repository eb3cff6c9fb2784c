"""`optimizer models list | fetch | verify`: the embedded models."""

from __future__ import annotations

from typing import Annotated

import typer

from optimizer.cli import options

app = typer.Typer(help="List, fetch and verify the embedded models.", no_args_is_help=True, rich_markup_mode=None)
_Names = Annotated[list[str] | None, typer.Argument(help="Names from the list; the default model if left out.")]


@app.command("list")
def list_models(as_json: options.Json = False) -> None:
    """The embedded models, and which are fetched."""
    from optimizer.cli.console import print_json, print_table
    from optimizer.models.catalogue import catalogue
    from optimizer.models.fetch import is_verified

    rows = [
        {
            "name": model.name,
            "size_mb": round(model.bytes / 1e6),
            "licence": model.licence,
            "fetched": is_verified(model),
            "path": str(model.path),
            "note": model.note,
        }
        for model in catalogue().values()
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        "",
        ["model", "MB", "licence", "fetched", "note"],
        [[r["name"], r["size_mb"], r["licence"], "yes" if r["fetched"] else "no", r["note"]] for r in rows],
    )


@app.command("fetch")
def fetch_models(names: _Names = None) -> None:
    """Download weights and check their hash; goes on where it stopped."""
    from optimizer.cli.console import say
    from optimizer.models.catalogue import DEFAULT_MODEL, embedded_model
    from optimizer.models.fetch import ensure_model

    for model in [embedded_model(name) for name in names or [DEFAULT_MODEL]]:
        say(f"{model.name}: {ensure_model(model, say)}")


@app.command("verify")
def verify_models(names: _Names = None) -> None:
    """Hash fetched weights again."""
    from optimizer.cli.console import say
    from optimizer.models.catalogue import catalogue, embedded_model
    from optimizer.models.fetch import verify_model

    chosen = [embedded_model(name) for name in names] if names else [m for m in catalogue().values() if m.path.exists()]
    for model in chosen:
        say(f"{model.name}: {verify_model(model)} is right")
    if not chosen:
        say("no model is fetched; optimizer models fetch gets the default one")

"""`optimizer data`: list the formats, fetch, generate, show, convert, make, check, split and describe data sets."""

from __future__ import annotations

import typer

from optimizer.cli.data import card, check, convert, fetch, generate, list_formats, new, show, split

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List formats; fetch, show, convert, make, check, split and describe data sets.",
)
app.command("list")(list_formats.command)
for module in (show, fetch, generate, convert, new, check, split, card):
    app.command(module.__name__.rsplit(".", 1)[-1])(module.command)

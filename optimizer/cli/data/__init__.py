"""`optimizer data`: make, fetch, generate, check and describe data sets."""

from __future__ import annotations

import typer

from optimizer.cli.data import card, check, fetch, generate, new

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make, fetch, check and describe data sets.")
for module in (new, fetch, generate, check, card):
    app.command(module.__name__.rsplit(".", 1)[-1])(module.command)

"""`optimizer data`: make, check, divide and describe data sets."""

from __future__ import annotations

import typer

from optimizer.cli.data import card, check, new, split

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make, check, divide and describe data sets.")
for module in (new, check, split, card):
    app.command(module.__name__.rsplit(".", 1)[-1])(module.command)

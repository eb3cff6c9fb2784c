"""`optimizer passages`: have models write and judge the passages of a data set."""

from __future__ import annotations

import typer

from optimizer.cli.passages import judge, make

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Have models write and judge the passages of a data set.")
for module in (make, judge):
    app.command(module.__name__.rsplit(".", 1)[-1])(module.command)

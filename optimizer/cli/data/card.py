"""`optimizer data card`: the data card, its figures measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    data: Annotated[str, typer.Argument(help="A data file or folder, or the name of a shipped data set.")] = "starter",
    models: Annotated[
        list[str] | None, typer.Option("--model", help="A judge; give it again for more. Embedded ones if left out.")
    ] = None,
    base_url: options.BaseUrl = None,
    limit: Annotated[int, typer.Option(min=0, help="Ask judges about at most so many items, over many clusters.")] = 0,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    format: options.Format = None,
    runs: options.Runs = None,
    config: options.Config = None,
    assignments: options.Set = None,
    new: options.New = False,
    to: Annotated[
        Path | None, typer.Option(help="Where to write it; beside the items if left out, here for a shipped data set.")
    ] = None,
) -> None:
    """Count the items, check them, ask models about each with the evidence and without, and write all that as Markdown.

    What stands in about.md beside the items goes first. The same command again goes on where it stopped.
    """
    from optimizer.analysis.card import count_data, measure_judges
    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import say
    from optimizer.data.passages import beside
    from optimizer.data.shipped import data_path, datasets_folder
    from optimizer.models.catalogue import JUDGES
    from optimizer.prompts.files import write_text
    from optimizer.report.card import card_text

    settings = options.settings_from(
        config, assignments, columns, data=data, base_url=base_url, label_map=label_map, format=format, runs=runs
    )  # fmt: skip
    counts = count_data(settings)
    chosen = models or ([settings.model] if settings.base_url else list(JUDGES))
    run, judges = run_async(measure_judges(settings, chosen, say, new, limit))
    path = data_path(settings.data)
    folder = beside(path)
    about = folder / "about.md"
    text = about.read_text(encoding="utf-8") if about.exists() else f"# {path.name}"
    # A shipped data set is not the user's to write into.
    shipped = datasets_folder() in (folder, *folder.parents)
    target = to or (Path(f"card-{folder.name}.md") if shipped else folder / "card.md")
    made_by = f"optimizer data card {data}" + (f" --limit {limit}" if limit else "")
    write_text(target, card_text(text, counts, judges, made_by))
    say(f"wrote {target} (answers: {run.path})")

"""`optimizer transfer`: does a winner stay one on another model, or on other data?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    run: options.Run = "",
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    data: options.Data = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    format: options.Format = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many items of other data; 0 takes all.")] = 0,
    runs: options.Runs = None,
    new: options.New = False,
    as_json: options.Json = False,
) -> None:
    """Compare a run's winner with its seed on another model (on the run's test items) or on other data.

    Whatever is not given stays as it was in the run.
    """
    from optimizer.analysis.comparison import compare_run
    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json, print_table, say
    from optimizer.cli.progress import RunProgress
    from optimizer.report.comparison import HEAD, LEGEND, heading, remarks, table_rows, to_json
    from optimizer.runs.folder import find_run
    from optimizer.runs.items import run_settings
    from optimizer.search.versus import transfer

    folder = find_run(Path(runs or "runs"), run, finished=True, kinds=("optimize",))
    changes = {"model": model, "base_url": base_url, "data": data, "label_map": label_map, "format": format}
    settings = run_settings(folder)
    if data and data != settings.data:
        # How the run's own data was read says nothing about other data, and neither do its passages.
        plain = settings.search.model_copy(update={"conditions": ()})
        reset = {"format": "", "format_options": {}, "columns": {}, "label_map": "", "search": plain}
        settings = settings.model_copy(update=reset)
    settings = options.replaced(settings, columns, runs=runs or "runs", **changes)
    with RunProgress() as progress:
        made = run_async(transfer(folder, settings, limit, new, progress))
    comparison = compare_run(made)
    if as_json:
        print_json({"run": str(made.path), **to_json(comparison)})
        return
    print_table(heading(comparison), HEAD, table_rows(comparison))
    say(LEGEND)
    for line in remarks(comparison):
        say(line)
    row = comparison.rows[-1]
    says = {
        "better": "The winner is better here too.",
        "worse": "The winner is worse here than the seed: keep the seed for this.",
        "not distinguishable": "No difference shows here: the gain of the run, if any, is not confirmed by these items.",
    }
    say(says[row.verdict])

"""`optimizer evaluate`: score a panel on labelled items, with its controls beside it."""

from __future__ import annotations

from typing import Annotated

import typer

from optimizer.cli import options


def command(
    data: options.Data = None,
    prompts: options.Prompts = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    control: Annotated[
        str, typer.Option(help="What to measure beside the panel: single, self-consistency, claim-only, with commas; or none.")
    ] = "single",
    repeats: Annotated[int, typer.Option(min=1, help="Debates an item, each under its own seed.")] = 1,
    limit: Annotated[int, typer.Option(min=0, help="At most so many items, over many clusters; 0 takes all.")] = 0,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    format: options.Format = None,
    seed: options.Seed = None,
    runs: options.Runs = None,
    config: options.Config = None,
    assignments: options.Set = None,
    new: options.New = False,
    as_json: options.Json = False,
) -> None:
    """Score a panel on claims or questions, with the same model alone and self-consistency at equal calls beside it."""

    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json, print_table, say
    from optimizer.cli.progress import RunProgress
    from optimizer.debate.controls import Control
    from optimizer.errors import UsageError
    from optimizer.report.arms import arm_table
    from optimizer.search.score import evaluate_panel

    names = [name.strip() for name in control.split(",") if name.strip() not in ("", "none")]
    unknown = [name for name in names if name not in list(Control)]
    if unknown:
        raise UsageError(f"unknown control {unknown[0]!r}; valid are {', '.join(Control)} and none")
    settings = options.settings_from(
        config,
        assignments,
        columns,
        data=data,
        prompts=prompts,
        model=model,
        base_url=base_url,
        label_map=label_map,
        format=format,
        seed=seed,
        runs=runs,
    )
    with RunProgress() as progress:
        run = run_async(evaluate_panel(settings, [Control(name) for name in names], repeats, limit, new, progress))
    summary = run.summary()
    if as_json:
        print_json({"run": str(run.path), **summary})
        return
    head, rows = arm_table(summary["arms"])
    print_table("Accuracy with 95 % intervals", head, rows)
    for arm, difference in summary["panel_minus"].items():
        say(
            f"panel minus {arm}: {100 * difference['difference']:+.1f} points (95 % interval {100 * difference['low']:+.1f} to "
            f"{100 * difference['high']:+.1f}, {difference['wins']} items won, {difference['losses']} lost, "
            f"p = {difference['p']:.3f})"
        )
    say(f"Run: {run.path}")

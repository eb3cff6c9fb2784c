"""`optimizer headroom`: what no choice among the candidates can mend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    run: Annotated[list[str] | None, typer.Argument(help="A run, or several on the same items; the latest if left out.")] = None,
    complete: Annotated[
        int, typer.Option(min=0, help="First evaluate the K best dropped candidates and all alternatives on every item.")
    ] = 0,
    control: Annotated[
        int, typer.Option(min=0, help="First make K noisy runs of the seed (rewrites that keep its meaning, at temperature 0).")
    ] = 0,
    suspects: Annotated[Path | None, typer.Option(help="Where to write suspected label errors as JSON lines.")] = None,
    matrix: Annotated[Path | None, typer.Option(help="Where to write the matrix, items by candidates, as CSV.")] = None,
    runs: options.Runs = None,
    as_json: options.Json = False,
) -> None:
    """Items that are wrong under every candidate, the oracle over them against luck, and where right answers were lost."""
    import json

    from optimizer.analysis.headroom_report import headroom_report
    from optimizer.analysis.pool import POOLED, pool_runs
    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json, print_table, say
    from optimizer.cli.progress import RunProgress
    from optimizer.prompts.files import write_text
    from optimizer.report import headroom as words
    from optimizer.runs.folder import find_run
    from optimizer.search.complete import complete as fill_in
    from optimizer.search.complete import plan_completion

    folders = [find_run(Path(runs or "runs"), name, finished=True, kinds=POOLED) for name in (run or [""])]
    if complete or control:
        plan = plan_completion(folders[0], complete, control)
        if not as_json:
            say(
                f"{len(plan.candidates)} candidates and {len(plan.controls) + plan.repeats} noisy runs of the seed on "
                f"{len(plan.items)} items: at most {plan.calls} calls."
            )
        with RunProgress() as progress:
            run_async(fill_in(folders[0], plan, progress))
    pool = pool_runs(folders)
    report = headroom_report(pool)
    if suspects is not None:
        records = words.suspects_jsonl(report, pool)
        write_text(suspects, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    if matrix is not None:
        write_text(matrix, words.matrix_csv(pool))
    if as_json:
        print_json(words.to_json(report, pool))
        return
    for line in words.statements(report):
        say(line)
    say()
    print_table("Where the wrong items were lost (first that applies)", *words.lost_rows(report))
    for line in words.lost_legend():
        say(f"  {line}")
    print_table("Who decides", *words.view_rows(report))
    head, rows = words.trait_rows(report)
    if rows:
        print_table("What they have in common (p by permuting clusters)", head, rows)
    for item in report.headroom.always_wrong:
        say(f"  always wrong: {item}   (optimizer show {folders[0].path.name} {item})")
    if report.suspects:
        names = ", ".join(suspect.item for suspect in report.suspects)
        where = f"written to {suspects}" if suspects else "--suspects FILE writes them for review"
        say(f"Suspected label errors, always wrong with one voice and high confidence: {names} ({where}).")
    else:
        say("No suspected label error: no item is always wrong with one voice and high confidence.")

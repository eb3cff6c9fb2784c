"""`optimizer compare`: the candidates of a run beside its seed."""

from __future__ import annotations

from pathlib import Path

from optimizer.cli import options


def command(run: options.Run = "", runs: options.Runs = None, as_json: options.Json = False) -> None:
    """A table of a run's candidates against its seed on dev, and the sealed result."""
    from dataclasses import asdict

    from optimizer.cli.console import interval, print_json, print_table, say, share
    from optimizer.report.comparison import compare_candidates
    from optimizer.runs.folder import find_run
    from optimizer.search.ending import points

    folder = find_run(Path(runs or "runs"), run, finished=True, kind="optimize")
    rows, result = compare_candidates(folder), folder.summary()["result"]
    if as_json:
        print_json({"run": str(folder.path), "candidates": [asdict(row) for row in rows], "test": result["test"]})
        return
    print_table(
        f"{folder.path.name}: dev, on which the search decided",
        ["candidate", "component", "n", "accuracy", "interval", "recall grounded", "recall not", "against the seed", "p (Holm)"],
        [
            [
                row.name,
                row.component or "–",
                row.accuracy.items,
                share(row.accuracy.value),
                interval(row.accuracy.low, row.accuracy.high),
                share(row.recall_grounded),
                share(row.recall_not_grounded),
                "–"
                if row.difference is None
                else f"{points(row.difference.difference)} (+{row.difference.wins}/-{row.difference.losses})",
                row.stopped if row.p_holm is None else f"{row.p_holm:.3f}",
            ]
            for row in rows
        ],
    )
    say("Dev scores were searched on and flatter the chosen; what counts is the sealed test:")
    say(result["statement"])

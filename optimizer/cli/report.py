"""`optimizer report`: a run as one self-contained HTML page."""

from __future__ import annotations

from pathlib import Path

from optimizer.cli import options


def command(run: options.Run = "", runs: options.Runs = None) -> None:
    """Write report.html into the run folder."""
    from optimizer.cli.console import say
    from optimizer.report.page import write_report
    from optimizer.runs.folder import find_run

    folder = find_run(Path(runs or "runs"), run, finished=True, kinds=("optimize",))
    say(f"wrote {write_report(folder)}")

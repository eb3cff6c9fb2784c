"""The table that `make bench` leaves: a row a figure, each a ratio to a peer or a limit measured in the same run."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "runs" / "bench.md"


def record(what: str, figure: str, ratio: str, limit: str = "–") -> None:
    """Print a row and add it to runs/bench.md."""
    print(f"\n{what}: {figure}; ratio {ratio} (limit {limit})")
    TABLE.parent.mkdir(exist_ok=True)
    if not TABLE.exists():
        TABLE.write_text("| when | what | measured | ratio | limit |\n|---|---|---|---|---|\n", encoding="utf-8")
    with TABLE.open("a", encoding="utf-8") as file:
        file.write(f"| {datetime.now():%Y-%m-%d %H:%M} | {what} | {figure} | {ratio} | {limit} |\n")

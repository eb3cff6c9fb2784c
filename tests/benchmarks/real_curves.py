"""Ours and gepa's engine on a real model and real data at equal calls: held-out accuracy of the leader against calls spent.

    optimizer serve qwen2_5-coder-1_5b --port 8101 &
    python -m tests.benchmarks.real_curves --data FILE --base-url http://127.0.0.1:8101/v1 --budget 1300 --seeds 3

A one-call panel: one persona, one round. Both reflect with the same model and template; ours has no alternatives here, so that
the searches are compared and not what they start with. Runs are kept and resumed; the table goes to standard output.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from pathlib import Path

from optimizer.api import judge, optimize
from optimizer.config import Settings, load_settings, parse_assignments
from optimizer.data.loaders import load_items
from optimizer.prompts.library import chosen_library
from optimizer.runs.events import read_events
from optimizer.runs.folder import RunFolder

SCHEDULES = ("sequential", "gepa")


def leaders(run: RunFolder, grid: Sequence[int]) -> list[str]:
    """Who leads after so many calls; the seed before anyone else."""
    path = [(event["calls"], event["candidate"]) for event in read_events(run.events, "leader")]
    return [next((candidate for spent, candidate in reversed(path) if spent <= calls), path[0][1]) for calls in grid]


def held_out(run: RunFolder, settings: Settings, persona: str, grid: Sequence[int]) -> list[float]:
    """Accuracy on the run's sealed items of those who lead after so many calls."""
    wanted = set(run.resolved()["data"]["test"]["items"])
    items = [item for item in load_items(Path(settings.data), settings.columns, settings.label_map) if item.id in wanted]
    path = leaders(run, grid)
    found = {}
    for candidate in dict.fromkeys(path):
        text = (run.candidate(candidate) / f"{persona}.md").read_text(encoding="utf-8").strip()
        debates = judge(items, settings, {persona: text})
        found[candidate] = statistics.fmean(
            score for d, i in zip(debates, items, strict=True) if (score := d.score(i)) is not None
        )
    return [found[candidate] for candidate in path]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--persona", default="expert")
    parser.add_argument("--budget", type=int, default=1300)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--train", type=int, default=30)
    parser.add_argument("--dev", type=int, default=100)
    parser.add_argument("--test", type=int, default=100)
    parser.add_argument("--runs", default="runs/real-curves")
    parser.add_argument("--set", action="append", default=[], help="any other setting, for both: search.token_cap=60")
    options = parser.parse_args()
    prompts = Path(options.runs) / "prompts"
    (prompts / options.persona).mkdir(parents=True, exist_ok=True)
    seed_text = chosen_library(load_settings({})).seeds[options.persona]
    (prompts / options.persona / "seed.md").write_text(seed_text + "\n", encoding="utf-8")
    grid = list(range(options.budget // 5, options.budget + 1, options.budget // 5))
    searches: list[tuple[str, Settings, RunFolder]] = []
    for seed in range(options.seeds):
        for schedule in SCHEDULES:
            settings = load_settings(
                {
                    "data": options.data, "base_url": options.base_url, "persona": options.persona, "seed": seed,
                    "panel": options.persona, "prompts": str(prompts), "runs": f"{options.runs}/{schedule}-{seed}",
                    "protocol.rounds": 1, "search.schedule": schedule, "search.budget": options.budget,
                    "splits.train": options.train, "splits.dev": options.dev, "splits.test": options.test,
                    **parse_assignments(options.set),
                }
            )  # fmt: skip
            run = optimize(settings)
            searches.append((schedule, settings, run))
            result = run.summary()["result"]
            figures = {"candidates": len(result["candidates"]) - 1, "rejected": result["rejected"], "calls": result["calls"]}
            print(json.dumps({"schedule": schedule, "seed": seed, **figures, "verdict": result["test"]["verdict"]}), flush=True)
    rows: dict[str, list[list[float]]] = {schedule: [] for schedule in SCHEDULES}
    for schedule, settings, run in searches:
        rows[schedule].append(held_out(run, settings, options.persona, grid))
    print("| calls | " + " | ".join(f"{schedule} (each seed)" for schedule in SCHEDULES) + " | mean difference |")
    print("|---|" + "---|" * (len(SCHEDULES) + 1))
    for index, calls in enumerate(grid):
        cells = [[line[index] for line in rows[schedule]] for schedule in SCHEDULES]
        shown = [f"{statistics.fmean(cell):.3f} ({', '.join(f'{value:.2f}' for value in cell)})" for cell in cells]
        print(f"| {calls} | {' | '.join(shown)} | {statistics.fmean(cells[0]) - statistics.fmean(cells[1]):+.3f} |")


if __name__ == "__main__":
    main()

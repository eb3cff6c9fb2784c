"""`optimizer judge`: run a panel on claims without labels, or on questions without answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    file: Annotated[
        Path, typer.Argument(help="Claims with evidence, or questions: .jsonl, .csv or .parquet; labels are not needed.")
    ],
    run: Annotated[str, typer.Option(help="Run whose winner judges; the latest finished one if left out.")] = "",
    prompts: Annotated[str | None, typer.Option(help="Judge with this prompt folder instead of a run's winner.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the verdicts go.", show_default="FILE.verdicts.jsonl")] = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    columns: options.Columns = None,
    runs: options.Runs = None,
    config: options.Config = None,
    assignments: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Judge unlabelled claims, or answer questions, with a run's winner, and write verdicts with reasons."""
    from collections import Counter
    from dataclasses import asdict

    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json, say
    from optimizer.cli.progress import RunProgress
    from optimizer.data.loaders import load_items
    from optimizer.prompts.library import load_library
    from optimizer.runs.export import winner_texts
    from optimizer.runs.folder import all_runs, find_run
    from optimizer.search.judge import judge_items

    flags = {"model": model, "base_url": base_url, "prompts": prompts, "runs": runs}
    settings = options.settings_from(config, assignments, columns, **flags)
    root = Path(settings.runs)
    done = [found for found in all_runs(root) if found.finished and found.resolved()["kind"] == "optimize"]
    if prompts or (not run and not done):
        texts, source = load_library(Path(prompts) if prompts else None).seeds, prompts or "the shipped seed prompts"
    else:
        winner = find_run(root, run, finished=True, kinds=("optimize",))
        texts, source = winner_texts(winner), f"the winner of {winner.path.name}"
        # A panel is prompts, protocol and model: the run's own judge, unless told otherwise.
        settings = options.settings_from(config or winner.path / "config.toml", assignments, columns, **flags)
    items = load_items(file, settings.columns if columns else None, settings.label_map, require_label=False)
    target = out or file.with_name(file.name + ".verdicts.jsonl")
    with RunProgress() as progress:
        progress.note(f"judging {len(items)} items with {source}")
        judgements = run_async(judge_items(settings, texts, items, target, progress))
    if as_json:
        print_json([asdict(judgement) for judgement in judgements])
        return
    for judgement in judgements[:20]:
        verdict = f"failed, {judgement.failure}" if judgement.failure else judgement.verdict or "no decision"
        say(f"{judgement.id}: {verdict}. {judgement.reason}")
    counts = Counter("failed" if j.failure else j.verdict or "no decision" for j in judgements)
    say(f"{', '.join(f'{count} {name}' for name, count in counts.items())}. Verdicts: {target}")

"""Exports a run's winning prompts with where they come from."""

from __future__ import annotations

import json
from pathlib import Path

from optimizer.errors import UserError
from optimizer.prompts.files import read_prompt, write_prompts, write_text
from optimizer.runs.folder import RunFolder

PROVENANCE_FILE = "provenance.json"


def winner_texts(run: RunFolder) -> dict[str, str]:
    """The winner's text by component, in the panel's speaking order. Raises UserError where the run is not finished."""
    order = run.summary()["components"]
    return {component: read_prompt(run.winner / f"{component}.md")[0] for component in order}


def export_winner(run: RunFolder, target: Path, overwrite: bool = False) -> list[Path]:
    """Write `<component>.md` for each component and a provenance.json into `target`; the files written.

    Raises:
        UserError: the run is not finished, or a file is there already and `overwrite` is not set.
    """
    texts, summary = winner_texts(run), run.summary()
    paths = [target / f"{component}.md" for component in texts] + [target / PROVENANCE_FILE]
    taken = [path for path in paths if path.exists()]
    if taken and not overwrite:
        raise UserError(f"{taken[0]}: is there already; give another folder or --overwrite")
    resolved = run.resolved()
    provenance = {
        "run": run.path.name,
        "winner": summary["result"]["winner"],
        "seed": summary["result"]["seed"],
        "statement": summary["result"]["statement"],
        "test": summary["result"]["test"],
        "model": resolved["model"],
        "protocol": resolved["protocol"],
        "data": resolved["data"],
        "version": summary["version"],
    }
    write_prompts(target, texts)
    write_text(target / PROVENANCE_FILE, json.dumps(provenance, indent=2, ensure_ascii=False) + "\n")
    return paths

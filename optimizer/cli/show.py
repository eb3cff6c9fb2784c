"""`optimizer show`: print a debate of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.runs.folder import RunFolder


def command(
    run: Annotated[str, typer.Argument(help="A run folder or its name.")],
    item: Annotated[str, typer.Argument(help="The item's id.")],
    candidate: Annotated[
        str, typer.Option(help="Candidate id (of misinform: an arm); the winner's debate, else the first, if left out.")
    ] = "",
    runs: options.Runs = None,
    as_json: options.Json = False,
) -> None:
    """Print what each persona said on one item, round by round."""
    from optimizer.cli.console import print_json, say
    from optimizer.debate.render import display_name, named_parts
    from optimizer.errors import UserError
    from optimizer.runs.folder import find_run
    from optimizer.runs.items import run_item

    folder = find_run(Path(runs or "runs"), run)
    if folder.resolved().get("kind") == "misinform":
        _show_transcripts(folder, item, candidate, as_json)
        return
    debates = [debate for debate in folder.debates() if debate.item == item]
    if not debates:
        known = sorted({debate.item for debate in folder.debates()})
        raise UserError(f"{folder.path}: no debate on item {item!r}; there are {len(known)}, such as {', '.join(known[:5])}")
    wanted = candidate or (folder.summary().get("result", {}).get("winner", "") if folder.finished else "")
    found = [debate for debate in debates if debate.candidate == wanted] or ([] if candidate else debates)
    if not found:
        raise UserError(
            f"{folder.path}: candidate {candidate!r} has no debate on it; "
            f"those that have: {', '.join(d.candidate for d in debates)}"
        )
    debate = found[0]
    if as_json:
        print_json(debate.to_json())
        return
    try:
        source = run_item(folder, item)
    except UserError:
        source = None  # the data file has moved; the debate is still worth showing
    if source is not None:
        for name, text in named_parts(source).items():
            say(f"{name}: {text}")
        say(f"Gold: {source.gold}")
        if source.shown and source.shown.to:
            say(f"{source.shown.condition}, read by {', '.join(map(display_name, source.shown.to))}: {source.shown.passage}")
        say()
    for number in range(1, debate.last_round + 1):
        for title, turns in ((f"Round {number}", debate.turns), (f"Secret votes after round {number}", debate.ballots)):
            now = [turn for turn in turns if turn.round == number]
            if now:
                say(title)
            for turn in now:
                say(f"  {display_name(turn.persona)}: {turn.verdict.label or turn.verdict.outcome}   | {turn.text.strip()}")
    say(f"Decision: {debate.decision or 'none'} ({debate.rule}), candidate {debate.candidate}")


def _show_transcripts(folder: RunFolder, item: str, arm: str, as_json: bool) -> None:
    """All transcripts of an item under misinformation, or those of one arm."""
    from optimizer.cli.console import print_json, say
    from optimizer.errors import UserError
    from optimizer.misinformation.records import read_records
    from optimizer.report.misinformation import transcript_lines

    records = read_records(folder)
    found = [record for record in records if record.item == item and arm in ("", record.arm)]
    if not found:
        arms = ", ".join(sorted({record.arm for record in records}))
        raise UserError(f"{folder.path}: has nothing on item {item!r}" + (f" in arm {arm!r}; arms are {arms}" if arm else ""))
    if as_json:
        print_json([record.to_json() for record in found])
        return
    for record in found:
        for line in transcript_lines(record):
            say(line)

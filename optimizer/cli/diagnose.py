"""`optimizer diagnose`: what the debate does inside a panel, from recorded debates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.report.sections import Section


def command(
    run: Annotated[
        list[str] | None, typer.Argument(help="A run, or several to set side by side; the latest if left out.")
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(help="seed, winner, an id or a name; again for several.", show_default="winner, or the first"),
    ] = None,
    split: Annotated[str, typer.Option(help="Of a search: train, dev, test or all.")] = "dev",
    bins: Annotated[int, typer.Option(min=1, help="Bins of the calibration errors.")] = 10,
    embedder: Annotated[str, typer.Option(help="For novelty: auto, endpoint, sentence-transformers or tfidf.")] = "auto",
    embedding_model: Annotated[str, typer.Option(help="The embedding model, where not the default or the only one.")] = "",
    base_url: Annotated[str, typer.Option(help="A server of embeddings (/v1/embeddings).")] = "",
    markdown: Annotated[Path | None, typer.Option(help="Where to write the report as Markdown.")] = None,
    runs: options.Runs = None,
    as_json: options.Json = False,
) -> None:
    """Novelty, recall by class, threshold and sight, confidence, common errors, flips, influence and deciding votes.

    No judge is asked anything. Several runs, or candidates of a run, are set side by side: common errors, oracle, accuracy.
    """
    import time

    from optimizer.analysis.diagnosis import diagnose, warnings
    from optimizer.analysis.panels import compare_panels
    from optimizer.analysis.recorded import RECORDED, read_panel
    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json
    from optimizer.models.embeddings import choose_embedder
    from optimizer.report import diagnosis as words
    from optimizer.report.panels import panel_sections
    from optimizer.runs.folder import find_run

    started = time.monotonic()
    chosen = run_async(choose_embedder(embedder, embedding_model, base_url))
    folders = [find_run(Path(runs or "runs"), name, finished=True, kinds=RECORDED) for name in (run or [""])]
    panels = [read_panel(folder, name, split) for folder in folders for name in (candidate or [""])]
    if len(panels) == 1:
        found = run_async(diagnose(panels[0], chosen, bins))
        title, parts, notes, content = words.heading(found), words.sections(found), found.warnings, words.to_json(found)
    else:
        side = compare_panels(panels)
        notes = tuple(line for panel in panels for line in warnings(panel))
        title, parts, content = f"{len(panels)} panels", panel_sections(side), words.to_json(side)
    seconds = time.monotonic() - started
    if markdown is not None:
        from optimizer.prompts.files import write_text

        write_text(markdown, words.markdown(title, parts, notes, seconds))
    if as_json:
        print_json({**content, "warnings": list(notes), "seconds": round(seconds, 2)})
    else:
        _show([title, words.ABOUT], parts, words.warning_lines(notes), f"Computed in {seconds:.1f} s.", markdown)


def _show(top: list[str], parts: list[Section], notes: list[str], end: str, written: Path | None) -> None:
    from optimizer.cli.console import print_table, say
    from optimizer.report.sections import meaning_lines

    for line in top:
        say(line)
    for part in parts:
        say()
        if part.rows:
            print_table(part.title, part.head, part.rows)
        else:
            say(part.title)
        for line in (*meaning_lines(part), *part.notes):
            say(f"  {line}")
    say()
    for line in notes:
        say(line)
    say(end + (f" Written to {written}." if written else ""))

"""`optimizer passages make`: false and true passages, styles, controls and paraphrases, written by any model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    data: Annotated[str | None, typer.Argument(help="Items to write about.", show_default="starter")] = None,
    to: Annotated[Path | None, typer.Option(help="Where the passages go.", show_default="passages.jsonl beside the data")] = None,
    kinds: Annotated[
        str, typer.Option(help="false, true, irrelevant_true, irrelevant_false, filler, with commas.")
    ] = "false,true",
    styles: Annotated[
        str | None,
        typer.Option(
            help="plain, clickbait, hoax, rumor, satire, propaganda, framing, conspiracy, unconstrained.", show_default="all"
        ),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Write the styles from the plain passages of this file, or paraphrase it.")
    ] = None,
    paraphrase: Annotated[bool, typer.Option("--paraphrase", help="The passages of --from in other words, and no more.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many items; 0 takes all.")] = 0,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    format: options.Format = None,
    seed: options.Seed = None,
    config: options.Config = None,
    assignments: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Write passages with a model; the same command goes on where it was interrupted, and no file is overwritten."""
    from collections import Counter
    from dataclasses import asdict

    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json, print_table, say
    from optimizer.cli.progress import RunProgress
    from optimizer.data.passages import PassageKind
    from optimizer.errors import UsageError
    from optimizer.misinformation.making import Order, make_passages

    settings = options.settings_from(
        config, assignments, columns, data=data, model=model, base_url=base_url, label_map=label_map, format=format, seed=seed
    )
    try:
        chosen = tuple(dict.fromkeys(PassageKind(name.strip()) for name in kinds.split(",") if name.strip()))
    except ValueError as error:
        raise UsageError(f"{error}; kinds are {', '.join(PassageKind)}") from error
    named = tuple(dict.fromkeys(name.strip() for name in (styles or "").split(",") if name.strip()))
    with RunProgress() as progress:
        made = run_async(make_passages(settings, Order(chosen, named, source, paraphrase, limit), to, progress))
    if as_json:
        print_json(
            {"path": str(made.path), "model": made.model, "passages": len(made.passages), "replies": made.replies,
             "bad_replies": made.bad_replies, "unusable": [asdict(each) for each in made.unusable], "calls": made.calls,
             "paid": made.paid}
        )  # fmt: skip
        return
    counts = Counter((each.kind.value, each.style) for each in made.passages)
    print_table("Passages", ["kind", "style", "passages"], [[kind, style, str(n)] for (kind, style), n in sorted(counts.items())])
    if made.unusable:
        rows = [[each.item, each.kind.value, each.style, each.problem] for each in made.unusable]
        print_table("Left out: no usable reply", ["item", "kind", "style", "the last reply"], rows)
    say(
        f"{made.bad_replies} of {made.replies} replies were unusable; {len(made.unusable)} passages are left out. "
        f"{made.calls} calls, {made.paid} paid. Written by {made.model}: {made.path}"
    )

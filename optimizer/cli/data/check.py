"""`optimizer data check`: is a data set worth searching on?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.analysis.check import Checked

_ROWS = 20  # of findings of a check, before the rest is only counted


def command(
    data: Annotated[str, typer.Argument(help="A data file or folder, or the name of a shipped data set.")] = "starter",
    format: options.Format = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    context: Annotated[
        int | None, typer.Option(min=1, help="Tokens a call of the model may take.", show_default="the model's, where known")
    ] = None,
    seed: options.Seed = None,
    config: options.Config = None,
    assignments: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Check balance, clusters, splits and what is in two of them, contradictions, lengths and characters; needs no model.

    Files of any size are read once, at flat memory. Small ones are looked at item by item besides: contrasts, tags, passages, and
    whether claims alone give labels away. Exits with 1 where there are errors; warnings are advice.
    """
    from dataclasses import asdict

    from optimizer.analysis.check import check_file
    from optimizer.cli.console import print_json

    settings = options.settings_from(
        config, assignments, columns, data=data, format=format, label_map=label_map, context=context, seed=seed
    )  # fmt: skip
    checked = check_file(settings)
    if as_json:
        print_json(
            {
                "items": checked.items,
                "clusters": checked.clusters.number,
                "cluster_sizes": asdict(checked.clusters),
                "answers": checked.answers,
                "splits": checked.splits,
                "own_splits": checked.own_splits,
                "context": checked.context,
                "errors": checked.errors,
                "warnings": len(checked.findings) - checked.errors,
                "findings": [asdict(finding) for finding in checked.findings],
                "claim_only": asdict(checked.words.overall) if checked.words else None,
            }
        )
    else:
        _print_checked(data, checked)
    if checked.errors:
        raise typer.Exit(1)


def _print_checked(data: str, checked: Checked) -> None:
    from collections import Counter

    from optimizer.analysis.card import WORDS
    from optimizer.analysis.check import SMALL
    from optimizer.cli.console import print_table, say
    from optimizer.data.item import Label
    from optimizer.report.figures import interval, percent

    sizes = checked.clusters
    answers = ", ".join(f"{answer} {count} ({percent(count / checked.items)})" for answer, count in checked.answers.items())
    say(f"{checked.items} items: {answers}")
    say(
        f"{sizes.number} clusters of {sizes.mean:.1f} items on average, {sizes.single} of a single item; "
        f"the largest, {sizes.largest_name!r}, has {sizes.largest}"
    )
    if checked.splits:
        labels = list(next(iter(checked.splits.values())))
        rows = [[split or "left out", sum(counts.values()), *counts.values()] for split, counts in checked.splits.items()]
        whose = "as the data says" if checked.own_splits else "as a run would draw them"
        print_table(f"splits, {whose}", ["split", "items", *labels], rows)
    if checked.findings:
        seen: Counter[tuple[str, str]] = Counter()
        rows = []
        for finding in checked.findings:
            seen[finding.severity, finding.check] += 1
            if seen[finding.severity, finding.check] <= _ROWS:
                rows.append([finding.severity, finding.check, finding.where, finding.problem])
        print_table("", ["", "check", "where", "problem"], rows)
        for (severity, check), count in seen.items():
            if count > _ROWS:
                say(f"{check}: {count - _ROWS} more {severity}s; --json prints all")
    warnings = len(checked.findings) - checked.errors
    say(f"{data}: {checked.errors} errors, {warnings} warnings.")
    if not checked.context:
        say("Whether evidence fits the model was not tried, since its context is not known: give --context N.")
    if not checked.small:
        say(f"Contrasts, lengths and what claims alone give away are looked at in up to {SMALL} items.")
    elif checked.words is None:
        if any(label in checked.answers for label in Label):
            say(f"The {WORDS} were not tried: that takes five clusters and both labels.")
    else:
        overall = checked.words.overall
        verdict = "more than chance: the claims give labels away" if overall.low > 0.5 else "no more than chance"
        say(
            f"The {WORDS} alone give {percent(overall.value)} of the labels ({interval(overall.low, overall.high)}), {verdict}. "
            "A model may guess more than words do: optimizer data card asks one."
        )

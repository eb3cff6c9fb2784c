"""`optimizer data check`: is a data set worth searching on?"""

from __future__ import annotations

from typing import Annotated

import typer

from optimizer.cli import options


def command(
    data: Annotated[str, typer.Argument(help="A data file or folder, or the name of a shipped data set.")] = "starter",
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    as_json: options.Json = False,
) -> None:
    """Check balance, clusters, contrasts, repeats, lengths, tags and passages, and whether claims alone give labels away.

    Needs no model. Findings are advice: the exit code is 0 where the data can be read.
    """
    from dataclasses import asdict

    from optimizer.analysis.card import WORDS, check_data
    from optimizer.cli.console import interval, print_json, print_table, say, share

    settings = options.settings_from(None, None, columns, data=data, label_map=label_map)
    counts, words = check_data(settings)
    if as_json:
        print_json(
            {
                "items": counts.items,
                "clusters": counts.clusters,
                "findings": [asdict(finding) for finding in counts.findings],
                "claim_only": asdict(words.overall) if words else None,
            }
        )
        return
    if counts.findings:
        rows = [[finding.check, finding.where, finding.problem] for finding in counts.findings]
        print_table(f"{data}: {len(rows)} findings", ["check", "where", "problem"], rows)
    found = f"{len(counts.findings)} findings, above" if counts.findings else "no finding"
    say(f"{counts.items} items in {counts.clusters} clusters: {found}.")
    if words is None:
        say(f"The {WORDS} were not tried: that takes five clusters and both labels.")
        return
    overall = words.overall
    verdict = "more than chance: the claims give labels away" if overall.low > 0.5 else "no more than chance"
    say(
        f"The {WORDS} alone give {share(overall.value)} of the labels ({interval(overall.low, overall.high)}), {verdict}. "
        "A model may guess more than words do: optimizer data card asks one."
    )

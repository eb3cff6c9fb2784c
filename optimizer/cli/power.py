"""`optimizer power`: what a test of a given size can see."""

from __future__ import annotations

from typing import Annotated

import typer

from optimizer.cli import options


def command(
    items: Annotated[int, typer.Option(min=1, help="Items that both prompts are judged on.")],
    clusters: Annotated[int | None, typer.Option(min=1, help="Documents that they come from; one each if left out.")] = None,
    tries: Annotated[int, typer.Option(min=1, help="Candidates that are compared with the baseline.")] = 1,
    gain: Annotated[float | None, typer.Option(min=0, max=1, help="A true gain: how many items would find it?")] = None,
    discordance: Annotated[float, typer.Option(min=0.001, max=1, help="Share of items on which two prompts differ.")] = 0.15,
    correlation: Annotated[float, typer.Option(min=0, max=1, help="Of the differences within a document.")] = 0.2,
    alpha: Annotated[float, typer.Option(min=0.0001, max=0.5, help="The level of the test.")] = 0.05,
    margin: Annotated[float | None, typer.Option(min=0, max=1, help="A loss to rule out: how many items would do it?")] = None,
    as_json: options.Json = False,
) -> None:
    """Say before money is spent which gains a test can show at all, and which it finds four times out of five."""
    from dataclasses import asdict

    from optimizer.cli.console import print_json, say
    from optimizer.errors import UsageError
    from optimizer.stats.power import power_of_test, power_statement

    if clusters is not None and clusters > items:
        raise UsageError(f"--clusters {clusters} cannot be more than --items {items}")
    if gain is not None and not 0 < gain <= discordance:
        raise UsageError(f"--gain {gain} must be above 0 and no more than --discordance {discordance}")
    if margin is not None and margin <= 0:
        raise UsageError(f"--margin {margin} must be above 0")
    found = power_of_test(items, clusters or items, tries, discordance, correlation, alpha, gain, margin)
    if as_json:
        print_json(asdict(found))
        return
    for line in power_statement(found):
        say(line)

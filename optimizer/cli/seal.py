"""`optimizer seal`: what was ever opened on which test set."""

from __future__ import annotations

from pathlib import Path

from optimizer.cli import options


def command(runs: options.Runs = None, as_json: options.Json = False) -> None:
    """List every contrast that was opened on a test set, with its p raw and corrected for all of them.

    A test set is known by the content of its items: the same items under another name are the same test set.
    """
    from dataclasses import asdict

    from optimizer.cli.console import print_json, print_table, say
    from optimizer.runs.seal import SealRegister, often_opened

    register = SealRegister(Path(runs or "runs"))
    openings = {test_set: register.openings(test_set) for test_set in register.test_sets()}
    if as_json:
        print_json({name: [asdict(o.contrast) | {"p_holm": o.p_holm} for o in found] for name, found in openings.items()})
        return
    if not openings:
        say(f"Nothing was opened yet ({register.path}).")
    for test_set, found in openings.items():
        items = found[0].contrast.items
        print_table(
            f"Test set {test_set}: {items} items, {len(found)} contrast{'s' * (len(found) != 1)}",
            ["opened", "run", "baseline", "challenger", "items", "difference", "p", "p (Holm)"],
            [
                [
                    opening.contrast.opened,
                    opening.contrast.run,
                    opening.contrast.baseline,
                    opening.contrast.challenger,
                    opening.contrast.items,
                    f"{100 * opening.contrast.difference:+.1f}",
                    f"{opening.contrast.p:.3f}",
                    f"{opening.p_holm:.3f}",
                ]
                for opening in found
            ],
        )
        if said := often_opened(register, test_set):
            say(f"Note: {said}.")

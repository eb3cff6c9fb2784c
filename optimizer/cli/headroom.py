"""`optimizer headroom`: what no choice among the candidates can mend."""

from __future__ import annotations

from pathlib import Path

from optimizer.cli import options


def command(run: options.Run = "", runs: options.Runs = None, as_json: options.Json = False) -> None:
    """Items that are wrong under every fully evaluated candidate, and the oracle over them."""
    from optimizer.cli.console import print_json, say, share
    from optimizer.runs.folder import find_run

    folder = find_run(Path(runs or "runs"), run, finished=True, kind="optimize")
    headroom = folder.summary()["result"]["headroom"]
    if as_json:
        print_json({"run": str(folder.path), **headroom})
        return
    if not headroom:
        say("No candidate was evaluated on all of dev, so there is nothing to compare; raise --budget.")
        return
    wrong = headroom["always_wrong"]
    say(
        f"{len(wrong)} of {headroom['items']} dev items are wrong under all {headroom['candidates']} fully evaluated candidates. "
        f"The best of them is right on {share(headroom['best'])}; picking the right one for each item would reach "
        f"{share(headroom['oracle'])}. That oracle rises with the number of candidates by luck alone."
    )
    for item in wrong:
        say(f"  {item}   (optimizer show {folder.path.name} {item})")

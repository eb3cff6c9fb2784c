"""`optimizer policy`: re-decide recorded debates without a call, and tune the rule that decides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.analysis.policy.objective import Objective


def command(
    run: Annotated[
        list[str] | None,
        typer.Argument(help="A run that evaluated or searched, or several with the same personas; the latest if left out."),
    ] = None,
    candidate: Annotated[str, typer.Option(help="Of a search: winner, seed, or an id.", show_default="winner")] = "",
    split: Annotated[
        str,
        typer.Option(
            help="Of a search: train, dev, test, unsealed (train and dev) or all. Test is written into the seal register."
        ),
    ] = "unsealed",
    objective: Annotated[str, typer.Option(help="What to tune for: accuracy, balanced or cost.")] = "accuracy",
    costs: Annotated[
        str | None,
        typer.Option(
            help="For cost, by true label; 1 if left out: wrong_grounded=1,wrong_not_grounded=5,abstained_grounded=0.5,…"
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Policies to try.")] = 2_000,
    folds: Annotated[int, typer.Option(min=2, help="Outer folds.")] = 5,
    seed: Annotated[int, typer.Option(help="Of folds, samples and draws.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Where to write the policy file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    runs: options.Runs = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: options.Json = False,
) -> None:
    """Tune how votes and confidences become decisions, on debates that are recorded already, and say honestly what it gains.

    The policy file that --out writes decides in place of the aggregator: optimizer evaluate --set policy=FILE.
    """
    from optimizer.analysis.policy.data import READABLE, policy_data, recorded_debates
    from optimizer.analysis.policy.seal import register
    from optimizer.analysis.policy.tuning import tune
    from optimizer.cli.console import print_json, print_table, print_text, say
    from optimizer.cli.progress import Counter
    from optimizer.debate.policy_file import policy_toml
    from optimizer.errors import UserError
    from optimizer.prompts.files import write_text
    from optimizer.report import policy as words
    from optimizer.runs.folder import find_run

    if out is not None and out.exists() and not overwrite:
        raise UserError(f"{out}: is there already; give another file or --overwrite")
    wanted = _objective(objective, costs)
    folders = [find_run(Path(runs or "runs"), name, finished=True, kinds=READABLE) for name in run or [""]]
    source = recorded_debates(folders, candidate, split)
    data = policy_data(source.debates, source.personas)
    with Counter(f"trying {trials} policies", trials) as counter:
        found = tune(data, wanted, trials, folds, seed, counter.step)
    register(folders[0].path.parent, source, found)
    if as_json:
        print_json({**words.to_json(source, found), "file": str(out) if out and found.policy else None})
    elif markdown:
        print_text(words.markdown(source, found))
    else:
        say(words.heading(source, found))
        for line in words.statements(source, found):
            say(line)
        print_table("How it decides", words.RULES_HEAD, words.rule_rows(found))
        print_table("Selective accuracy", words.CURVE_HEAD, words.curve_rows(found))
        print_table("What each fold was decided by", words.FOLDS_HEAD, words.fold_rows(found))
        say(words.LEGEND)
    if out is None:
        return
    if found.policy is None:
        raise UserError(
            f"{out}: was not written: no policy that was tried is worth more than the recorded rule, even on its own items"
        )
    write_text(out, policy_toml(found.policy, words.origin(source, found)))
    if not as_json and not markdown:
        say(f"Policy: {out} (optimizer evaluate --set policy={out})")


def _objective(name: str, costs: str | None) -> Objective:
    from dataclasses import fields
    from typing import get_args

    from optimizer.analysis.policy.objective import Costs, Name, Objective
    from optimizer.errors import UsageError

    known = get_args(Name)
    if name not in known:
        raise UsageError(f"unknown objective {name!r}; valid are {', '.join(known)}")
    if costs is None:
        return Objective(name)  # type: ignore[arg-type]
    if name != "cost":
        raise UsageError(f"--costs is for --objective cost, but the objective is {name}")
    names, given = [field.name for field in fields(Costs)], {}
    for part in filter(None, (part.strip() for part in costs.split(","))):
        key, _, value = part.partition("=")
        try:
            given[key.strip()] = float(value)
        except ValueError as error:
            raise UsageError(f"--costs: {part!r} is not NAME=NUMBER") from error
        if key.strip() not in names:
            raise UsageError(f"--costs: unknown cost {key.strip()!r}; valid are {', '.join(names)}")
    return Objective("cost", Costs(**given))

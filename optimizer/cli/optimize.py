"""`optimizer optimize`: search better prompts for a persona or for all of them, and say honestly what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.runs.folder import RunFolder
    from optimizer.search.job import OptimizeJob
    from optimizer.search.plan import Plan


def command(
    persona: Annotated[
        str | None, typer.Option(help="Component to optimise, several with commas, or all.", show_default="skeptic")
    ] = None,
    data: options.Data = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    prompts: options.Prompts = None,
    budget: Annotated[int | None, typer.Option(help="Calls, the sealed test included.", show_default="520")] = None,
    train: Annotated[
        str | None, typer.Option(help="Items that reflection reads, or their share of all; 0 takes all of the split.")
    ] = None,
    dev: Annotated[str | None, typer.Option(help="Items that duels are decided on; 0 takes all.")] = None,
    test: Annotated[str | None, typer.Option(help="Sealed items; 0 takes all.")] = None,
    reflections: Annotated[int | None, typer.Option(help="Reflected proposals for each component.")] = None,
    optuna: Annotated[
        str | None, typer.Option(help="Mirror the search into an Optuna study there: sqlite:///study.db, postgresql://…")
    ] = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    format: options.Format = None,
    seed: options.Seed = None,
    runs: options.Runs = None,
    config: options.Config = None,
    assignments: options.Set = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
    new: options.New = False,
    as_json: options.Json = False,
) -> None:
    """Search better prompts; the same command resumes, and a finished run is left as it is."""
    from dataclasses import asdict

    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json
    from optimizer.cli.progress import RunProgress
    from optimizer.report.page import write_report
    from optimizer.search.job import optimize, prepare

    settings = options.settings_from(
        config, assignments, columns, persona=persona, data=data, model=model, base_url=base_url, prompts=prompts,
        search__budget=budget, splits__train=train, splits__dev=dev, splits__test=test, search__reflections=reflections,
        label_map=label_map, format=format, seed=seed, runs=runs, optuna=optuna,
    )  # fmt: skip
    job = run_async(prepare(settings))
    if not as_json:
        _print_plan(job)
    if dry_run:
        if as_json:
            print_json(asdict(job.plan))
        return
    with RunProgress() as progress:
        run = run_async(optimize(job, new, progress))
    write_report(run)
    if as_json:
        print_json({"run": str(run.path), **run.summary()})
    else:
        _print_result(run)


def _print_plan(job: OptimizeJob) -> None:
    from optimizer.cli.console import duration, say
    from optimizer.search.ending import DISCORDANCE

    plan: Plan = job.plan
    for note in plan.notes:
        say(f"Note: {note}.")
    what = "debates" if plan.not_worse else "items"
    sizes = ", ".join(f"{name} {size} {what} in {plan.clusters[name]} clusters" for name, size in plan.sizes.items())
    say(f"Optimising {', '.join(job.components)} with {job.serving.endpoint.model} on {job.settings.data}: {sizes}.")
    say(
        f"Budget {plan.budget} calls ({plan.calls_a_debate} a debate): seed {plan.seed_calls}, "
        f"sealed test up to {plan.test_calls}, search {plan.search_calls}, "
        f"which buys {plan.proposals[0]} proposals at the least and {plan.proposals[1]} at the most."
    )
    time_left = "unknown for this server" if plan.seconds is None else f"at most {duration(plan.seconds)}"
    say(f"Answered already in the cache: {plan.cached} of the seed's calls. Time: {time_left}.")
    under = " under false passages" if plan.not_worse else ""
    if plan.smallest_gain is None:
        say("The test has too few clusters to call any gain real; give --test more items.")
    else:
        found = "no true gain" if plan.detectable != plan.detectable else f"a true gain of {100 * plan.detectable:.0f} points"
        say(
            f"The test{under} can call net {plan.smallest_gain} items real, if none is lost; with 80 % power it finds {found}, "
            f"if the two prompts differ on {100 * DISCORDANCE:.0f} % of items."
        )
    if plan.not_worse:
        margin = plan.not_worse
        say(
            f"Under true passages and none it is to rule out a loss of {100 * margin.margin:g} points (search.margin): "
            f"with 80 % power that takes {margin.needed} debates that are independent, and there are {margin.items}."
        )
    for warning in plan.warnings:
        say(f"Warning: {warning}.")


def _print_result(run: RunFolder) -> None:
    from optimizer.cli.console import duration, print_table, say
    from optimizer.report.figures import percent
    from optimizer.report.page import CONDITION_HEAD, condition_rows

    summary = run.summary()
    result, spent = summary["result"], summary["spent"]
    rows = [
        [row["origin"], row["component"] or "–", _duel_words(row["duel"]), f"{row['dev_right']}/{row['dev_items']}"]
        for row in result["candidates"]
    ]
    print_table(
        "Candidates (dev is what the search decided on, so its scores are no estimate)",
        ["candidate", "component", "duel with the incumbent", "dev"],
        rows,
    )
    headroom = result["headroom"]
    if headroom:
        say(
            f"Headroom on dev: {len(headroom['always_wrong'])} of {headroom['items']} items are wrong under all "
            f"{headroom['candidates']} fully evaluated candidates; "
            f"choosing the right one for each item would reach {percent(headroom['oracle'])}."
        )
    if len(result["front"]) > 1:
        names = {row["id"]: row["origin"] for row in result["candidates"]}
        points = ", ".join(
            f"{names[point['candidate']]} {point['tokens']} tokens {percent(point['expected'])}" for point in result["front"]
        )
        say(f"Accuracy against tokens (expected on dev, which flatters; no shorter prompt is as good): {points}.")
    say(f"Search ended: {result['stopped']}.")
    say()
    say(result["statement"])
    if result["test"].get("conditions"):
        print_table("Sealed test by condition (the pooled figures above decide)", CONDITION_HEAD, condition_rows(result["test"]))
    if summary.get("seal"):
        say(f"Note: {summary['seal']}.")
    if result["test"]["verdict"] == "not distinguishable":
        say("For a serious run: --train 0 --dev 0 --test 0 --budget 6000, or your own data with --data FILE.")
    say()
    say(
        f"{result['calls']} different calls, {spent.get('paid', 0)} paid, {spent.get('hits', 0)} from the cache, "
        f"{(spent.get('prompt_tokens', 0) + spent.get('completion_tokens', 0)) / 1000:.0f}k tokens, {duration(spent['seconds'])}."
    )
    say(f"Run: {run.path}   winner: {run.winner}   report: {run.report}")
    say(f"Next: optimizer compare {run.path.name}   or   optimizer export {run.path.name} --to my-prompts")


def _duel_words(duel: dict[str, object] | None) -> str:
    if duel is None:
        return "seed"
    return f"{'accepted' if duel['accepted'] else 'dropped'} at +{duel['wins']}/-{duel['losses']} after {duel['compared']} items"

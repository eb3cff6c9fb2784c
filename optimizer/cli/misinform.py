"""`optimizer misinform`: what a false passage in some agents' hands does to a debate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.config import Settings
    from optimizer.data.passages import PassageKind


def command(
    data: Annotated[str | None, typer.Argument(help="Items with passages beside them.", show_default="starter")] = None,
    k: Annotated[str, typer.Option("--k", help="How many agents are exposed, with commas; `all` is every number.")] = "0,1,3",
    agents: Annotated[int | None, typer.Option(min=1, help="How many debate.", show_default="3")] = None,
    kinds: Annotated[
        str, typer.Option(help="Passages: false, true, irrelevant_true, irrelevant_false, filler, with commas.")
    ] = "false",
    styles: Annotated[str, typer.Option(help="Styles of the passages, with commas.")] = "plain",
    seeds: Annotated[int, typer.Option(min=1, help="Repeats of everything.")] = 1,
    baselines: Annotated[
        str, typer.Option(help="Beside the debate: single, single-debate, msc, sc15, with commas; or none.")
    ] = "single,single-debate,msc",
    skepticism: Annotated[
        str, typer.Option(help="Also with a sentence about sources in every prompt: seed (the shipped one), none, or a file.")
    ] = "none",
    verifier: Annotated[bool, typer.Option("--verifier", help="Also with a verifier, under no and one exposure (V1).")] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many items, over many clusters; 0 takes all.")] = 0,
    prompts: options.Prompts = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    format: options.Format = None,
    seed: options.Seed = None,
    runs: options.Runs = None,
    config: options.Config = None,
    assignments: options.Set = None,
    new: options.New = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: options.Json = False,
) -> None:
    """Exposure curves of debates and of samples that are exposed alike, and where the loss comes from."""
    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json, print_table, print_text, say
    from optimizer.cli.progress import RunProgress
    from optimizer.misinformation.arms import BASELINES, VERIFIERS, Design, System
    from optimizer.misinformation.records import read_records
    from optimizer.misinformation.results import misinformation_results
    from optimizer.misinformation.run import run_misinformation
    from optimizer.report import misinformation as words

    settings = options.settings_from(
        config, assignments, columns, data=data, prompts=prompts, model=model, base_url=base_url, label_map=label_map,
        format=format, seed=seed, runs=runs, misinformation__agents=agents,
    )  # fmt: skip
    rules = settings.misinformation
    names = [] if baselines == "none" else _listed("baseline", baselines, [str(each) for each in BASELINES])
    design = Design(
        exposed=_numbers(k, rules.agents),
        kinds=_kinds(kinds),
        styles=tuple(dict.fromkeys(name.strip() for name in styles.split(",") if name.strip())),
        seeds=seeds,
        baselines=tuple(System(name) for name in names),
        skepticism=_skepticism(skepticism, settings),
        verifiers=VERIFIERS[rules.verifier] if verifier else (),
    )
    with RunProgress() as progress:
        run = run_async(run_misinformation(settings, design, limit, new, progress))
    results, summary = misinformation_results(read_records(run), rules.agents), run.summary()
    spent = summary["spent"]
    remarks = [
        words.sampling_remark(rules),
        f"{spent['asked']} calls, {spent['different']} different ones: {spent['shared']} were shared between arms.",
    ]
    if summary["failed"]:
        remarks.append(f"{summary['failed']} debates or samples failed for lack of an answer and are left out.")
    if as_json:
        print_json({"run": str(run.path), **words.to_json(results), "left_out": summary["left_out"], "spent": spent})
        return
    if markdown:
        print_text(words.markdown(results, remarks))
        return
    for title, head, rows in words.tables(results):
        print_table(title, head, rows)
    for line in [words.LEGEND, *remarks, *(f"Note: {warning}." for warning in results.warnings)]:
        say(line)
    say(f"Run: {run.path}")


def _listed(what: str, text: str, known: list[str]) -> list[str]:
    from optimizer.errors import UsageError

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise UsageError(f"unknown {what} {(unknown or [text])[0]!r}; valid are {', '.join(known)}")
    return names


def _numbers(text: str, agents: int) -> tuple[int, ...]:
    from optimizer.errors import UsageError

    if text == "all":
        return tuple(range(agents + 1))
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError as error:
        raise UsageError(f"--k {text!r} must be numbers of agents with commas, like 0,1,3, or all") from error


def _kinds(text: str) -> tuple[PassageKind, ...]:
    from optimizer.data.passages import PassageKind

    return tuple(PassageKind(name) for name in _listed("kind of passage", text, [str(kind) for kind in PassageKind]))


def _skepticism(text: str, settings: Settings) -> str:
    """The sentence that is meant: the prompt folder's own, none, or a file's."""
    from pathlib import Path

    from optimizer.prompts.files import read_prompt
    from optimizer.prompts.library import SOURCE_SKEPTICISM, load_library

    if text == "none":
        return ""
    if text == "seed":
        return load_library(Path(settings.prompts) if settings.prompts else None).seeds[SOURCE_SKEPTICISM]
    return read_prompt(Path(text))[0]

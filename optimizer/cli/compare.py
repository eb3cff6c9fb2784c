"""`optimizer compare`: candidates side by side, from a run or from prompt files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.config import Settings
    from optimizer.runs.folder import RunFolder


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="A run (the latest if left out) and candidates of it; or prompt files, the first is the baseline."),
    ] = None,
    persona: Annotated[str | None, typer.Option(help="The component that prompt files are for.", show_default="skeptic")] = None,
    data: options.Data = None,
    split: Annotated[str, typer.Option(help="Items for prompt files: train, dev, test or all.")] = "all",
    limit: Annotated[int, typer.Option(min=0, help="At most so many items for prompt files, over many clusters.")] = 0,
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
    assert_better: Annotated[
        bool, typer.Option("--assert-better", help="Exit with 3 unless something beats the baseline.")
    ] = False,
    alpha: Annotated[float, typer.Option(min=0, max=1, help="The level for --assert-better.")] = 0.05,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: options.Json = False,
) -> None:
    """Compare candidates with the baseline: accuracy, paired difference, corrected p, and the verdict in words.

    Of a run that searched, the candidates are compared on dev, and the sealed test is said below. Prompt files are put into
    the shipped panel one by one, and what is missing is evaluated.
    """
    from optimizer.analysis.comparison import better_than_baseline, compare_run
    from optimizer.cli.console import print_json, print_table, print_text, say
    from optimizer.report.comparison import HEAD, LEGEND, heading, remarks, table_rows, to_json
    from optimizer.report.comparison import markdown as as_markdown
    from optimizer.runs.folder import find_run

    given = what or []
    if any(name.endswith(".md") for name in given):
        settings = options.settings_from(
            config, assignments, columns, persona=persona, data=data, prompts=prompts, model=model, base_url=base_url,
            label_map=label_map, format=format, seed=seed, runs=runs,
        )  # fmt: skip
        run, wanted = _evaluated(given, settings, split, limit, new), []
    else:
        run = find_run(Path(runs or "runs"), given[0] if given else "", finished=True, kinds=("optimize", "compare", "transfer"))
        wanted = given[1:]
    comparison = compare_run(run, wanted)
    result = run.summary()["result"]
    if as_json:
        print_json({"run": str(run.path), **to_json(comparison), "test": result.get("test")})
    elif markdown:
        print_text(as_markdown(comparison) + (f"\nSealed test: {result['statement']}\n" if "statement" in result else ""))
    else:
        print_table(heading(comparison), HEAD, table_rows(comparison))
        say(LEGEND)
        for line in remarks(comparison):
            say(line)
        if "statement" in result:
            say("Dev scores were searched on and flatter the chosen; what counts is the sealed test:")
            say(result["statement"])
    if assert_better:
        holds, why = better_than_baseline(run, comparison, alpha)
        if not as_json and not markdown:
            say(why)
        if not holds:
            raise typer.Exit(3)


def _evaluated(files: list[str], settings: Settings, split: str, limit: int, new: bool) -> RunFolder:
    """The comparison run of these prompt files, finished."""
    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.progress import RunProgress
    from optimizer.prompts.files import read_prompt
    from optimizer.search.versus import compare_prompts

    paths = [Path(name) for name in files]
    stems = [path.stem for path in paths]
    # seed.md of two folders are told apart by the folder.
    names = [path.stem if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}" for path in paths]
    texts = [(name, read_prompt(path)[0]) for name, path in zip(names, paths, strict=True)]
    with RunProgress() as progress:
        return run_async(compare_prompts(settings, texts, split, limit, new, progress))

"""`optimizer benchmark`: the panel against a single judge, or its self-consistency, on several data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimizer.cli import options

if TYPE_CHECKING:
    from optimizer.config import Settings
    from optimizer.data.suites import Missing, Suite
    from optimizer.debate.controls import Control
    from optimizer.report.sections import Section


def command(
    suite: Annotated[
        str | None, typer.Option(help="A shipped suite (groundedness, questions) or a TOML file: docs/benchmark-suite.md.")
    ] = None,
    data: Annotated[list[str] | None, typer.Option(help="A data file or name; again for each. In the place of a suite.")] = None,
    reference: Annotated[
        str, typer.Option(help="What the panel is set against: single, self-consistency, or both with a comma.")
    ] = "single",
    limit: Annotated[int, typer.Option(min=0, help="At most so many items a data set, over many clusters; 0 takes all.")] = 120,
    repeats: Annotated[int, typer.Option(min=1, help="Debates an item, each under its own seed.")] = 1,
    skip_missing: Annotated[bool, typer.Option("--skip-missing", help="Leave out data sets that are not there.")] = False,
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
    markdown: Annotated[Path | None, typer.Option(help="Where to write the tables as Markdown.")] = None,
    as_json: options.Json = False,
) -> None:
    """Does the panel beat one judge: a row a data set with gain, loss or inconclusive, alone and corrected over the suite.

    The same command goes on where it stopped. --columns, --label-map and --format are for --data; a suite file has its own.
    """
    from optimizer.analysis.suite import compare_suite
    from optimizer.cli.asynchronous import run as run_async
    from optimizer.cli.console import print_json
    from optimizer.cli.progress import RunProgress
    from optimizer.data.suites import open_suite, suite_names, suite_of
    from optimizer.errors import UsageError, UserError
    from optimizer.report import suite as words
    from optimizer.search.suite import run_suite, suite_scores

    settings = options.settings_from(
        config, assignments, columns, prompts=prompts, model=model, base_url=base_url, label_map=label_map, format=format,
        seed=seed, runs=runs,
    )  # fmt: skip
    if bool(suite) == bool(data):
        raise UsageError(f"give either --suite (a TOML file, or {', '.join(suite_names())}) or --data, once or several times")
    if suite and (columns or label_map or format):
        raise UsageError("--columns, --label-map and --format are for --data; how a suite's data are read stands in its file")
    references = _references(reference)
    chosen, missing = _present(open_suite(suite) if suite else suite_of(data or [], settings), skip_missing)
    with RunProgress() as progress:
        done = run_async(run_suite(settings, chosen, references, repeats, limit, new, progress))
    left_out = {each.name: each.reason for each in missing}
    absent = {**dict.fromkeys(done.failed, "failed"), **dict.fromkeys(left_out, "left out")}
    found = [compare_suite(suite_scores(done.finished, each), each.value) for each in references if done.finished]
    paths = {name: str(run.path) for name, run in done.finished.items()}
    parts = [words.suite_section(each, absent) for each in found]
    lines = words.run_lines(paths, done.failed, left_out)
    if markdown is not None and parts:
        _write(markdown, chosen, settings, parts, lines)
    if as_json:
        print_json(
            {
                "suite": chosen.name,
                "limit": limit,
                "repeats": repeats,
                "comparisons": [words.to_json(each) for each in found],
                "runs": paths,
                "failed": done.failed,
                "left_out": left_out,
            }
        )
    else:
        _show(parts, lines)
    if done.failed:
        raise UserError(
            f"{len(done.failed)} of {len(chosen.benchmarks)} data sets failed ({', '.join(done.failed)}), first: "
            f"{next(iter(done.failed.values()))}. The same command goes on with them"
        )


def _references(text: str) -> list[Control]:
    from optimizer.debate.controls import Control
    from optimizer.errors import UsageError

    valid = (Control.SINGLE, Control.SELF_CONSISTENCY)
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in valid:
            raise UsageError(f"unknown reference {name!r}; valid are {' and '.join(valid)}, also both with a comma")
    return [Control(name) for name in names]


def _present(suite: Suite, skip: bool) -> tuple[Suite, list[Missing]]:
    """The data sets that are there, and the others. Raises UserError where there are others that are not to be skipped."""
    from optimizer.data.suites import find_missing, remedy, without
    from optimizer.errors import UserError

    missing = find_missing(suite)
    if missing and not skip:
        raise UserError(
            f"suite {suite.name}: {', '.join(each.name for each in missing)} cannot be measured: {remedy(missing)}; or leave out "
            "what is not there with --skip-missing"
        )
    return without(suite, missing), missing


def _write(path: Path, suite: Suite, settings: Settings, parts: list[Section], lines: list[str]) -> None:
    from optimizer.prompts.files import write_text
    from optimizer.report.sections import section_markdown

    title = f"## Suite {suite.name}" + (f", {settings.model}" if settings.model else "")
    write_text(path, "\n\n".join([title, *map(section_markdown, parts), "\n".join(f"- {line}" for line in lines)]) + "\n")


def _show(parts: list[Section], lines: list[str]) -> None:
    from optimizer.cli.console import print_table, say

    for part in parts:
        print_table(part.title, part.head, part.rows)
        for note in part.notes:
            say(f"  {note}")
        say()
    for line in lines:
        say(line)

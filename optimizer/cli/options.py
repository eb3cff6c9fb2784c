"""Options that several verbs share, and how they become settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from optimizer.config import Settings

Data = Annotated[str | None, typer.Option(help="A data file (docs/data.md) or a shipped data set.", show_default="starter")]
Format = Annotated[str | None, typer.Option(help="The data's format; recognised from the file if left out.")]
FormatOptions = Annotated[list[str] | None, typer.Option("--option", help="NAME=VALUE of the format; see optimizer data list.")]
Model = Annotated[str | None, typer.Option(help="An embedded model, or with --base-url the served name.")]
BaseUrl = Annotated[str | None, typer.Option(help="An OpenAI-compatible server that is running, e.g. http://localhost:8000/v1.")]
Prompts = Annotated[str | None, typer.Option(help="Folder of prompts to start from: <persona>/seed.md or <persona>.md.")]
Columns = Annotated[list[str] | None, typer.Option(help="FIELD=NAME where the data calls a field something else.")]
LabelMap = Annotated[
    str | None, typer.Option(help="Labels beyond the known ones, or other than these: name=grounded,other=not_grounded.")
]
Seed = Annotated[int | None, typer.Option(help="Of splits, shuffles and samples.")]
Runs = Annotated[str | None, typer.Option(help="Folder of runs.", show_default="runs")]
Config = Annotated[Path | None, typer.Option(help="Settings file; optimizer.toml is read where it exists.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="Any setting: --set protocol.rounds=1. See docs/settings.md.")]
New = Annotated[bool, typer.Option("--new", help="Begin a new run even if one like it is there.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Run = Annotated[str, typer.Argument(help="A run folder or its name; the latest if left out.")]


def replaced(settings: Settings, columns: list[str] | None = None, **flags: Any) -> Settings:
    """A run's settings with what was given in its place."""
    from optimizer.config import Settings

    changes = {name: value for name, value in flags.items() if value is not None}
    if columns:
        changes["columns"] = pairs(columns, "--columns")
    return Settings.model_validate({**settings.model_dump(), **changes})


def pairs(given: list[str], flag: str) -> dict[str, str]:
    """NAME=VALUE texts as a map. Raises ConfigError naming the flag where one has no =."""
    from optimizer.config import ConfigError

    parts = [text.partition("=") for text in given]
    if not all(name and separator for name, separator, _ in parts):
        raise ConfigError(f"{flag} {' '.join(given)!r} must be NAME=VALUE")
    return {name: value for name, _, value in parts}


def settings_from(config: Path | None, assignments: list[str] | None, columns: list[str] | None = None, **flags: Any) -> Settings:
    """Settings from flags (None: not given), --set assignments, environment, file and defaults."""
    from optimizer.config import load_settings, parse_assignments

    given = {name.replace("__", "."): value for name, value in flags.items()}
    if columns:
        given["columns"] = pairs(columns, "--columns")
    return load_settings({**parse_assignments(assignments or []), **{k: v for k, v in given.items() if v is not None}}, config)

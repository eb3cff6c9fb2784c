"""The settings: one typed model. A flag wins over the environment, that over the file, that over the default.

Environment variables are OPTIMIZER_ and the setting in capitals, OPTIMIZER_PROTOCOL__ROUNDS for protocol.rounds. An unknown
key is an error wherever it stands.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from optimizer.sections import (
    MisinformationSettings,
    ProtocolSettings,
    RoleSettings,
    SearchSettings,
    SplitSettings,
    Strict,
)

ENVIRONMENT_PREFIX = "OPTIMIZER_"
_OTHER_VARIABLES = frozenset({"OPTIMIZER_API_KEY"})
DEFAULT_FILE = Path("optimizer.toml")


class ConfigError(ValueError):
    """A setting is unknown or has a bad value; the message names it and where it came from."""


class Settings(Strict):
    """Everything that a run can be told."""

    data: str = "starter"
    columns: dict[str, str] = Field(default_factory=dict)
    label_map: str = ""
    format: str = Field(default="", description="how the data file is read; recognised from the file if left out")
    format_options: dict[str, str] = Field(default_factory=dict, description="options of that format")
    prompts: str = ""
    persona: str = "skeptic"
    model: str = ""
    base_url: str = Field(default="", description="several with commas are replicas of one model")
    roles: dict[str, RoleSettings] = Field(default_factory=dict)
    seed: int = 0
    splits: SplitSettings = SplitSettings()
    search: SearchSettings = SearchSettings()
    protocol: ProtocolSettings = ProtocolSettings()
    misinformation: MisinformationSettings = MisinformationSettings()
    in_flight: int = Field(default=0, ge=0, description="debates under way at once; 0 takes what the server can do")
    timeout: float = Field(default=600.0, gt=0, description="seconds one try of a call may take")
    context: int = Field(default=0, ge=0, description="tokens a call on the embedded server; 0 follows the data")
    cache: str = ""
    runs: str = "runs"
    panel: str = Field(default="", description="who sits on the panel, with commas in speaking order; everybody if left out")
    policy: str = Field(default="", description="a policy file, which decides in place of protocol.aggregator")
    optuna: str = Field(default="", description="storage of a study that mirrors the search; several workers may share one")
    study: str = Field(default="", description="its name; the run's where left out")

    @model_validator(mode="after")
    def _one_decides(self) -> Self:
        if self.policy and self.protocol.aggregator == "ballot":
            raise ValueError("a policy decides in place of the aggregator, so nobody would vote; set protocol.aggregator=rule")
        return self


def load_settings(flags: Mapping[str, Any], file: Path | None = None) -> Settings:
    """Merge defaults, the file, the environment and the flags.

    Args:
        flags: dotted names to values; None values are flags that were not given.
        file: a TOML file; without one, optimizer.toml is read where it exists.

    Raises:
        ConfigError: the file cannot be read, or a key or value is bad.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    path = file or (DEFAULT_FILE if DEFAULT_FILE.exists() else None)
    if path is not None:
        for name, value in _flatten(_read_toml(path)).items():
            _put(merged, name, value)
            origins[name] = str(path)
    for variable, value in os.environ.items():
        if variable.startswith(ENVIRONMENT_PREFIX) and variable not in _OTHER_VARIABLES:
            name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
            _put(merged, name, value)
            origins[name] = f"environment variable {variable}"
    for name, value in flags.items():
        if value is not None:
            _put(merged, name, value)
            origins[name] = "command line"
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigError(_explain(error, origins)) from error


def to_toml(settings: Settings) -> str:
    """The settings as TOML, whole, in a form that load_settings reads back."""
    return toml_text(settings.model_dump(exclude_none=True))


def toml_text(table: Mapping[str, Any]) -> str:
    """A table of texts, numbers, lists of them, and tables, as TOML."""
    return "\n".join(_toml_table("", table)) + "\n"


def _toml_table(name: str, table: Mapping[str, Any]) -> list[str]:
    """The lines of a table: its values, then the tables in it."""
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    lines = [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in table.items() if key not in inner]
    for key, value in inner.items():
        path = f"{name}.{_toml_key(key)}" if name else _toml_key(key)
        lines += ["", f"[{path}]", *_toml_table(path, value)]
    return lines


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def parse_assignments(assignments: list[str]) -> dict[str, Any]:
    """Read `--set protocol.rounds=1` flags; values are TOML, and bare words are text. Raises ConfigError."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator or not name.strip():
            raise ConfigError(f"--set {assignment!r} is not NAME=VALUE")
        try:
            values[name.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            values[name.strip()] = text
    return values


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such settings file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path}: cannot be read as TOML ({error})") from error


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _put(target: dict[str, Any], name: str, value: Any) -> None:
    *parents, last = name.split(".")
    for parent in parents:
        inner = target.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"setting {name!r}: {parent!r} is not a table")
        target = inner
    target[last] = value


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    origin = next((source for key, source in origins.items() if key == name or name.startswith(key + ".")), "the settings")
    if first["type"] == "extra_forbidden":
        return f"{origin}: unknown setting {name!r}; known are {', '.join(Settings.model_fields)}"
    return f"{origin}: setting {name!r}: {first['msg'].removeprefix('Value error, ')} (got {first['input']!r})"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    escaped = "".join(
        f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c for c in str(value).replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'

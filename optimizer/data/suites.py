"""Suites: lists of data sets on which one panel is measured. Some ship by name; a TOML file, or files alone, make others."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError, field_validator

from optimizer.config import Settings
from optimizer.data.fetch import NotFetched
from optimizer.data.formats import format_named
from optimizer.data.formats.composed import recipe_sources
from optimizer.data.labels import parse_label_map
from optimizer.data.shipped import data_path, datasets_folder
from optimizer.errors import UsageError, UserError
from optimizer.sections import Strict


class SuiteEntry(Strict):
    """One data set of a suite: a file (beside the suite's) or a name, what it is called, and how it is read."""

    data: str = Field(min_length=1)
    name: str = ""
    format: str = ""
    label_map: str = ""
    columns: dict[str, str] = Field(default_factory=dict)
    options: dict[str, str] = Field(default_factory=dict)

    @field_validator("format")
    @classmethod
    def _known(cls, value: str) -> str:
        return format_named(value).name if value else ""

    @field_validator("label_map")
    @classmethod
    def _readable(cls, value: str) -> str:
        parse_label_map(value)
        return value

    def settings(self, settings: Settings) -> Settings:
        """The settings with this data set in the place of theirs, read as it says here alone."""
        return settings.model_copy(
            update={
                "data": self.data,
                "format": self.format,
                "label_map": self.label_map,
                "columns": self.columns,
                "format_options": self.options,
            }
        )


class _SuiteFile(Strict):
    benchmarks: tuple[SuiteEntry, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Suite:
    """Data sets in the order in which they are measured and shown. Their names differ."""

    name: str
    benchmarks: tuple[SuiteEntry, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """A data set that is not there: the benchmarks to be fetched for it, and files that do not exist."""

    name: str
    fetch: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def reason(self) -> str:
        return "; ".join([*(f"{name} is not fetched" for name in self.fetch), *(f"{file}: no such file" for file in self.files)])


def suite_names() -> list[str]:
    """The suites that ship."""
    return [path.stem for path in sorted(_folder().glob("*.toml")) if "benchmarks" in _table(path)]


def open_suite(text: str) -> Suite:
    """The shipped suite of that name, or the one in a TOML file.

    Raises:
        UsageError: it is neither.
        UserError: the file is no suite; the message names the bad value.
    """
    path = Path(text)
    if path.suffix.lower() != ".toml" or not path.is_file():
        if text not in suite_names():
            raise UsageError(
                f"unknown suite {text!r}; shipped are {', '.join(suite_names())}, or give a .toml file that is there"
            )
        path = _folder() / f"{text}.toml"
    try:
        found = _SuiteFile.model_validate(_table(path)).benchmarks
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: {place}: {first['msg']} (got {first['input']!r}); see docs/benchmark-suite.md") from error
    return _suite(path.stem, [each.model_copy(update={"data": _beside(path, each.data)}) for each in found], str(path))


def suite_of(data: Sequence[str], settings: Settings) -> Suite:
    """A suite of files or names, all read as the settings say. Raises UserError where one is given twice."""
    entries = [
        SuiteEntry(
            data=each,
            format=settings.format,
            label_map=settings.label_map,
            columns=settings.columns,
            options=settings.format_options,
        )
        for each in data
    ]
    return _suite("data", entries, "--data")


def find_missing(suite: Suite) -> list[Missing]:
    """The data sets that are not there, the sources of mixtures included.

    Raises:
        UserError: one is there and is not what was fetched, or a mixture's recipe is bad.
    """
    return [missing for each in suite.benchmarks if (missing := _missing(each)) is not None]


def without(suite: Suite, missing: Sequence[Missing]) -> Suite:
    """What is left of a suite. Raises UserError saying what to do where that is nothing."""
    gone = {each.name for each in missing}
    left = tuple(each for each in suite.benchmarks if each.name not in gone)
    if not left:
        raise UserError(f"suite {suite.name}: none of its data sets is there; {remedy(missing)}")
    return Suite(suite.name, left)


def remedy(missing: Sequence[Missing]) -> str:
    """What to do about missing data sets, as one line."""
    names = list(dict.fromkeys(name for each in missing for name in each.fetch))
    files = dict.fromkeys(f"{file}: no such file" for each in missing for file in each.files)
    return "; ".join([*files, *([f"run optimizer data fetch {' '.join(names)}"] if names else [])])


def _folder() -> Path:
    return datasets_folder() / "suites"


def _table(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as TOML ({error})") from error


def _beside(path: Path, data: str) -> str:
    return str(path.parent / data) if (path.parent / data).exists() else data


def _suite(name: str, found: Sequence[SuiteEntry], origin: str) -> Suite:
    """The suite, every data set with a name: its own, else that of its file, with the folder where several are called so."""
    short = Counter(_short(each.data) for each in found)
    named = [
        each.model_copy(update={"name": each.name or (_short(each.data) if short[_short(each.data)] == 1 else each.data)})
        for each in found
    ]
    for called, count in Counter(each.name for each in named).items():
        if count > 1:
            raise UserError(f"{origin}: {count} data sets are called {called!r}; name them differently, or leave all but one out")
    return Suite(name, tuple(named))


def _short(data: str) -> str:
    path = Path(data)
    return path.stem if path.suffix in (".jsonl", ".json", ".csv", ".parquet", ".toml", ".gz") else data


def _missing(entry: SuiteEntry) -> Missing | None:
    fetch: list[str] = []
    files: list[str] = []
    path = _look(entry.data, fetch, files)
    if path is not None and path.suffix.lower() == ".toml":
        for source in recipe_sources(path):
            _look(source, fetch, files)
    return Missing(entry.name, tuple(fetch), tuple(files)) if fetch or files else None


def _look(data: str, fetch: list[str], files: list[str]) -> Path | None:
    """Where data is; where it is not there, what is to be done is added to one of the lists."""
    try:
        path = data_path(data)
    except NotFetched as error:
        fetch.append(error.benchmark)
        return None
    if not path.exists():
        files.append(str(path))
        return None
    return path

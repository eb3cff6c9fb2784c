"""A file is recognised by itself, as one format and no other; what is not is named with what was seen."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from optimizer.data.formats import FORMATS, format_named, recognise, sample_of
from optimizer.data.loaders import load_items
from optimizer.errors import UsageError, UserError
from tests.data.formats.published import AGGREFACT, FILES, RAGTRUTH_SOURCES, VITAMINC, write_lines
from tests.data.test_question_formats import PUBLISHED, VARIANTS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder whose own name says nothing."""
    (tmp_path / "x").mkdir()
    return tmp_path / "x"


def _question_file(name: str, file: str, text: str) -> tuple[str, Callable[[Path], Path]]:
    def write(folder: Path) -> Path:
        (folder / file).write_text(text, encoding="utf-8")
        return folder / file

    return name, write


QUESTIONS = {f"{name}_{file}": _question_file(name, file, text) for name, (file, text) in [*PUBLISHED.items(), *VARIANTS.items()]}
ALL = {**FILES, **QUESTIONS}


@pytest.mark.parametrize("what", ALL)
def test_every_published_file_is_of_its_format_and_of_no_other(folder: Path, what: str) -> None:
    name, write = ALL[what]
    path = write(folder)
    sample = sample_of(path)
    assert [known.name for known in FORMATS if known.recognises(sample)] == [name]
    assert recognise(path).name == name


def test_every_format_has_a_file_here_and_says_what_it_is() -> None:
    assert {name for name, _ in ALL.values()} == {known.name for known in FORMATS}
    for known in FORMATS:
        assert known.title
        assert known.licence
        assert known.home
        assert len({file.name for file in known.files}) == len(known.files)
        assert format_named(known.name) is known


@pytest.mark.parametrize("rows", [VITAMINC, AGGREFACT])
def test_exports_of_the_same_columns_are_the_same_items(folder: Path, rows: list[dict[str, Any]]) -> None:
    import json

    import pandas

    lines = write_lines(folder / "test.jsonl", rows)
    pandas.DataFrame(rows).to_parquet(folder / "test.parquet")
    (folder / "test.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    with (folder / "test.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    expected = load_items(lines)
    for kind in ("parquet", "json", "csv"):
        assert load_items(folder / f"test.{kind}") == expected


def test_an_unknown_file_is_named_with_its_columns_and_the_formats(folder: Path) -> None:
    path = write_lines(folder / "d.jsonl", [{"statement": "C", "passage": "E"}])
    with pytest.raises(
        UserError, match=r"columns are passage, statement. Formats are optimizer, .*--format NAME, or .*--columns"
    ):
        recognise(path)


def test_a_forced_format_overrides_and_an_unknown_one_is_listed(folder: Path) -> None:
    path = write_lines(folder / "d.jsonl", VITAMINC)
    assert recognise(path, "optimizer").name == "optimizer"
    assert load_items(path, format="optimizer")[0].source == ""
    with pytest.raises(UsageError, match=r"unknown format 'vitamin'; known are optimizer, .*vitaminc"):
        recognise(path, "vitamin")


def test_a_column_map_means_our_own_format(folder: Path) -> None:
    path = write_lines(folder / "d.jsonl", AGGREFACT)
    assert load_items(path, {"evidence": "doc"})[0].source == ""
    with pytest.raises(UserError, match="--columns is for data in our own format, but the format is llm_aggrefact"):
        load_items(path, {"evidence": "doc"}, format="llm_aggrefact")


def test_a_file_of_two_formats_is_asked_about(folder: Path) -> None:
    row = {**VITAMINC[0], "dataset": "Set-A", "doc": "E"}
    with pytest.raises(UserError, match="is recognised as vitaminc and as llm_aggrefact; say which it is with --format NAME"):
        recognise(write_lines(folder / "d.jsonl", [row]))


def test_the_sources_of_ragtruth_lead_to_its_responses(folder: Path) -> None:
    FILES["ragtruth"][1](folder)
    assert load_items(folder / "source_info.jsonl") == load_items(folder / "response.jsonl") == load_items(folder)
    alone = write_lines(folder / "alone" / "source_info.jsonl", RAGTRUTH_SOURCES)
    with pytest.raises(UserError, match=r"holds no items; 4 left out because: a source without a response"):
        load_items(alone)


def test_a_folder_of_splits_is_read_whole(folder: Path) -> None:
    write_lines(folder / "dev.jsonl", VITAMINC[:2])
    write_lines(folder / "test.jsonl", VITAMINC[2:])
    write_lines(folder / "notes.jsonl", [{"note": "no data"}])
    assert [item.split for item in load_items(folder)] == ["dev", "dev", "test", "test"]


def test_a_folder_of_nothing_known_is_named_with_its_files(folder: Path) -> None:
    write_lines(folder / "notes.jsonl", [{"note": "no data"}])
    with pytest.raises(UserError, match=r"no items.jsonl and no published benchmark \(it has notes.jsonl\); give one"):
        load_items(folder)

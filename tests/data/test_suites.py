"""Suites are read strictly, and what is not there is named with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.config import Settings
from optimizer.data import fetch
from optimizer.data.formats import FORMATS
from optimizer.data.suites import find_missing, open_suite, remedy, suite_names, suite_of, without
from optimizer.errors import UsageError, UserError
from tests.conftest import make_items, write_items


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fetch, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("optimizer.data.named.cache_folder", lambda: tmp_path / "cache")


def test_the_shipped_suites_hold_known_benchmarks() -> None:
    assert suite_names() == ["groundedness", "questions"]
    assert [each.name for each in open_suite("groundedness").benchmarks] == [
        "vitaminc", "wice", "ragtruth", "halueval", "scifact", "composed",
    ]  # fmt: skip
    known = {entry.name for entry in FORMATS}
    for each in open_suite("questions").benchmarks:
        assert each.data.partition(":")[0] in known


def test_nothing_fetched_names_every_benchmark_once_and_the_mixture_by_its_sources() -> None:
    missing = find_missing(open_suite("groundedness"))
    assert [each.name for each in missing] == ["vitaminc", "wice", "ragtruth", "halueval", "scifact", "composed"]
    assert remedy(missing) == "run optimizer data fetch vitaminc wice ragtruth halueval scifact"
    with pytest.raises(UserError, match="none of its data sets is there; run optimizer data fetch vitaminc"):
        without(open_suite("groundedness"), missing)
    # Sums are generated, so they are always there.
    assert "arithmetic" not in [each.name for each in find_missing(open_suite("questions"))]


def test_a_mixture_lacks_files_and_benchmarks_alike(tmp_path: Path) -> None:
    recipe = tmp_path / "mix.toml"
    recipe.write_text('[[sources]]\ndata = "gone.jsonl"\n[[sources]]\ndata = "wice"\n', encoding="utf-8")
    missing = find_missing(suite_of([str(recipe)], Settings()))
    assert [each.reason for each in missing] == ["wice is not fetched; gone.jsonl: no such file"]
    assert remedy(missing) == "gone.jsonl: no such file; run optimizer data fetch wice"


def test_a_suite_file_finds_data_beside_it_and_reads_it_its_own_way(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    write_items(folder / "a.jsonl", make_items(4))
    (folder / "mine.toml").write_text(
        '[[benchmarks]]\ndata = "a.jsonl"\nlabel_map = "maybe=grounded"\n'
        '[[benchmarks]]\nname = "sums"\ndata = "arithmetic:n=5"\n[[benchmarks]]\ndata = "b.jsonl"\n',
        encoding="utf-8",
    )
    suite = open_suite(str(folder / "mine.toml"))
    assert (suite.name, [each.name for each in suite.benchmarks]) == ("mine", ["a", "sums", "b"])
    settings = suite.benchmarks[1].settings(Settings(columns={"claim": "text"}, label_map="x=grounded"))
    assert (settings.data, settings.columns, settings.label_map) == ("arithmetic:n=5", {}, "")
    assert suite.benchmarks[0].settings(Settings()).data == str(folder / "a.jsonl")
    missing = find_missing(suite)
    assert [(each.name, each.reason) for each in missing] == [("b", "b.jsonl: no such file")]
    assert [each.name for each in without(suite, missing).benchmarks] == ["a", "sums"]


def test_files_of_one_name_are_told_apart_by_their_folders_and_one_file_is_not_taken_twice() -> None:
    suite = suite_of(["x/items.jsonl", "y/items.jsonl", "z.csv"], Settings(columns={"claim": "text"}))
    assert [each.name for each in suite.benchmarks] == ["x/items.jsonl", "y/items.jsonl", "z"]
    assert suite.benchmarks[2].settings(Settings()).columns == {"claim": "text"}
    with pytest.raises(UserError, match=r"2 data sets are called 'z\.csv'"):
        suite_of(["z.csv", "z.csv"], Settings())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[benchmarks]]\n", "benchmarks.0.data: Field required"),
        ("benchmarks = []\n", "benchmarks: Tuple should have at least 1 item"),
        ('[[benchmarks]]\ndata = "a"\nshare = 2\n', "benchmarks.0.share"),
        ('[[benchmarks]]\ndata = "a"\nformat = "vitamin"\n', "unknown format 'vitamin'"),
        ('[[benchmarks]]\ndata = "a"\nlabel_map = "x=yes"\n', "is not NAME=grounded"),
        ("benchmarks = [\n", "cannot be read as TOML"),
    ],
)
def test_a_bad_suite_file_is_an_error_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"bad\.toml") as error:
        open_suite(str(tmp_path / "bad.toml"))
    assert message in str(error.value)


def test_an_unknown_suite_lists_the_shipped_ones() -> None:
    with pytest.raises(UsageError, match="shipped are groundedness, questions"):
        open_suite("grounded")

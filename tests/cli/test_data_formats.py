"""`optimizer data list`, `show` and `convert` as a person uses them, and runs on published files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optimizer.data.formats import FORMATS
from optimizer.data.loaders import load_items
from optimizer.data.passages import load_passages
from tests.cli.test_cli import as_json, optimizer
from tests.conftest import Scripted
from tests.data.formats.published import FILES, vitaminc_row, write_lines
from tests.data.test_question_formats import WINO
from tests.search.test_job import judge


def test_list_names_every_format_with_its_label_map(tmp_path: Path) -> None:
    listed = {entry["name"]: entry for entry in as_json("data", "list", cwd=tmp_path)}
    assert set(listed) == {known.name for known in FORMATS}
    assert listed["wice"]["labels"]["partially_supported"] == "not_grounded"
    assert listed["winogrande"]["parts"] == ["dev", "train", "train_debiased"]
    shown = optimizer("data", "list", cwd=tmp_path).stdout
    assert "train_debiased" in shown
    assert "(annotations)" not in shown


def test_show_says_how_a_file_is_read_and_what_is_left_out(tmp_path: Path) -> None:
    FILES["ragtruth"][1](tmp_path)
    result = optimizer("data", "show", "response.jsonl", "--option", "due_to_null=grounded", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for text in (
        "format ragtruth, 5 items in 3 clusters",
        "labels: 3 grounded, 2 not_grounded",
        "label map: not_grounded: evident_conflict, subtle_baseless_info; grounded: no_span",
        "split: 1 test, 4 train",
        "left out, 1: its source_id is not in source_info.jsonl beside it: 6",
        "left out, 1: a source without a response in response.jsonl: 14",
        "ragtruth:1 (grounded, cluster ragtruth:11, Summary)",
    ):
        assert text in result.stdout
    counts = as_json("data", "show", "response.jsonl", "--label-map", "evident_conflict=grounded", cwd=tmp_path)
    assert counts["answers"] == {"grounded": 3, "not_grounded": 2}
    assert counts["labels"]["evident_conflict"] == "grounded"


def test_show_has_the_choices_and_answers_of_questions(tmp_path: Path) -> None:
    write_lines(tmp_path / "dev.jsonl", [json.loads(line) for line in WINO.splitlines()])
    shown = optimizer("data", "show", "dev.jsonl", cwd=tmp_path).stdout
    for text in ("answers: 1 choice A, 1 choice B", "  question: Ann", "  choices: A) Ann; B) Eve", "  answer: B) Eve"):
        assert text in shown
    assert "None" not in shown
    assert "label" not in shown


def test_show_describes_a_format_by_its_name(tmp_path: Path) -> None:
    shown = optimizer("data", "show", "ragtruth", cwd=tmp_path).stdout
    assert "--option due_to_null=not_grounded|grounded" in shown
    assert "file response.jsonl: https://" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "odd.jsonl"], 1, "is of no known format; its columns are passage, statement"),
        (["show", "odd.jsonl", "--format", "x"], 2, "unknown format 'x'; known are optimizer, composed, vitaminc"),
        (["show", "odd.jsonl", "--option", "x"], 2, "--option 'x' must be NAME=VALUE"),
        (["convert", "odd.jsonl", "--to", "out.csv"], 2, "must end in .jsonl"),
        (["convert", "odd.jsonl", "--to", "odd.jsonl"], 2, "exists already"),
        (["convert", "odd.jsonl", "--to", "new.jsonl"], 1, "is of no known format"),
    ],
)
def test_what_cannot_be_done_is_one_line(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    write_lines(tmp_path / "odd.jsonl", [{"statement": "C", "passage": "E"}])
    result = optimizer("data", *arguments, cwd=tmp_path)
    assert result.returncode == code
    assert message in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["odd.jsonl"]


@pytest.mark.parametrize(
    "what", ["own", "vitaminc", "ragtruth", "halueval_dialogue", "feverous_text", "composed", "fool_me_twice"]
)
def test_what_convert_writes_is_read_as_the_same_items(tmp_path: Path, what: str) -> None:
    path = FILES[what][1](tmp_path)
    result = optimizer("data", "convert", str(path), "--to", "out/items.jsonl", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert load_items(tmp_path / "out" / "items.jsonl") == load_items(path)


def test_convert_leaves_passages_where_they_are_and_takes_them_elsewhere(tmp_path: Path) -> None:
    rows = [{"id": f"i{i}", "claim": f"C{i}", "evidence": f"Evidence {i}.", "label": "grounded"} for i in range(2)]
    write_lines(tmp_path / "items.jsonl", rows)
    passage = {"item": "i1", "kind": "false", "style": "plain", "provenance": "me", "text": "It is not so."}
    write_lines(tmp_path / "passages.jsonl", [passage])
    before = (tmp_path / "passages.jsonl").read_text()
    for to in ("other.jsonl", "out/items.jsonl"):
        result = optimizer("data", "convert", "items.jsonl", "--to", to, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
    assert (tmp_path / "passages.jsonl").read_text() == before
    assert load_passages(tmp_path / "out") == load_passages(tmp_path)


def test_a_run_on_a_published_file_records_its_format_and_label_map(tmp_path: Path, server: Scripted) -> None:
    server.script = judge
    rows = [vitaminc_row(f"c{i}", i, "SUPPORTS" if i % 2 else "NOT ENOUGH INFO", page=f"P{i}") for i in range(6)]
    write_lines(tmp_path / "test.jsonl", rows)
    result = optimizer(
        "evaluate", "--data", "test.jsonl", "--base-url", server.base_url, "--control", "none", "--label-map",
        "not_enough_info=not_grounded", cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    (run,) = (tmp_path / "runs").iterdir()
    data = json.loads((run / "resolved.json").read_text(encoding="utf-8"))["data"]
    assert data["format"] == "vitaminc"
    assert data["labels"] == {"not_enough_info": "not_grounded", "supports": "grounded"}

"""Files are read as they come, and every fault is named with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optimizer.data.item import Label
from optimizer.data.loaders import load_items
from optimizer.errors import UserError

ROW = {"id": "a", "claim": "C", "evidence": ["E"], "label": "supported", "cluster": "k"}


def write(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_labels_are_read_as_the_design_maps_them(tmp_path: Path) -> None:
    names = [
        "supported",
        "SUPPORTS",
        "not_supported",
        "REFUTES",
        "NOT ENOUGH INFO",
        "not_enough_info",
        "grounded",
        "not_grounded",
    ]
    file = write(tmp_path / "d.jsonl", *({**ROW, "id": str(i), "label": name} for i, name in enumerate(names)))
    grounded = [item.label is Label.GROUNDED for item in load_items(file)]
    assert grounded == [True, True, False, False, False, False, True, False]


def test_csv_with_mark_crlf_newlines_and_a_list_in_a_cell(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_bytes('\ufeffid,claim,evidence,label\r\n1,"a, ""b""","one\r\ntwo",yes\r\n2,c,"[""x"", ""y""]",no\r\n'.encode())
    first, second = load_items(file)
    assert (first.id, first.claim, first.evidence, first.label) == ("1", 'a, "b"', ("one\r\ntwo",), Label.GROUNDED)
    assert second.evidence == ("x", "y")


def test_parquet_with_a_column_map(tmp_path: Path) -> None:
    import pandas

    file = tmp_path / "d.parquet"
    pandas.DataFrame({"doc": ["E", "F"], "statement": ["C", "D"], "label": [1, 0]}).to_parquet(file)
    items = load_items(file, {"evidence": "doc", "claim": "statement"})
    assert [(item.claim, item.evidence, item.label) for item in items] == [
        ("C", ("E",), Label.GROUNDED),
        ("D", ("F",), Label.NOT_GROUNDED),
    ]


def test_without_clusters_equal_evidence_is_one_cluster(tmp_path: Path) -> None:
    row = {key: value for key, value in ROW.items() if key != "cluster"}
    file = write(tmp_path / "d.jsonl", row, {**row, "id": "b", "claim": "D"}, {**row, "id": "c", "evidence": ["F"]})
    first, second, third = load_items(file)
    assert first.cluster == second.cluster != third.cluster


def test_a_label_map_extends_the_known_labels(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", {**ROW, "label": "Half True"})
    assert load_items(file, label_map="half true=not_grounded")[0].label is Label.NOT_GROUNDED


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ROW, {**ROW, "claim": "D"}], r"line 2: id 'a' is already used on line 1"),
        ([{**ROW, "label": "banana"}], r"line 1: label 'banana' is unknown; known are"),
        ([{**ROW, "label": None}], r"line 1: column 'label' is empty"),
        ([{**ROW, "label": float("nan")}], r"line 1: column 'label' is empty"),
        ([{**ROW, "claim": "  "}], r"line 1: column 'claim' is empty"),
        ([{**ROW, "evidence": []}], r"line 1: column 'evidence' is empty"),
        ([{**ROW, "evidence": [1]}], r"line 1: column 'evidence' must be text or a list of texts"),
        ([{"id": "a", "evidence": ["E"], "label": "yes"}], r"line 1: has no column 'claim'; it has id, evidence, label"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_items(write(tmp_path / "d.jsonl", *rows))


def test_bad_files_are_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps(ROW) + "\n{oops\n", encoding="utf-8")
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes(json.dumps({**ROW, "claim": "caf\u00e9"}, ensure_ascii=False).encode("cp1252"))
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "d.xlsx").write_text("", encoding="utf-8")
    for name, message in {
        "broken.jsonl": "line 2: not JSON",
        "latin.jsonl": "is not UTF-8",
        "empty.jsonl": "holds no items",
        "d.xlsx": "'.xlsx' are not read",
        "missing.jsonl": "no such data file",
    }.items():
        with pytest.raises(UserError, match=message):
            load_items(tmp_path / name)


def test_unlabelled_claims_are_read_for_judging(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", {"claim": "C", "evidence": "E"})
    item = load_items(file, require_label=False)[0]
    assert item.label is None
    assert item.id.startswith("item-")

"""Records are read from every kind of file with the line of each, and a bad one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.data.formats import sample_of
from optimizer.data.rows import read_rows
from optimizer.errors import UserError


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_an_array_is_read_like_lines(tmp_path: Path) -> None:
    pretty = put(tmp_path / "", "a.json", '\ufeff\n[\n  {"a": "x\u2028y"},\n  {\n    "a": 2\n  }\n]\n')
    assert list(read_rows(pretty)) == [(3, {"a": "x\u2028y"}), (4, {"a": 2})]
    assert list(read_rows(put(tmp_path, "b.json", '{"a": 1}\n\n{"a": 2}\n'))) == [(1, {"a": 1}), (3, {"a": 2})]
    assert list(read_rows(put(tmp_path, "c.json", "[]"))) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1},\n {"a": ]', r"a.json, line 2: not JSON"),
        ('[{"a": 1},\n {"a": 2}', r"a.json, line 2: not JSON"),
        ('[{"a": 1},\n [2]]', r"a.json, line 2: is a JSON list; each entry of the array must be an object"),
        ('{\n "a": 1\n}', r"a.json, line 1: not JSON"),
    ],
)
def test_bad_json_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        list(read_rows(put(tmp_path, "a.json", text)))


@pytest.mark.parametrize(
    ("first", "columns"),
    [
        ("label,input,is_short", {"label", "input", "is_short"}),
        (",claim,evidence 1", {"", "claim", "evidence 1"}),
        ('"What is the capital, then?",Rome,Oslo,A', {"0", "1", "2", "3"}),
        ("Two plus two,4,5,A", {"0", "1", "2", "3"}),
        ("A question so long that nobody would ever call a column by such a name as this,x,y", {"0", "1", "2"}),
    ],
)
def test_a_table_without_a_header_has_numbers_for_columns(tmp_path: Path, first: str, columns: set[str]) -> None:
    assert sample_of(put(tmp_path, "a.csv", f"{first}\nq,1,2\n")).columns == columns


def test_only_the_beginning_of_a_file_is_looked_at(tmp_path: Path) -> None:
    sample = sample_of(put(tmp_path, "a.jsonl", '{"a": 1}\n' * 5 + "{broken\n"))
    assert (len(sample.rows), sample.columns) == (5, {"a"})

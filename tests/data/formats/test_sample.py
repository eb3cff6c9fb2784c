"""The beginning of a file is looked at, whatever kind of file it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.data.formats import sample_of


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


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

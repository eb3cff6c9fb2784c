"""Nasty files: each is read as what it says, or refused with file and line; nothing is guessed and nothing is dropped."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from optimizer.data import rows
from optimizer.data.item import Item, Label
from optimizer.data.loaders import load_items, read_items
from optimizer.data.rows import read_rows
from optimizer.errors import UserError

ROW: dict[str, Any] = {"id": "a", "claim": "C", "evidence": ["E"], "label": "supported", "cluster": "k"}
HEADER = "id,claim,evidence,label,cluster\n"


def line(**changes: Any) -> str:
    return json.dumps({**ROW, **changes}, ensure_ascii=False)


def load(folder: Path, name: str, content: str | bytes, **options: Any) -> list[Item]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_items(path, **options)


READ: dict[str, tuple[str, str | bytes, dict[str, Any]]] = {
    "byte-order mark": ("d.jsonl", "\ufeff" + line(), {"id": "a"}),
    "byte-order mark before a header": ("d.csv", "\ufeff" + HEADER + "a,C,E,yes,k\n", {"id": "a"}),
    "CRLF": ("d.jsonl", line() + "\r\n\r\n", {"claim": "C"}),
    "CR alone": ("d.jsonl", line() + "\r" + line(id="b") + "\r", {"id": "a"}),
    "no line end at the end": ("d.csv", HEADER + "a,C,E,yes,k", {"cluster": "k"}),
    "embedded newlines": ("d.csv", HEADER + 'a,C,"one\n\ntwo",yes,k\n', {"evidence": ("one\n\ntwo",)}),
    "a list in a cell": ("d.csv", HEADER + 'a,C,"[""x, y"", ""z""]",yes,k\n', {"evidence": ("x, y", "z")}),
    "an object in a cell is text": ("d.csv", HEADER + 'a,C,"{""x"": 1}",yes,k\n', {"evidence": ('{"x": 1}',)}),
    "text that begins with a bracket": (
        "d.csv",
        HEADER + 'a,C,"[1] So it is, [2] or not",yes,k\n',
        {"evidence": ("[1] So it is, [2] or not",)},
    ),
    "separators of Unicode are no line ends": (
        "d.jsonl",
        line(claim="one\u2028two\u2029three\u0085four"),
        {"claim": "one\u2028two\u2029three\u0085four"},
    ),
    "separators of Unicode in a cell": ("d.csv", HEADER + "a,one\u2028two,E,yes,k\n", {"claim": "one\u2028two"}),
    "right-to-left text": ("d.jsonl", line(claim="הגשר נפתח ב־1932"), {"claim": "הגשר נפתח ב־1932"}),
    "emoji with joiners": ("d.jsonl", line(claim="👩‍👩‍👧 moved 🇩🇪"), {"claim": "👩‍👩‍👧 moved 🇩🇪"}),
    "escaped emoji": ("d.jsonl", json.dumps({**ROW, "claim": "😀"}), {"claim": "😀"}),
    "control characters are left to the check": ("d.jsonl", line(claim="a\x07b"), {"claim": "a\x07b"}),
    "very long evidence": ("d.jsonl", line(evidence=["long " * 400_000]), {"evidence": ("long " * 400_000,)}),
    "a very long cell": ("d.csv", HEADER + f"a,C,{'long ' * 400_000},yes,k\n", {"evidence": ("long " * 400_000,)}),
    "blank passages among others": ("d.jsonl", line(evidence=["", "E", "  "]), {"evidence": ("E",)}),
    "a large id": ("d.jsonl", line(id=10**40), {"id": str(10**40)}),
    "NaN in an optional field": ("d.jsonl", line(category=float("nan")), {"category": ""}),
    "the word nan in an optional field": ("d.csv", HEADER.strip() + ",category\na,C,E,yes,k,nan\n", {"category": ""}),
    "a word that only contains nan": (
        "d.csv",
        HEADER + "a,Nancy,E,yes,None of them\n",
        {"claim": "Nancy", "cluster": "None of them"},
    ),
    "an array": ("d.json", f"\n [\n{line()},\n{line(id='b')}\n]\n", {"id": "a"}),
    "an array on one line": ("d.jsonl", f"[{line()},{line(id='b')}]", {"id": "a"}),
    "lines called .json": ("d.json", line() + "\n" + line(id="b"), {"id": "a"}),
    "gzipped lines": ("d.jsonl.gz", gzip.compress(line().encode()), {"id": "a"}),
    "gzipped CSV": ("d.csv.gz", gzip.compress((HEADER + "a,C,E,yes,k\n").encode()), {"id": "a"}),
    "a split": ("d.jsonl", line(split="Validation"), {"split": "Validation"}),
}


@pytest.mark.parametrize(("name", "content", "expected"), READ.values(), ids=READ)
def test_it_is_read_as_it_stands(tmp_path: Path, name: str, content: str | bytes, expected: dict[str, Any]) -> None:
    item = load(tmp_path, name, content)[0]
    assert {field: getattr(item, field) for field in expected} == expected


CAFE = '{"id": "a", "claim": "caf\u00e9 \u201cx\u201d", "evidence": ["E"], "label": "yes"}\n'
LATIN = '{"id": "a", "claim": "caf\u00e9", "evidence": ["E"], "label": "yes"}\n'
REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "UTF-16 with a mark": (
        "d.jsonl",
        LATIN.encode("utf-16"),
        r"line 1: byte 0 is not UTF-8 but the byte-order mark of UTF-16 \(little",
    ),
    "UTF-16 big-endian with a mark": ("d.csv", b"\xfe\xff" + HEADER.encode("utf-16-be"), r"byte-order mark of UTF-16 \(big"),
    "UTF-32": ("d.jsonl", LATIN.encode("utf-32"), r"byte-order mark of UTF-32 \(little"),
    "UTF-16 without a mark": (
        "d.jsonl",
        LATIN.encode("utf-16-le"),
        r"line 1: byte 1 is not UTF-8 text; this looks like UTF-16 \(little",
    ),
    "cp1252": (
        "d.jsonl",
        (line() + "\n").encode() + CAFE.encode("cp1252"),
        r"line 2: byte 108 \(0xe9\) is not UTF-8; this looks like cp1252",
    ),
    "latin-1": ("d.jsonl", LATIN.encode("latin-1"), r"line 1: byte 25 \(0xe9\) is not UTF-8; this looks like latin-1"),
    "cp1252 in CSV": (
        "d.csv",
        (HEADER + "a,caf\u00e9 \u2013,E,yes,k\n").encode("cp1252"),
        r"line 2: byte 37 .* looks like cp1252",
    ),
    "another encoding": ("d.jsonl", b'{"claim": "\x81\x8d"}', r"neither cp1252, latin-1 nor UTF-16"),
    "cp1252 in an array": (
        "d.json",
        b"[\n" + line().encode() + b",\n" + CAFE.encode("cp1252") + b"]",
        r"line 3: byte 111 \(0xe9\) is not UTF-8; this looks like cp1252",
    ),
    "an array cut in a character": ("d.json", b'["' + "é".encode()[:1], r"line 1: byte 2 .* the file ends in the middle of"),
    "one damaged byte": (
        "d.jsonl",
        line(claim="naïve \u2013").encode() + b"\xff",
        r"though other characters of the line are: it is damaged",
    ),
    "cut in a character": (
        "d.jsonl",
        line(claim="ok").encode() + "é".encode()[:1],
        r"the file ends in the middle of a character",
    ),
    "gzip without the name": ("d.jsonl", gzip.compress(b"{}"), r"d.jsonl: is a gzip file, not text"),
    "a name without gzip": ("d.jsonl.gz", b"{}\n", r"d.jsonl.gz: is no gzip file"),
    "cut gzip": ("d.jsonl.gz", gzip.compress(line().encode() * 9)[:-9], r"is damaged|is no gzip file"),
    "a spreadsheet": ("d.csv", b"PK\x03\x04 and so on", r"is a zip archive \(or a spreadsheet\), not text"),
    "gzipped Parquet": ("d.parquet.gz", b"", r"are not read"),
    "broken Parquet": ("d.parquet", b"PAR1 no", r"d.parquet: not a Parquet file"),
    "NUL": ("d.jsonl", json.dumps({**ROW, "claim": "a\0b"}), r"line 1: column 'claim' holds a NUL at character 2"),
    "a NUL byte in a cell": (
        "d.csv",
        HEADER + "a,C,E\0,yes,k\n" + "b,C,E,yes,k\n" * 9,
        r"line 2: column 'evidence' holds a NUL at character 2",
    ),
    "half a surrogate pair": (
        "d.jsonl",
        json.dumps({**ROW, "evidence": ["ok", "x\ud83d"]}),
        r"entry 2, holds half of a surrogate pair \(U\+D83D\)",
    ),
    "half a surrogate pair in an id": (
        "d.jsonl",
        json.dumps({**ROW, "id": "\udc00"}),
        r"column 'id' holds half of a surrogate pair",
    ),
    "a key twice": (
        "d.jsonl",
        '{"id": "a", "claim": "C", "claim": "D", "evidence": "E", "label": 1}',
        r"line 1: not JSON \(the key 'claim' stands twice",
    ),
    "a column twice": ("d.csv", "id,claim,claim\n", r"line 1: the column 'claim' stands twice"),
    "a comma too many": (
        "d.jsonl",
        line() + "\n" + '{"id": "a",}',
        r"line 2: not JSON \(a comma too many before } at column 12\)",
    ),
    "a comma too many in an array": ("d.json", f"[\n{line()},\n]", r"line 3: not JSON \(a comma too many before \]\)"),
    "two commas in an array": ("d.json", f"[{line()},,{line()}]", r"a comma too many before {"),
    "no comma in an array": ("d.json", f"[\n{line()}\n{line()}\n]", r"line 3: not JSON \(a comma is missing"),
    "an array that does not end": ("d.json", f"[\n{line()}", r"line 2: the file ends before the array does"),
    "an array that goes on": ("d.json", f"[\n{line()}\n]\n{line()}", r"line 4: something follows the end of the array"),
    "an array of texts": ("d.json", '[\n"a"]', r"line 2: the array holds a JSON str"),
    "a fault within an array": (
        "d.json",
        f"[\n{line()},\n" + '{"id": oops}]',
        r"line 3: not JSON \(Expecting value at column 8\)",
    ),
    "an empty array": ("d.json", "[ ]", r"d.json: holds no items"),
    "a list among lines": ("d.jsonl", line() + "\n[1]", r"line 2: is a JSON list; each line must be an object"),
    "two objects on a line": ("d.jsonl", line() + line(id="b"), r"line 1: not JSON \(something follows the object at column"),
    "a number of 5,000 digits": ("d.jsonl", '{"id": ' + "1" * 5000 + "}", r"line 1: not JSON \(a number has too many digits\)"),
    "a number without end": (
        "d.jsonl",
        '{"id": 1e999, "claim": "C", "evidence": "E", "label": 1}',
        r"column 'id' must be text, but is a float",
    ),
    "deep nesting": ("d.jsonl", '{"id": ' + "[" * 100_000, r"line 1: not JSON \(it is nested too deeply\)"),
    "a raw newline within a text": ("d.jsonl", '{"id": "a\nb"}', r"line 1: not JSON \((Unterminated string|Invalid control)"),
    "an open quote": (
        "d.csv",
        HEADER + "a,C,E,yes,k\n" + 'b,"C,E,yes,k\n',
        r"line 3: not CSV \(a quote that opens in the row of line 3 is never closed",
    ),
    "a quote in the middle": ("d.csv", HEADER + 'a,"C"x,E,yes,k\n', r'line 2: not CSV \(.*write "" for a quote within one'),
    "too many cells": (
        "d.csv",
        HEADER + "a,C,E, and more,yes,k\n",
        r"line 2: has more cells than the header has columns \(6, not 5\)",
    ),
    "too few cells": ("d.csv", HEADER + "\n" + "a,C,E\n", r"line 3: has fewer cells than the header has columns \(3, not 5\)"),
    "semicolons": ("d.csv", "id;claim;evidence;label\n", r"line 1: cells are parted by ';', not by commas"),
    "the word nan in a required cell": (
        "d.csv",
        HEADER + "a,nan,E,yes,k\n",
        r"line 2: column 'claim' holds 'nan', which is how programs write a missing value",
    ),
    "the word NaN as evidence": ("d.csv", HEADER + "a,C,NaN,yes,k\n", r"column 'evidence' holds 'NaN'"),
    "the word None as a label": ("d.csv", HEADER + "a,C,E,None,k\n", r"column 'label' holds 'None'"),
    "the word null in a list": ("d.jsonl", line(evidence=["null"]), r"column 'evidence', entry 1, holds 'null'"),
    "NaN as a claim": ("d.jsonl", line(claim=float("nan")), r"line 1: column 'claim' is empty"),
    "null among passages": ("d.jsonl", line(evidence=["E", None]), r"entry 2 is None"),
    "empty evidence": ("d.csv", HEADER + "a,C,,yes,k\n", r"line 2: column 'evidence' is empty"),
    "a list of nothing": ("d.jsonl", line(evidence=["", " "]), r"column 'evidence' is empty"),
    "only invisible characters": ("d.jsonl", line(claim="\u200b\u00a0\ufeff"), r"column 'claim' is empty"),
    "a list that Python wrote": (
        "d.csv",
        HEADER + "a,C,\"['x', 'y']\",yes,k\n",
        r"line 2: column 'evidence' looks like a list but is no JSON",
    ),
    "an id twice": ("d.csv", HEADER + "a,C,E,yes,k\nb,C,E,yes,k\na,D,E,yes,k\n", r"line 4: id 'a' is already used on line 2"),
    "no ids, and a row twice": (
        "d.csv",
        "claim,evidence,label\nC,E,yes\nC,E,yes\n",
        r"line 3: has no id, and the same claim and evidence as line 2",
    ),
    "an unknown split": (
        "d.jsonl",
        line(split="holdout"),
        r"line 1: split 'holdout' is none of train, dev, validation, valid, test",
    ),
    "no rows": ("d.csv", HEADER, r"d.csv: holds no items"),
}


@pytest.mark.parametrize(("name", "content", "message"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_with_its_place(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        load(tmp_path, name, content)
    assert str(tmp_path / name) in str(caught.value)


def test_a_missing_number_of_parquet_is_no_text(tmp_path: Path) -> None:
    import pandas

    table = pandas.DataFrame({"claim": ["C", "D"], "evidence": ["E", "F"], "label": [1, 0], "category": [1.5, None]})
    table.to_parquet(tmp_path / "d.parquet")
    assert [item.category for item in load_items(tmp_path / "d.parquet")] == ["1.5", ""]
    table["claim"] = ["C", None]
    table.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(UserError, match=r"line 2: column 'claim' is empty"):
        load_items(tmp_path / "d.parquet")


def test_bytes_in_parquet_are_refused(tmp_path: Path) -> None:
    import pandas

    pandas.DataFrame({"claim": [b"C"], "evidence": ["E"], "label": [1]}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(UserError, match="column 'claim' must be text, but is a bytes"):
        load_items(tmp_path / "d.parquet")


def test_a_label_map_may_give_the_word_none_a_meaning(tmp_path: Path) -> None:
    [item] = load(tmp_path, "d.jsonl", line(label="None"), label_map="none=not_grounded")
    assert item.label is Label.NOT_GROUNDED


def test_a_column_with_an_empty_name_is_unread(tmp_path: Path) -> None:
    [item] = load(tmp_path, "d.jsonl", line(split="holdout"), columns={"split": ""})
    assert item.split == ""


def test_a_folder_of_splits_is_read_whole_and_ids_differ_between_its_files(tmp_path: Path) -> None:
    for number, split in enumerate(("train", "dev", "test")):
        (tmp_path / f"{split}.jsonl").write_text(line(id=str(number), split=split))
    assert [(item.id, item.split) for item in load_items(tmp_path)] == [("0", "train"), ("1", "dev"), ("2", "test")]
    (tmp_path / "test.jsonl").write_text(line(id="1"))
    with pytest.raises(UserError, match=r"test.jsonl, line 1: id '1' is already used on line 1 of .*dev.jsonl"):
        load_items(tmp_path)


def test_items_come_before_a_later_fault_is_met(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(line() + "\n{oops\n")
    stream = read_items(path)
    assert next(stream).id == "a"
    with pytest.raises(UserError, match="line 2"):
        next(stream)


@pytest.mark.parametrize(
    "layout", [json.dumps, lambda rows: json.dumps(rows, indent=2), lambda rows: json.dumps(rows, separators=(",", ":"))]
)
def test_an_array_read_in_pieces_is_the_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: Callable[[Any], str]
) -> None:
    entries = [{"id": f'{i}\n\\"]}},{{[', "n": i * 10**i, "t": "é😀" * i, "deep": [[{"x": None}], True]} for i in range(30)]
    text = layout(entries)
    path = tmp_path / "d.json"
    path.write_text(text, encoding="utf-8")
    for chunk in (1, 2, 7, 64, 10_000):
        monkeypatch.setattr(rows, "_CHUNK", chunk)
        found = list(read_rows(path))
        assert [row for _, row in found] == entries
        starts = [number for number, _ in found]
        lines = text.split("\n")
        assert all(lines[number - 1].lstrip().lstrip("[,").startswith("{") for number in starts)


@pytest.mark.parametrize("chunk", [1, 5, 1000])
def test_a_fault_in_an_array_read_in_pieces_has_its_line_and_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(rows, "_CHUNK", chunk)
    path = tmp_path / "d.json"
    path.write_text('[{"a": 1},\n{"a": 2}, {"a": 3},\n{"a": 4}, {"a": x}, {"a": 5}]')
    with pytest.raises(UserError, match=r"line 3: not JSON \(Expecting value at column 17\)"):
        list(read_rows(path))

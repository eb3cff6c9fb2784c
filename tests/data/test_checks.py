"""Each check finds its fault and nothing else; passages and the scaffold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.data.checks import CHECKS, check_items, words_changed
from optimizer.data.item import Item, Label
from optimizer.data.loaders import load_items
from optimizer.data.passages import check_passages, load_filler, load_passages, passages_about
from optimizer.data.scaffold import scaffold
from optimizer.errors import UserError

EVIDENCE = " ".join(["The mill at Orne was built in 1802 and burnt down twice before it was sold to the town."] * 3)


def good() -> list[Item]:
    """Four clusters of two items without a fault."""
    items = []
    for cluster, place in (("one", "Orne"), ("two", "Ulm"), ("three", "Celle"), ("four", "Brig")):
        for label, year in ((Label.GROUNDED, "1802"), (Label.NOT_GROUNDED, "1902")):
            items.append(
                Item(
                    f"{cluster}-{year}", f"The mill at {place} was built in {year}.", (EVIDENCE.replace("Orne", place),), label,
                    cluster, category="date", domain="history", rationale="The passage says 1802.",
                )
            )  # fmt: skip
    return items


def test_a_good_data_set_has_no_finding() -> None:
    assert check_items(good()) == []


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("clusters", {"cluster": "five"}),
        ("clusters", {"evidence": (EVIDENCE + " Really.",)}),
        ("contrast", {"claim": "Nobody in the whole town ever knew who had paid for any of it."}),
        ("unique", {"claim": "The mill at Ulm was built in 1902."}),
        ("lengths", {"claim": "Built late."}),
        ("lengths", {"evidence": ("Too short.",)}),
        ("tags", {"category": "mood"}),
        ("tags", {"domain": ""}),
        ("rationales", {"rationale": " "}),
        ("rationales", {"rationale": "word " * 60}),
    ],
)
def test_a_fault_is_found_and_named(check: str, changes: dict[str, object]) -> None:
    items = good()
    items[1] = replace(items[1], **changes)  # type: ignore[arg-type]
    found = list(CHECKS[check](items))
    assert found
    assert all(finding.check == check and finding.problem for finding in found)


def test_too_many_of_one_label_is_found() -> None:
    found = [
        finding for finding in check_items([replace(item, label=Label.GROUNDED) for item in good()]) if finding.check == "balance"
    ]
    assert [finding.where for finding in found] == ["all items", "category date"]
    assert "100% of 8 are grounded" in found[0].problem


def test_words_changed_counts_replacements_once() -> None:
    assert words_changed("built in 1802", "built in 1902") == 1
    assert words_changed("all of the cables", "none of the old cables") == 2
    assert words_changed("same words", "same  words") == 0


FLAGS = ("contradicts_gold", "supports_wrong", "names_wrong")


def write_passage(folder: Path, **changes: Any) -> None:
    row = {"item": "one-1802", "kind": "false", "style": "plain", "provenance": "me", "text": "word " * 20, **changes}
    with (folder / "passages.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def test_passages_are_read_and_what_is_missing_is_said(tmp_path: Path) -> None:
    write_passage(tmp_path)
    write_passage(tmp_path, style="rumor", text="other " * 20)
    passages = load_passages(tmp_path)
    assert [passage.style for passage in passages] == ["plain", "rumor"]
    problems = [finding.problem for finding in check_passages(good()[:1], passages)]
    assert problems == ["has no plain true passage"]
    assert load_filler(tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "odd"}, "line 2: is no passage"),
        ({"text": " "}, "line 2: is no passage.*'text'"),
        ({}, "line 2: item 'one-1802' has"),
        ({"answer": 7}, "line 2: is no passage .answer 7 is no text"),
        ({"flags": {"judge": {"contradicts_gold": True}}}, "line 2: is no passage .flags must hold contradicts_gold, "),
        ({"flags": {"judge": dict.fromkeys(FLAGS, "yes")}}, "line 2: .* must be true or false"),
    ],
)
def test_a_bad_passage_is_an_error_with_its_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write_passage(tmp_path)
    write_passage(tmp_path, **changes)
    with pytest.raises(UserError, match=message):
        load_passages(tmp_path)


def test_judges_and_the_suggested_answer_stand_beside_a_passage(tmp_path: Path) -> None:
    write_passage(tmp_path, flags={"a": dict.fromkeys(FLAGS, True), "b": dict.fromkeys(FLAGS, False)}, answer="Bern")
    (found,) = load_passages(tmp_path / "passages.jsonl")
    assert (found.flags["a"].names_wrong, found.flags["b"].names_wrong, found.answer) == (True, False, "Bern")
    with pytest.raises(UserError, match="no such file of passages"):
        load_passages(tmp_path / "none.jsonl")


def test_passages_in_another_encoding_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "passages.jsonl").write_bytes(b"\xff\xfe{}")
    with pytest.raises(UserError, match="not UTF-8"):
        load_passages(tmp_path)


def test_a_scaffold_is_a_data_set_that_passes_the_checks(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    paths = scaffold(folder)
    items = load_items(folder)
    assert len({item.cluster for item in items}) >= 5
    assert [finding for finding in check_items(items) if finding.check != "balance"] == []
    assert list(check_passages(items, load_passages(folder))) == []
    assert load_filler(folder)
    assert all(path.exists() for path in paths)


def test_a_scaffold_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "about.md").write_text("mine")
    with pytest.raises(UserError, match="exists already"):
        scaffold(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["about.md"]
    assert (tmp_path / "about.md").read_text() == "mine"


def test_passages_beside_a_file_are_those_about_its_items(tmp_path: Path) -> None:
    write_passage(tmp_path)
    write_passage(tmp_path, item="another")
    file = tmp_path / "items.jsonl"
    file.touch()
    (own,) = passages_about(file, {load_passages(tmp_path)[0].item})
    assert own == load_passages(tmp_path)[0]
    assert passages_about(tmp_path, {own.item}) == load_passages(tmp_path)  # a folder is one data set: a stranger is a finding

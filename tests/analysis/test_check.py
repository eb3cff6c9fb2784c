"""The check of a data file: planted faults are found, with their severity; large files are judged alike, without their items."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.analysis import check
from optimizer.analysis.check import Checked, check_file
from optimizer.config import load_settings
from optimizer.data.checks import Finding, Severity
from optimizer.data.item import Item, Label
from optimizer.data.split_files import item_record

PLACES = [
    f"{first}{last}" for first in ("North", "South", "East", "West", "Old", "New") for last in ("ham", "ford", "by", "ley", "ton")
]


def base() -> list[Item]:
    """Thirty clusters of two, without a fault that concerns more than one item."""
    return [
        Item(
            f"{place}-{label}", f"In {place} number {number} of the {place} list was {word} for {number * 37} years.",
            (f"The {place} list has an entry {number}, which tells of {number * 37} years.",), label, place,
            category="number", domain="history", rationale="It says so.",
        )
        for number, place in enumerate(PLACES)
        for label, word in ((Label.GROUNDED, "kept"), (Label.NOT_GROUNDED, "never kept"))
    ]  # fmt: skip


def checked(folder: Path, items: list[Item], **settings: Any) -> Checked:
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(item_record(item)) + "\n" for item in items), encoding="utf-8")
    return check_file(load_settings({"data": str(path), **settings}))


def found(result: Checked, name: str) -> list[Finding]:
    return [finding for finding in result.findings if finding.check == name]


@pytest.fixture(params=[5_000, 10], ids=["small", "large"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Up to how many items a data set is small: both ways must find the same."""
    monkeypatch.setattr(check, "SMALL", request.param)
    return int(request.param)


def test_a_data_set_without_fault_has_no_error_and_is_counted(tmp_path: Path, size: int) -> None:
    result = checked(tmp_path, base())
    assert result.errors == 0
    assert not [finding for name in ("leak", "contradiction", "repeat", "context") for finding in found(result, name)]
    assert (result.items, result.answers) == (60, {"grounded": 30, "not_grounded": 30})
    assert (result.clusters.number, result.clusters.mean, result.clusters.largest, result.clusters.single) == (30, 2.0, 2, 0)
    assert sum(sum(counts.values()) for counts in result.splits.values()) == 60
    assert result.small is (size > 60)
    assert (result.words is not None) is result.small


def test_labels_that_contradict_each_other_are_an_error(tmp_path: Path, size: int) -> None:
    items = base()
    items.append(replace(items[0], id="again", label=Label.NOT_GROUNDED, claim=items[0].claim.replace(" ", "  ", 1)))
    [finding] = found(checked(tmp_path, items), "contradiction")
    assert finding.severity is Severity.ERROR
    assert finding.where == "2 items"
    assert f"{items[0].id!r} and 'again'" in finding.problem


def test_a_sign_makes_another_claim_and_a_repeat_is_a_warning(tmp_path: Path, size: int) -> None:
    items = base()
    items.append(replace(items[0], id="sign", label=Label.NOT_GROUNDED, claim=items[0].claim.replace("for ", "for -")))
    items.append(replace(items[2], id="repeat"))
    result = checked(tmp_path, items)
    assert found(result, "contradiction") == []
    [finding] = found(result, "repeat")
    assert (finding.severity, finding.where) == (Severity.WARNING, "1 item")
    assert "'repeat'" in finding.problem


def divided() -> list[Item]:
    return [replace(item, split=("train", "dev", "test")[number // 2 % 3]) for number, item in enumerate(base())]


@pytest.mark.parametrize(
    ("change", "severity", "number", "problem"),
    [
        ({}, Severity.ERROR, 2, "the same claim with the same evidence is in two splits"),
        ({"evidence": ("Other evidence.",)}, Severity.WARNING, 2, "the same claim, but for case and punctuation"),
        ({"claim": "Quite another claim."}, Severity.WARNING, 3, "the same evidence is in two splits, under two clusters"),
    ],
)
def test_what_is_in_two_splits_is_found(
    tmp_path: Path, size: int, change: dict[str, Any], severity: Severity, number: int, problem: str
) -> None:
    items = divided()
    items.append(replace(items[0], id="copy", cluster="another", split="test", **change))
    [finding] = [finding for finding in found(checked(tmp_path, items), "leak") if problem in finding.problem]
    assert (finding.severity, finding.where) == (severity, f"{number} items")
    assert f"{items[0].id!r} (train) and 'copy' (test)" in finding.problem


def test_a_claim_that_is_nearly_the_same_is_found_in_another_split_and_not_in_its_own(tmp_path: Path, size: int) -> None:
    long = "The council of the town decided in the spring to pave the road by the river with the stones of the old mill"
    items = divided()
    items.append(replace(items[0], id="one", claim=f"{long}.", evidence=("A.",), cluster="x", split="train"))
    items.append(replace(items[0], id="two", claim=f"{long} again.", evidence=("B.",), cluster="y", split="test"))
    [finding] = found(checked(tmp_path, items), "leak")
    assert finding.severity is Severity.WARNING
    assert "'one' (train) and 'two' (test)" in finding.problem
    items[-1] = replace(items[-1], split="train")
    assert found(checked(tmp_path, items), "leak") == []


def test_a_cluster_in_two_splits_is_an_error_with_its_name(tmp_path: Path, size: int) -> None:
    items = divided()
    items[1] = replace(items[1], split="test")
    [finding] = [finding for finding in found(checked(tmp_path, items), "splits") if "a cluster" in finding.problem]
    assert finding.severity is Severity.ERROR
    assert items[0].cluster in finding.problem
    assert items[0].id in finding.problem
    assert items[1].id in finding.problem


def test_a_split_of_another_name_is_an_error(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [*base()[2:], *(replace(item, split="test_unseen") for item in base()[:2])]
    monkeypatch.setattr(
        check, "stream_data", lambda *arguments: (iter(items), "published")
    )  # a published format may name its splits as it likes
    result = check_file(load_settings({}))
    assert [finding.where for finding in found(result, "splits") if finding.severity is Severity.ERROR] == ["test_unseen"]


def test_splits_that_no_run_could_use_are_errors(tmp_path: Path, size: int) -> None:
    few = checked(tmp_path, base()[:2])
    assert {finding.where for finding in found(few, "splits")} == {"train", "dev"}
    one_label = checked(tmp_path, [replace(item, label=Label.GROUNDED) for item in base()])
    assert [finding.where for finding in found(one_label, "splits")] == ["dev", "test"]
    shares = checked(tmp_path, base(), **{"splits.train": 0.5, "splits.dev": 0.5})
    assert "leave nothing for test" in found(shares, "splits")[0].problem


@pytest.mark.parametrize(("policy", "severity"), [("error", Severity.ERROR), ("select", Severity.WARNING)])
def test_evidence_longer_than_the_context_is_found(tmp_path: Path, size: int, policy: str, severity: Severity) -> None:
    items = base()
    items[3] = replace(items[3], evidence=("word " * 2_000,))
    settings = {"context": 2_048, "protocol.long_evidence": policy}
    [finding] = found(checked(tmp_path, items, **settings), "context")
    assert (finding.severity, finding.where) == (severity, "1 item")
    assert repr(items[3].id) in finding.problem
    assert found(checked(tmp_path, items, context=8_192), "context") == []


def test_odd_characters_missing_clusters_and_a_large_cluster_are_warnings(tmp_path: Path, size: int) -> None:
    items = base()
    items[0] = replace(items[0], claim=items[0].claim + "\u202e")
    items[5] = replace(items[5], cluster="")
    items[6:20] = [replace(item, cluster="big") for item in items[6:20]]
    result = checked(tmp_path, items)
    [characters] = found(result, "characters")
    assert "overrides" in characters.problem
    assert items[0].id in characters.problem
    clusters = [
        finding for finding in found(result, "clusters") if "no cluster" in finding.problem or "of all" in finding.problem
    ]
    assert [finding.where for finding in clusters] == ["1 item", "big"]
    assert all(finding.severity is Severity.WARNING for finding in (characters, *clusters))


def test_what_is_not_described_is_counted_in_a_large_file_and_named_in_a_small_one(tmp_path: Path, size: int) -> None:
    items = base()
    items[7:9] = [replace(item, rationale="", domain="") for item in items[7:9]]
    result = checked(tmp_path, items)
    where = [finding.where for finding in found(result, "rationales")]
    assert where == ([items[7].id, items[8].id] if result.small else ["2 items"])


def test_errors_come_first(tmp_path: Path) -> None:
    items = base()
    items.append(replace(items[0], id="again", label=Label.NOT_GROUNDED, rationale=""))
    severities = [finding.severity for finding in checked(tmp_path, items).findings]
    assert severities == sorted(severities, key=[Severity.ERROR, Severity.WARNING].index)
    assert len(set(severities)) == 2

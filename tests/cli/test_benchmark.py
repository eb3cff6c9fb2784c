"""`optimizer benchmark` over three small files that a scripted server answers; what the script does must come out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.data.item import Item
from tests.cli.test_cli import optimizer
from tests.conftest import Scripted, answer, make_items, write_items

SUITE = '[[benchmarks]]\ndata = "gain.jsonl"\n[[benchmarks]]\ndata = "loss.jsonl"\n[[benchmarks]]\ndata = "same.jsonl"\n'
VOICES = ("You are the Skeptic", "You are the Advocate", "Domain Expert")


def items(name: str, count: int = 40) -> list[Item]:
    """Items that the script knows the file of; ids and clusters are the same in all files."""
    return [replace(each, claim=f"{name}: {each.claim}", cluster=each.id) for each in make_items(count)]


def script(body: dict[str, Any]) -> Any:
    """On `gain` the panel alone is right, on `loss` the single judge alone; on `same` both are, and self-consistency nowhere."""
    text = body["messages"][-1]["content"]
    if "Claim:" not in text:
        return answer("yes")
    claim = text.split("Claim:")[1].split('"""')[1].strip()
    panel = any(voice in text for voice in VOICES)
    right = claim.startswith("same") or claim.startswith("gain") == panel
    if body["temperature"] > 0:
        right = False
    return answer("yes" if ("true" in claim) == right else "no")


@pytest.fixture
def folder(tmp_path: Path, server: Scripted) -> Path:
    server.script = script
    for name in ("gain", "loss", "same"):
        write_items(tmp_path / f"{name}.jsonl", items(name))
    (tmp_path / "mine.toml").write_text(SUITE, encoding="utf-8")
    return tmp_path


def benchmark(folder: Path, server: Scripted, *arguments: str) -> Any:
    return optimizer("benchmark", "--base-url", server.base_url, *arguments, cwd=folder)


def test_gain_loss_and_neither_are_read_and_the_same_command_asks_nothing_again(folder: Path, server: Scripted) -> None:
    done = benchmark(folder, server, "--suite", "mine.toml", "--markdown", "suite.md", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (comparison,) = found["comparisons"]
    rows = {row["name"]: row for row in comparison["rows"]}
    assert {name: (row["reading"], row["corrected"]) for name, row in rows.items()} == {
        "gain": ("reliable gain", "reliable gain"),
        "loss": ("reliable loss", "reliable loss"),
        "same": ("inconclusive", "inconclusive"),
    }
    assert [row["difference"]["clusters"] for row in rows.values()] == [40, 40, 40]
    assert comparison["pooled"]["difference"]["clusters"] == 120  # clusters of one name in several files are not one
    assert comparison["pooled"]["difference"]["difference"] == comparison["mean"]["difference"]["value"] == 0
    page = (folder / "suite.md").read_text(encoding="utf-8")
    assert page.startswith("## Suite mine")
    assert "| gain | 40 | 40 | 100.0 (91–100) | 0.0 (0–9) | +100.0 (+100.0 to +100.0) |" in page
    asked, folders = len(server.requests), sorted((folder / "runs").iterdir())
    assert len(folders) == 3
    again = benchmark(folder, server, "--suite", "mine.toml")
    assert again.returncode == 0, again.stderr
    assert "reliable loss" in again.stdout
    assert "by Holm over the 3 data sets" in again.stdout
    assert "(rough)" not in again.stdout
    assert not any("Claim:" in str(body) for body in server.requests[asked:])
    assert sorted((folder / "runs").iterdir()) == folders


def test_a_suite_that_broke_off_goes_on_where_it_stopped(folder: Path, server: Scripted) -> None:
    """The second data set has no server any more: the first is kept, and only what is owed is asked when it is back."""

    def dies(body: dict[str, Any]) -> Any:
        if "loss: " in str(body["messages"]):
            server.die_soon()
        return script(body)

    server.script = dies
    broken = benchmark(folder, server, "--suite", "mine.toml", "--set", "timeout=5")
    assert broken.returncode == 1
    assert "2 of 3 data sets failed (loss, same)" in broken.stderr
    assert "reliable gain" in broken.stdout
    server.script = script
    server.start()
    server.requests.clear()
    done = benchmark(folder, server, "--suite", "mine.toml", "--set", "timeout=5", "--json")
    assert done.returncode == 0, done.stderr
    assert [row["reading"] for row in json.loads(done.stdout)["comparisons"][0]["rows"]] == [
        "reliable gain", "reliable loss", "inconclusive",
    ]  # fmt: skip
    assert not any("gain: " in str(body) for body in server.requests)
    assert len(list((folder / "runs").iterdir())) == 3


def test_what_is_not_there_is_an_error_before_any_call_or_is_left_out_visibly(folder: Path, server: Scripted) -> None:
    (folder / "loss.jsonl").unlink()
    (folder / "mine.toml").write_text(SUITE + '[[benchmarks]]\ndata = "wice"\n', encoding="utf-8")
    refused = benchmark(folder, server, "--suite", "mine.toml")
    assert refused.returncode == 1
    assert "loss, wice cannot be measured: loss.jsonl: no such file; run optimizer data fetch wice" in refused.stderr
    assert not server.requests
    assert not (folder / "runs").exists()
    done = benchmark(folder, server, "--suite", "mine.toml", "--skip-missing", "--limit", "20")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("left out") >= 4  # a row and a line each
    assert "wice: left out: wice is not fetched" in done.stdout
    assert "reliable gain (rough)" in done.stdout
    assert "Rough, with under 30 clusters: gain (20), same (20)" in done.stdout
    assert "by Holm over the 2 data sets" in done.stdout


def test_what_fails_on_one_data_set_is_told_at_the_end_and_loses_no_other(folder: Path, server: Scripted) -> None:
    (folder / "loss.jsonl").write_text('{"claim": "c", "evidence": "e", "label": "banana"}\n', encoding="utf-8")
    done = benchmark(folder, server, "--data", "gain.jsonl", "--data", "loss.jsonl", "--data", "same.jsonl", "--json")
    assert done.returncode == 1
    assert "1 of 3 data sets failed (loss), first: loss.jsonl, line 1: label 'banana' is unknown" in done.stderr
    found = json.loads(done.stdout)
    assert [row["name"] for row in found["comparisons"][0]["rows"]] == ["gain", "same"]
    assert list(found["failed"]) == ["loss"]


def test_both_references_have_a_table_each(folder: Path, server: Scripted) -> None:
    done = benchmark(folder, server, "--data", "same.jsonl", "--reference", "single,self-consistency", "--json")
    assert done.returncode == 0, done.stderr
    single, samples = json.loads(done.stdout)["comparisons"]
    assert (single["reference"], single["rows"][0]["reading"]) == ("single", "inconclusive")
    assert (samples["reference"], samples["rows"][0]["reading"]) == ("self-consistency", "reliable gain")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "give either --suite (a TOML file, or groundedness, questions) or --data"),
        (["--suite", "mine.toml", "--data", "gain.jsonl"], 2, "give either --suite"),
        (["--suite", "all"], 2, "unknown suite 'all'"),
        (["--suite", "mine.toml", "--format", "wice"], 2, "are for --data"),
        (["--data", "gain.jsonl", "--reference", "claim-only"], 2, "valid are single and self-consistency"),
        (["--data", "gain.jsonl", "--data", "same.jsonl", "--set", "policy=none.toml"], 1, "none.toml"),
    ],
)
def test_a_fault_is_one_line_that_says_what_to_do(
    folder: Path, server: Scripted, arguments: list[str], code: int, message: str
) -> None:
    result = benchmark(folder, server, *arguments)
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr

"""`optimizer policy` as a person uses it: from a recorded run to a file that decides."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_policy_runs import TEXTS, mixed
from tests.cli.test_cli import as_json, optimizer
from tests.conftest import Scripted, make_items, write_items
from tests.search.test_job import judge


@pytest.fixture
def evaluated(tmp_path: Path, server: Scripted) -> Path:
    """A folder with an evaluation in which the Expert alone is always right."""
    write_items(tmp_path / "items.jsonl", make_items(80))
    (tmp_path / "prompts").mkdir()
    for name, text in {**TEXTS, "expert": "Check every word."}.items():
        (tmp_path / "prompts" / f"{name}.md").write_text(text, encoding="utf-8")

    def script(body: dict[str, Any]) -> dict[str, Any]:
        text = body["messages"][-1]["content"]
        if "Check every word." in text:
            body["messages"][-1]["content"] = f"Look very closely. {text}"
            return judge(body)
        return mixed(body)

    server.script = script
    arguments = ["--data", "items.jsonl", "--prompts", "prompts", "--control", "none", "--base-url", server.base_url]
    result = optimizer("evaluate", *arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    return tmp_path


def test_a_policy_is_tuned_written_and_decides_the_next_evaluation(evaluated: Path, server: Scripted) -> None:
    result = optimizer("policy", "--trials", "120", "--out", "policy.toml", cwd=evaluated)
    assert result.returncode == 0, result.stderr
    for part in ("A tuned policy is reliably better", "Naive gain", "optimistic", "AURC", "Selective accuracy", "policy.toml"):
        assert part in result.stdout
    file = tomllib.loads((evaluated / "policy.toml").read_text())
    assert file["v"] == 1
    assert file["origin"]["verdict"].startswith("A tuned policy is reliably better")
    assert "is there already" in optimizer("policy", "--out", "policy.toml", cwd=evaluated).stderr
    arguments = ["--data", "items.jsonl", "--prompts", "prompts", "--control", "none", "--base-url", server.base_url]
    asked = len(server.requests)
    again = optimizer("evaluate", *arguments, "--set", "policy=policy.toml", "--json", cwd=evaluated)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["arms"][0]["accuracy"]["right"] == 80
    assert not any("Claim:" in str(body) for body in server.requests[asked:])


def test_programs_and_pages_get_the_same(evaluated: Path) -> None:
    found = as_json("policy", "--trials", "60", "--seed", "1", cwd=evaluated)
    assert found["verdict"] == "better"
    assert found["items"] == 80
    assert found["honest"]["low"] > 0
    assert found["naive"] == pytest.approx(found["honest"]["gain"])  # there is one answer, and every fold finds it
    page = optimizer("policy", "--trials", "60", "--seed", "1", "--markdown", cwd=evaluated).stdout
    assert page.startswith("## 2")
    assert found["statements"][1] in page
    assert "```toml" in page
    costs = ["--objective", "cost", "--costs", "wrong_not_grounded=5,abstained_grounded=0.3"]
    assert as_json("policy", "--trials", "60", *costs, cwd=evaluated)["objective"]["costs"]["wrong_not_grounded"] == 5


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--objective", "luck"], 2, "unknown objective 'luck'; valid are accuracy, balanced, cost"),
        (["--costs", "wrong_grounded=2"], 2, "--costs is for --objective cost"),
        (["--objective", "cost", "--costs", "missed=2"], 2, "unknown cost 'missed'; valid are wrong_grounded"),
        (["--objective", "cost", "--costs", "wrong_grounded"], 2, "'wrong_grounded' is not NAME=NUMBER"),
        (["--split", "exam"], 2, "unknown split 'exam'"),
        (["--candidate", "winner"], 2, "has no candidate 'winner'"),
        (["nothing"], 1, "no finished run 'nothing'"),
    ],
)
def test_a_fault_is_one_line_that_says_what_to_do(evaluated: Path, arguments: list[str], code: int, message: str) -> None:
    result = optimizer("policy", *arguments, cwd=evaluated)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_look_at_the_sealed_test_is_written_down_and_nothing_better_is_not_exported(tmp_path: Path, server: Scripted) -> None:
    """Every prompt is the good one, so every vote is right: the rule cannot be beaten."""
    write_items(tmp_path / "items.jsonl", make_items(80))
    (tmp_path / "prompts").mkdir()
    for name in TEXTS:
        (tmp_path / "prompts" / f"{name}.md").write_text(f"Look very closely. You are {name}.", encoding="utf-8")
    server.script = judge
    flags = ["--base-url", server.base_url, "--data", "items.jsonl", "--prompts", "prompts", "--persona", "skeptic"]
    searched = optimizer("optimize", *flags, "--budget", "1500", "--test", "0", "--set", "search.reflections=0", cwd=tmp_path)
    assert searched.returncode == 0, searched.stderr
    dev = optimizer("policy", "--trials", "40", "--candidate", "seed", cwd=tmp_path)
    assert dev.returncode == 0, dev.stderr
    assert "No policy is reliably better than the recorded rule." in dev.stdout
    assert as_json("seal", cwd=tmp_path) == {}
    test = optimizer("policy", "--trials", "40", "--split", "test", "--out", "p.toml", cwd=tmp_path)
    assert test.returncode == 1
    assert "no policy that was tried is worth more than the recorded rule" in test.stderr
    assert not (tmp_path / "p.toml").exists()
    [(entry,)] = as_json("seal", cwd=tmp_path).values()
    assert entry["challenger"] == "policy:recorded"

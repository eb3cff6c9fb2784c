"""The command as a person uses it: one-line errors with what to do, exit codes, and nothing half-written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Scripted, make_items, write_items
from tests.search.test_job import judge


def optimizer(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_CACHE_HOME": str(cwd / "cache"), **environment}
    return subprocess.run(
        [sys.executable, "-m", "optimizer", *arguments], capture_output=True, text=True, cwd=cwd, env=env, timeout=120
    )


def bad_file(tmp_path: Path, name: str, content: bytes) -> str:
    (tmp_path / name).write_bytes(content)
    return name


ROW = {"id": "a", "claim": "c", "evidence": "e", "label": "yes"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["optimize", "--data", "none.jsonl"], 1, "none.jsonl: no such data file"),
        (["optimize", "--data", "bad.jsonl"], 1, "bad.jsonl, line 1: label 'banana' is unknown"),
        (["optimize", "--data", "twice.jsonl"], 1, "twice.jsonl, line 2: id 'a' is already used on line 1"),
        (["optimize", "--data", "two.jsonl"], 1, "the train split is empty"),
        (["optimize", "--prompts", "latin"], 1, "skeptic.md: byte 3 is not UTF-8"),
        (["optimize", "--persona", "sceptic"], 2, "valid are skeptic, advocate, expert, source_skepticism and all"),
        (["optimize", "--model", "gpt-17"], 2, "embedded models are qwen2_5-coder-1_5b"),
        (["optimize", "--base-url", "http://127.0.0.1:9/v1"], 1, "no answer (ClientConnectorError); start the server"),
        (["optimize", "--set", "protocol.round=3"], 2, "unknown setting 'protocol.round'"),
        (["optimize", "--set", "protocol.rounds=9"], 2, "setting 'protocol.rounds'"),
        (["optimize", "--budget", "10"], 1, "a budget of 10 calls is too small"),
        (["evaluate", "--control", "psychic"], 2, "valid are single, self-consistency and none"),
        (["compare", "nothing"], 1, "no finished run 'nothing'"),
        (["parse", "bad.jsonl"], 1, "bad.jsonl, line 1: must be a JSON object with text and finish_reason"),
        (["optimise"], 2, "No such command 'optimise'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_fault_is_one_line_that_says_what_to_do(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    bad_file(tmp_path, "bad.jsonl", json.dumps({**ROW, "label": "banana"}).encode())
    bad_file(tmp_path, "twice.jsonl", (json.dumps(ROW) + "\n" + json.dumps(ROW)).encode())
    bad_file(tmp_path, "two.jsonl", (json.dumps(ROW) + "\n" + json.dumps({**ROW, "id": "b", "label": "no"})).encode())
    (tmp_path / "latin").mkdir()
    bad_file(tmp_path, "latin/skeptic.md", b"caf\xe9")
    result = optimizer(*arguments, cwd=tmp_path)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "runs").exists()


def test_settings_come_from_flag_then_environment_then_file(tmp_path: Path) -> None:
    (tmp_path / "optimizer.toml").write_text("persona = 'file'\nbudget = 5\n", encoding="utf-8")
    assert "optimizer.toml: unknown setting 'budget'" in optimizer("optimize", cwd=tmp_path).stderr
    (tmp_path / "optimizer.toml").write_text("persona = 'file'\n", encoding="utf-8")
    assert "unknown persona 'file'" in optimizer("optimize", cwd=tmp_path).stderr
    assert "unknown persona 'env'" in optimizer("optimize", cwd=tmp_path, OPTIMIZER_PERSONA="env").stderr
    assert "unknown persona 'flag'" in optimizer("optimize", "--persona", "flag", cwd=tmp_path, OPTIMIZER_PERSONA="env").stderr
    assert (
        "environment variable OPTIMIZER_PERSNA: unknown setting"
        in optimizer("optimize", cwd=tmp_path, OPTIMIZER_PERSNA="x").stderr
    )


def test_parse_prints_verdict_confidence_and_outcome_in_order(tmp_path: Path) -> None:
    lines = [{"text": '{"verdict": "no", "confidence": 0.5}', "finish_reason": "stop"}, {"text": "", "finish_reason": "length"}]
    (tmp_path / "o.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = json.loads(optimizer("parse", "o.jsonl", "--json", cwd=tmp_path).stdout)
    assert found[0] == {"verdict": "not_grounded", "confidence": 50, "outcome": "ok", "detail": ""}
    assert (found[1]["verdict"], found[1]["outcome"]) == (None, "truncated")


def test_a_plan_is_printed_and_a_dry_run_leaves_nothing(tmp_path: Path) -> None:
    result = optimizer("optimize", "--dry-run", cwd=tmp_path)
    assert result.returncode == 0
    for part in ("Budget", "proposals at the least", "Answered already in the cache: 0", "80 % power", "clusters in dev"):
        assert part in result.stdout
    assert not (tmp_path / "runs").exists()


@pytest.fixture
def finished(tmp_path: Path, server: Scripted) -> Path:
    """A folder with a finished run over items whose texts try to break out of terminal and page."""
    items = make_items(60)
    write_items(tmp_path / "items.jsonl", items)
    text = (tmp_path / "items.jsonl").read_text()
    (tmp_path / "items.jsonl").write_text(text.replace("Evidence for", "<script>alert(1)</script> [/red] Evidence for"))
    (tmp_path / "skeptic.md").write_text("<b>Doubt</b> [bold]it[/bold].", encoding="utf-8")

    def script(body: dict[str, Any]) -> Any:
        return judge(body)

    server.script = script
    result = optimizer(
        "optimize",
        "--base-url",
        server.base_url,
        "--data",
        "items.jsonl",
        "--prompts",
        ".",
        "--persona",
        "advocate",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert "Next: optimizer compare" in result.stdout
    return tmp_path


def test_a_finished_run_can_be_compared_shown_exported_and_reported(finished: Path) -> None:
    run = next((finished / "runs").glob("2*"))
    assert "what counts is the sealed test" in optimizer("compare", cwd=finished).stdout
    assert json.loads(optimizer("compare", "--json", cwd=finished).stdout)["candidates"][0]["name"] == "seed"
    assert "of 16 dev items are wrong" in optimizer("headroom", cwd=finished).stdout
    item = json.loads((run / "resolved.json").read_text())["data"]["dev"]["items"][0]
    shown = optimizer("show", run.name, item, cwd=finished).stdout
    assert "Round 2" in shown
    assert "[/red]" in shown
    assert "no debate on item 'nope'" in optimizer("show", run.name, "nope", cwd=finished).stderr
    exported = optimizer("export", run.name, "--to", "out", cwd=finished)
    assert exported.returncode == 0
    assert sorted(path.name for path in (finished / "out").iterdir()) == [
        "advocate.md", "expert.md", "provenance.json", "skeptic.md", "source_skepticism.md",
    ]  # fmt: skip
    assert "is there already" in optimizer("export", run.name, "--to", "out", cwd=finished).stderr
    page = (run / "report.html").read_text()
    assert "<script>" not in page
    assert json.loads((run / "summary.json").read_text())["result"]["statement"].split("'")[0][:40] in page


def test_judge_writes_verdicts_with_reasons_for_unlabelled_claims(finished: Path, server: Scripted) -> None:
    rows = [{"id": "u1", "claim": "It is true.", "evidence": "E."}, {"id": "u2", "claim": "It is wrong.", "evidence": "E."}]
    (finished / "new.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = optimizer("judge", "new.jsonl", "--base-url", server.base_url, cwd=finished)
    assert result.returncode == 0, result.stderr
    verdicts = [json.loads(line) for line in (finished / "new.jsonl.verdicts.jsonl").read_text().splitlines()]
    assert [verdict["id"] for verdict in verdicts] == ["u1", "u2"]
    assert all(verdict["verdict"] in ("grounded", "not_grounded") and verdict["reason"] for verdict in verdicts)
    assert "is there already" in optimizer("judge", "new.jsonl", "--base-url", server.base_url, cwd=finished).stderr


def test_evaluate_puts_the_controls_beside_the_panel(finished: Path, server: Scripted) -> None:
    arguments = ["--data", "items.jsonl", "--control", "single,self-consistency", "--repeats", "2", "--limit", "12"]
    result = optimizer("evaluate", *arguments, "--base-url", server.base_url, "--json", cwd=finished)
    summary = json.loads(result.stdout)
    assert [arm["arm"] for arm in summary["arms"]] == ["panel", "single", "self-consistency"]
    assert all(arm["accuracy"]["items"] == 12 for arm in summary["arms"])
    assert set(summary["panel_minus"]) == {"single", "self-consistency"}

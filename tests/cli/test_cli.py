"""The command as a person uses it: one-line errors with what to do, exit codes, and nothing half-written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from optimizer.data.shipped import data_path
from tests.conftest import Scripted, make_items, write_items
from tests.search.test_job import judge


def optimizer(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_CACHE_HOME": str(cwd / "cache"), **environment}
    return subprocess.run(
        [sys.executable, "-m", "optimizer", *arguments], capture_output=True, text=True, cwd=cwd, env=env, timeout=120
    )


def as_json(*arguments: str, cwd: Path) -> Any:
    """What a command prints with --json; it must succeed."""
    result = optimizer(*arguments, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


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
        (["evaluate", "--control", "psychic"], 2, "valid are single, self-consistency, claim-only and none"),
        (["compare", "nothing"], 1, "no finished run 'nothing'"),
        (["compare", "one.md"], 2, "a comparison takes two prompts or more, but got 1"),
        (["compare", "one.md", "same.md"], 2, "prompts 'one' and 'same' have the same text"),
        (["compare", "one.md", "none.md"], 1, "none.md: no such prompt file"),
        (["compare", "one.md", "two.md", "--persona", "all"], 2, "prompts are compared for one component"),
        (["compare", "one.md", "two.md", "--split", "exam"], 2, "valid are train, dev, test and all"),
        (["transfer", "--model", "smollm2-135m"], 1, "no run there"),
        (["diagnose", "nothing"], 1, "no finished run 'nothing'"),
        (["diagnose", "--embedder", "magic"], 2, "valid are auto, endpoint, sentence-transformers and tfidf"),
        (["diagnose", "--embedder", "endpoint"], 2, "needs --base-url"),
        (["power", "--items", "10", "--clusters", "20"], 2, "cannot be more than --items 10"),
        (["power", "--items", "10", "--gain", "0.5"], 2, "no more than --discordance"),
        (["data", "check", "bad.jsonl"], 1, "bad.jsonl, line 1: label 'banana' is unknown"),
        (["data", "split", "twice.jsonl", "--to", "new"], 1, "twice.jsonl, line 2: id 'a' is already used on line 1"),
        (["data", "split", "starter", "--train", "1.5", "--to", "new"], 2, "must be a count (8; 0 takes all) or a share"),
        (["data", "split", "starter", "--to", "latin"], 1, "latin: exists already"),
        (["data", "new", "latin/skeptic.md"], 1, "cannot be written"),
        (["parse", "bad.jsonl"], 1, "bad.jsonl, line 1: must be a JSON object with text and finish_reason"),
        (["optimise"], 2, "No such command 'optimise'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_fault_is_one_line_that_says_what_to_do(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    bad_file(tmp_path, "bad.jsonl", json.dumps({**ROW, "label": "banana"}).encode())
    bad_file(tmp_path, "twice.jsonl", (json.dumps(ROW) + "\n" + json.dumps(ROW)).encode())
    bad_file(tmp_path, "two.jsonl", (json.dumps(ROW) + "\n" + json.dumps({**ROW, "id": "b", "label": "no"})).encode())
    for name, text in (("one", "Look."), ("same", "Look."), ("two", "Look twice.")):
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
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
    found = as_json("parse", "o.jsonl", cwd=tmp_path)
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
    assert as_json("compare", cwd=finished)["rows"][0]["name"] == "seed"
    assert "16 items," in optimizer("headroom", cwd=finished).stdout
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


def test_compare_names_candidates_prints_markdown_and_asserts(finished: Path) -> None:
    run = next((finished / "runs").glob("2*")).name
    rows = as_json("compare", cwd=finished)["rows"]
    last = rows[-1]["name"]
    shown = optimizer("compare", run, last, "--markdown", cwd=finished)
    assert shown.stdout.startswith(f"## {run}: 16 items of the dev split")
    assert sum(line.startswith("| ") for line in shown.stdout.splitlines()) == 3
    assert "has no candidate 'nobody'" in optimizer("compare", run, "nobody", cwd=finished).stderr
    result = json.loads((finished / "runs" / run / "summary.json").read_text())["result"]
    asserted = optimizer("compare", "--assert-better", "--alpha", "0.05", cwd=finished)
    assert asserted.returncode == (0 if result["test"]["verdict"] == "better" else 3)
    assert ("is better" in asserted.stdout) == (asserted.returncode == 0)


def test_prompt_files_are_compared_resumed_and_registered(finished: Path, server: Scripted) -> None:
    (finished / "a.md").write_text("Doubt.", encoding="utf-8")
    (finished / "b.md").write_text("Look very closely.", encoding="utf-8")
    arguments = ["compare", "a.md", "b.md", "--persona", "skeptic", "--data", "items.jsonl", "--base-url", server.base_url]
    first = as_json(*arguments, cwd=finished)
    assert [row["name"] for row in first["rows"]] == ["a", "b"]
    assert [row["accuracy"]["items"] for row in first["rows"]] == [60, 60]
    assert first["rows"][0]["tokens"] == 6 * 110
    asked = len(server.requests)
    again = as_json(*arguments, cwd=finished)
    assert again == first
    assert len(server.requests) - asked <= 4  # what the server is, and nothing else
    register = as_json("seal", cwd=finished)
    assert any(entry["run"] == Path(first["run"]).name for found in register.values() for entry in found)
    assert "p (Holm)" in optimizer("seal", cwd=finished).stdout
    dev = optimizer(*arguments, "--split", "dev", "--limit", "6", "--json", cwd=finished)
    assert json.loads(dev.stdout)["items"] == 6
    assert as_json("seal", cwd=finished) == register  # dev is no sealed set


def test_a_winner_is_transferred_to_other_data(finished: Path, server: Scripted) -> None:
    other = make_items(90)[60:]
    write_items(finished / "other.jsonl", other)
    result = json.loads(next((finished / "runs").glob("2*/summary.json")).read_text())["result"]
    moved = optimizer("transfer", "--data", "other.jsonl", cwd=finished)
    if result["winner"] == result["seed"]:
        assert "nothing to transfer" in moved.stderr
        return
    assert moved.returncode == 0, moved.stderr
    assert "30 items" in moved.stdout
    assert "give --model, --base-url or --data" in optimizer("transfer", cwd=finished).stderr


def test_headroom_is_completed_controlled_and_exported(finished: Path) -> None:
    before = as_json("headroom", cwd=finished)
    done = optimizer("headroom", "--complete", "2", "--control", "3", "--matrix", "m.csv", "--suspects", "s.jsonl", cwd=finished)
    assert done.returncode == 0, done.stderr
    assert "at most" in done.stdout
    assert "By luck alone an oracle over" in done.stdout
    after = as_json("headroom", cwd=finished)
    assert after["headroom"]["candidates"] > before["headroom"]["candidates"]
    assert after["headroom"]["oracle"] >= before["headroom"]["oracle"]
    assert after["chance"]["runs"] == 4
    assert after["outlook_candidates"] >= 3
    assert len((finished / "m.csv").read_text().splitlines()) == 17
    assert (finished / "s.jsonl").exists()
    once_more = optimizer("headroom", "--complete", "2", "--control", "3", cwd=finished)
    assert "0 candidates" in once_more.stdout
    assert "at most 0 calls" in once_more.stdout


def test_the_seed_and_the_winner_of_a_search_are_diagnosed_side_by_side(finished: Path) -> None:
    found = as_json("diagnose", "--candidate", "seed", "--candidate", "winner", cwd=finished)
    assert [row["debates"] for row in found["rows"]] == [16, 16]
    assert found["differences"][0]["items"] == 16
    assert any("the search decided on these items" in line for line in found["warnings"])
    alone = as_json("diagnose", "--candidate", "seed", "--split", "test", cwd=finished)
    assert any("sealed test items are among these" in line for line in alone["warnings"])
    assert "has no candidate 'nobody'; it has" in optimizer("diagnose", "--candidate", "nobody", cwd=finished).stderr
    wrong = optimizer("diagnose", "--split", "exam", cwd=finished)
    assert (wrong.returncode, "valid are train, dev, test and all" in wrong.stderr) == (2, True)


def test_power_says_what_a_test_can_see(tmp_path: Path) -> None:
    text = optimizer("power", "--items", "120", "--tries", "7", "--gain", "0.05", cwd=tmp_path).stdout
    assert "9 items of 120" in text
    assert "to be found with 80 % power" in text
    assert as_json("power", "--items", "120", cwd=tmp_path)["possible"] == 6


def test_a_check_with_errors_exits_with_1_and_with_warnings_with_0(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (data_path("starter") / "items.jsonl").read_text(encoding="utf-8").splitlines()[:60]]
    bad_file(tmp_path, "odd.jsonl", "".join(json.dumps({**row, "rationale": ""}) + "\n" for row in rows).encode())
    odd = optimizer("data", "check", "odd.jsonl", "--json", cwd=tmp_path)
    assert (odd.returncode, json.loads(odd.stdout)["errors"]) == (0, 0)
    assert json.loads(odd.stdout)["warnings"] >= 60
    rows.append({**rows[0], "id": "other", "label": "grounded" if rows[0]["label"] == "not_grounded" else "not_grounded"})
    bad_file(tmp_path, "wrong.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    wrong = optimizer("data", "check", "wrong.jsonl", cwd=tmp_path)
    assert wrong.returncode == 1
    assert "contradiction" in wrong.stdout
    assert "1 error" in wrong.stdout


def test_data_is_split_into_files_that_a_run_takes(tmp_path: Path) -> None:
    made = as_json("data", "split", "starter", "--train", ".2", "--dev", ".4", "--test", ".4", "--to", "parts", cwd=tmp_path)
    assert sum(part["items"] for part in made["splits"].values()) == 720
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        "dev.jsonl", "manifest.json", "test.jsonl", "train.jsonl",
    ]  # fmt: skip
    checked = as_json("data", "check", "parts", "--seed", "3", cwd=tmp_path)
    assert checked["own_splits"] is True
    assert {name: sum(counts.values()) for name, counts in checked["splits"].items()} == {
        name: part["items"] for name, part in made["splits"].items()
    }


def test_a_data_set_is_scaffolded_checked_and_described(tmp_path: Path, server: Scripted) -> None:
    made = optimizer("data", "new", "mine", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "exists already" in optimizer("data", "new", "mine", cwd=tmp_path).stderr
    checked = optimizer("data", "check", "mine", cwd=tmp_path).stdout
    assert "of the labels" in checked
    assert as_json("data", "check", "mine", cwd=tmp_path)["clusters"] == 6
    written = optimizer("data", "card", "mine", "--base-url", server.base_url, cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    card = (tmp_path / "mine" / "card.md").read_text()
    assert card.startswith("# mine")
    items = len((tmp_path / "mine" / "items.jsonl").read_text().splitlines())
    assert f"| scripted | yes | {items} |" in card
    assert f"| scripted | no | {items} |" in card
    asked = len(server.requests)
    assert optimizer("data", "card", "mine", "--base-url", server.base_url, cwd=tmp_path).returncode == 0
    assert len(server.requests) - asked <= 4


def test_the_cache_is_told_pruned_and_verified(finished: Path) -> None:
    told = as_json("cache", "info", cwd=finished)
    (model,) = told["models"]
    assert model["answers"] > 100
    assert "whole, every answer can be read" in optimizer("cache", "verify", cwd=finished).stdout
    assert "give --model NAME, or --keep N" in optimizer("cache", "prune", cwd=finished).stderr
    assert "no answers of 'nobody'" in optimizer("cache", "prune", "--model", "nobody", cwd=finished).stderr
    assert f"{model['answers'] - 10} answers deleted" in optimizer("cache", "prune", "--keep", "10", cwd=finished).stdout


def test_serving_says_what_it_would_run_and_what_it_cannot(tmp_path: Path) -> None:
    shown = optimizer(
        "serve", "org/model", "--engine", "vllm", "--dry-run", "--replicas", "2", "--", "--dtype", "float16", cwd=tmp_path
    )
    assert shown.returncode == 0, shown.stderr
    lines = [line for line in " ".join(shown.stdout.split()).split("--dtype float16") if line.strip()]
    assert len(lines) == 2
    assert "valid are llama.cpp and vllm" in optimizer("serve", "m", "--engine", "tgi", cwd=tmp_path).stderr
    assert "are for --engine vllm" in optimizer("serve", "--replicas", "2", cwd=tmp_path).stderr

"""`optimizer diagnose` on an evaluation that a scripted server answered: what is known of the script must come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.data.splits import spread
from tests.cli.test_cli import as_json, optimizer
from tests.conftest import Scripted, answer, completion, make_items, write_items

ITEMS = make_items(80)
LOST = spread(ITEMS, 0, 70)[3]  # no call about it is answered
PERSONAS = ("Skeptic", "Advocate", "Expert")
REASONS = ["--set", 'protocol.fields=["reason","verdict","confidence"]', "--set", 'protocol.shared=["verdict","reason"]']


def script(body: dict[str, Any]) -> Any:
    """All are right, but the Skeptic says no in round 1; then it repeats what the Advocate had said."""
    text = body["messages"][-1]["content"]
    if "Claim:" not in text:
        return answer("yes")
    claim = text.split("Claim:")[1].split('"""')[1].strip()
    if claim == LOST.claim:
        return 400, {}, "no"
    truth = "yes" if "true" in claim else "no"
    speaker = next((name for name in PERSONAS if f"You are the {name}" in text or f"Domain {name}" in text.split("\n\n")[-2]), "")
    second = "answers in round 1" in text
    voice = "Advocate" if speaker == "Skeptic" and second else speaker
    verdict = "no" if speaker == "Skeptic" and not second else truth
    reason = f"The {voice or 'judge'} weighs {claim.split()[2]} with {voice.lower()} eyes."
    if "reason" not in body["messages"][0]["content"]:
        return answer(verdict, 90)
    return completion(json.dumps({"reason": reason, "verdict": verdict, "confidence": 90 if verdict == truth else 60}))


@pytest.fixture
def evaluated(tmp_path: Path, server: Scripted) -> Path:
    server.script = script
    write_items(tmp_path / "items.jsonl", ITEMS)
    done = optimizer(
        "evaluate", "--data", "items.jsonl", "--limit", "70", "--control", "single,self-consistency", *REASONS,
        "--base-url", server.base_url, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_what_the_script_does_is_what_the_diagnosis_says(evaluated: Path) -> None:
    found = as_json("diagnose", cwd=evaluated)
    assert (found["items"], found["panel"]["debates"], found["panel"]["failed"]) == (69, 69, 1)
    assert "1 debate failed for lack of an answer" in " ".join(found["warnings"])
    assert "1 debate of self-consistency failed" in " ".join(found["warnings"])
    shifts = {row["name"]: row for row in found["shifts"]}
    assert set(shifts) >= {"panel minus single", "panel minus self-consistency", "panel, round 2 minus 1"}
    assert shifts["panel minus single"]["accuracy"]["value"] == 0
    assert shifts["skeptic, round 2 minus 1"]["recall"]["grounded"]["value"] == 1
    skeptic = next(row for row in found["flips"] if row["judge"] == "skeptic")
    grounded = sum(item.label == "grounded" for item in spread(ITEMS, 0, 70) if item is not LOST)
    assert skeptic["corrected"] == skeptic["to_peer"] == grounded
    credits = {row["source"]: row["credit"] for row in found["moves"] if row["receiver"] == "skeptic"}
    assert credits == {"advocate": grounded / 2, "expert": grounded / 2}
    novelty = next(row for row in found["novelty"]["rows"] if row["persona"] == "skeptic")
    assert novelty["own"]["median"] > 0.2
    assert novelty["everyone"]["median"] == 0
    all_turns = next(row for row in found["novelty"]["rows"] if row["persona"] == "all personas")
    assert all_turns["turns"] == 3 * 69
    assert found["novelty"]["embedder"] == "TF-IDF over words"
    auroc = {row["name"]: row["auroc"]["value"] for row in found["confidence"]}
    assert auroc["all personas, round 1"] == 1.0
    assert auroc["all personas, round 2"] is None
    assert found["seconds"] > 0


def test_models_and_evidence_of_single_personas_are_named(evaluated: Path) -> None:
    path = next((evaluated / "runs").glob("*-evaluate-*")) / "resolved.json"
    resolved = json.loads(path.read_text(encoding="utf-8"))
    resolved["model"] |= {
        "roles": {"skeptic": {"name": "other", "identity": "x"}, "reflection": {"name": "large", "identity": "y"}},
        "voices": {"expert": {"evidence": "abc"}, "skeptic": {"evidence": ""}},
    }
    path.write_text(json.dumps(resolved), encoding="utf-8")
    assert as_json("diagnose", cwd=evaluated)["panel"]["model"] == "scripted; skeptic: other; expert: evidence of its own"


def test_every_table_says_what_its_figures_mean_in_the_terminal_and_in_markdown(evaluated: Path) -> None:
    printed = optimizer("diagnose", "--markdown", "report.md", cwd=evaluated)
    assert printed.returncode == 0, printed.stderr
    written = (evaluated / "report.md").read_text(encoding="utf-8")
    for part in (
        "d′: how well",
        "phi: correlation of their errors",
        "credit: moves, each",
        "step, all: the same",
        "by TF-IDF over words",
        "AUROC is undefined for all personas, round 2",
        "over 10 bins",
        "Note: ",
        "Computed in ",
    ):
        assert part in printed.stdout, part
        assert part in written, part
    assert "| judge | items |" in written
    assert "Written to report.md" in printed.stdout
    assert "over 4 bins" in optimizer("diagnose", "--bins", "4", cwd=evaluated).stdout


def test_without_reasons_it_says_how_to_record_them(tmp_path: Path, server: Scripted) -> None:
    server.script = script
    write_items(tmp_path / "items.jsonl", ITEMS[:8])
    arguments = ["--data", "items.jsonl", "--control", "none", "--base-url", server.base_url]
    assert optimizer("evaluate", *arguments, cwd=tmp_path).returncode == 0
    text = optimizer("diagnose", cwd=tmp_path).stdout
    assert "Novelty is undefined: none of the 48 answers holds a reason" in text
    assert '--set \'protocol.fields=["reason"' in text
    assert "No control stands beside this panel" in text
    assert "only 4 clusters" in text


def test_an_evaluation_whose_data_changed_or_whose_debates_all_failed_is_refused(tmp_path: Path, server: Scripted) -> None:
    write_items(tmp_path / "items.jsonl", ITEMS[:2])
    server.script = lambda body: (400, {}, "no") if "Claim:" in body["messages"][-1]["content"] else answer("yes")
    arguments = ["--data", "items.jsonl", "--control", "none", "--base-url", server.base_url]
    assert optimizer("evaluate", *arguments, cwd=tmp_path).returncode == 0
    refused = optimizer("diagnose", cwd=tmp_path)
    assert (refused.returncode, "has no debate that did not fail" in refused.stderr) == (1, True)
    write_items(tmp_path / "items.jsonl", ITEMS[2:4])
    assert "the data has changed since the run" in optimizer("diagnose", cwd=tmp_path).stderr
    assert "an evaluation has one panel" in optimizer("diagnose", "--candidate", "brief", cwd=tmp_path).stderr

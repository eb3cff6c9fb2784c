"""From recorded runs to a policy file and back: what was decided on arrays is what the executor decides."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimizer.analysis.policy.bench import Bench, draw_folds
from optimizer.analysis.policy.data import Source, policy_data, recorded_debates
from optimizer.analysis.policy.objective import Objective
from optimizer.analysis.policy.space import Draft, Part
from optimizer.config import Settings, load_settings
from optimizer.debate.policy import Policy, Veto
from optimizer.debate.policy_file import policy_toml
from optimizer.errors import UsageError, UserError
from optimizer.runs.folder import RunFolder
from optimizer.search.job import optimize, prepare
from optimizer.search.judge import judge_items
from optimizer.search.score import evaluate_panel
from tests.conftest import Scripted, answer, completion, make_items, write_items
from tests.search.test_job import judge

PERSONAS = ("skeptic", "advocate", "expert")
TEXTS = {"skeptic": "Doubt.", "advocate": "Defend.", "expert": "Check.", "source_skepticism": "Trust nobody."}
EQUAL = Policy(PERSONAS, "weighted", weights=(1.0, 1.0, 1.0))
NAMES = {1: "grounded", -1: "not_grounded", 0: None}


def mixed(body: dict[str, Any]) -> dict[str, Any]:
    """Votes and confidences that depend on everything that was said, now and then no vote, often right."""
    text = body["messages"][-1]["content"]
    if "Claim:" not in text or "Write one plain sentence" in text:
        return answer("yes")
    luck = hashlib.sha256(text.encode()).digest()
    if luck[0] < 25:
        return completion("I cannot say.")
    truth = "yes" if " is true." in text else "no"
    right = luck[1] < 170
    return answer(truth if right else "no" if truth == "yes" else "yes", 50 + luck[2] % 51)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_items(tmp_path / "items.jsonl", make_items(60))
    (tmp_path / "prompts").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "prompts" / f"{name}.md").write_text(text, encoding="utf-8")
    return tmp_path


def settings(server: Scripted, data: Path, **flags: Any) -> Settings:
    base = {
        "base_url": server.base_url, "data": str(data / "items.jsonl"), "prompts": str(data / "prompts"),
        "runs": str(data / "runs"), "cache": str(data / "cache.sqlite"),
    }  # fmt: skip
    return load_settings({**base, **flags})


def evaluated(server: Scripted, data: Path, root: str = "runs", limit: int = 0, **flags: Any) -> RunFolder:
    """A finished evaluation; folders of runs are named by the second, so those of one test get a root each."""
    server.script = mixed
    return asyncio.run(evaluate_panel(settings(server, data, runs=str(data / root), **flags), limit=limit))


def saved(data: Path, policy: Policy) -> str:
    (data / "policy.toml").write_text(policy_toml(policy), encoding="utf-8")
    return str(data / "policy.toml")


def candidates(source: Source) -> list[Policy]:
    """Policies of every rule, round and fitted part, fitted on the recorded debates."""
    recorded = policy_data(source.debates, source.personas)
    fits = Bench(recorded, draw_folds(recorded, 5, 0), Objective()).fits
    base = replace(EQUAL, weights=(0.5, 1.0, -0.25), false_grounded=1.5, abstention=0.1)
    return [
        Policy(PERSONAS, round="first", threshold=0.1667, veto=Veto("expert", 0.7, "always")),
        replace(base, confidence="raw", round="first"),
        fits.finished(Draft(replace(base, veto=Veto("skeptic")), Part("isotonic", "last"))),
        fits.finished(Draft(replace(EQUAL, round="first"), Part("logistic", "first"))),
        fits.finished(Draft(EQUAL, Part("stacker", "last", confidences=True))),
    ]


@pytest.mark.parametrize("number", range(5))
def test_the_file_decides_in_evaluate_and_judge_as_the_arrays_did_without_a_call(
    server: Scripted, data: Path, number: int
) -> None:
    source = recorded_debates([evaluated(server, data)])
    recorded, policy = policy_data(source.debates, source.personas), candidates(source)[number]
    decided = policy.decide(recorded.votes[policy.round], recorded.confidences[policy.round])
    wanted = {item.id: NAMES[int(sign)] for (_, item), sign in zip(source.debates, decided, strict=True)}
    assert len(set(wanted.values())) > 1
    asked = len(server.requests)
    file = saved(data, policy)
    again = evaluated(server, data, "again", policy=file)
    assert {debate.item: debate.decision for debate in again.debates()} == wanted
    assert {debate.rule for debate in again.debates()} <= {"policy", "abstain"}
    judged = asyncio.run(judge_items(settings(server, data, policy=file), TEXTS, make_items(60), data / "out.jsonl"))
    assert {each.id: each.verdict for each in judged} == wanted
    debated = [body for body in server.requests[asked:] if "Answer with one line" in str(body) and "Claim:" in str(body)]
    assert debated == []


def test_a_search_decides_by_the_policy_too(server: Scripted, data: Path) -> None:
    server.script = judge
    file = saved(data, replace(EQUAL, weights=(0.0, 0.0, 1.0)))
    flags = {"policy": file, "persona": "expert", "search.reflections": 0, "search.budget": 2000}
    run = asyncio.run(optimize(asyncio.run(prepare(settings(server, data, **flags)))))
    debates = run.debates()
    assert debates
    assert all(debate.decision is debate.round_verdicts(2)["expert"].vote for debate in debates)


def test_a_run_is_not_resumed_when_its_policy_has_changed(server: Scripted, data: Path) -> None:
    run = evaluated(server, data, policy=saved(data, EQUAL))
    (run.path / "summary.json").unlink()
    assert evaluated(server, data, policy=saved(data, EQUAL)).path == run.path
    (run.path / "summary.json").unlink()
    with pytest.raises(UserError, match=r"begun differently \(model\.policy: "):
        evaluated(server, data, policy=saved(data, replace(EQUAL, abstention=0.2)))


def test_a_policy_of_other_personas_is_refused_before_a_call(server: Scripted, data: Path) -> None:
    file = saved(data, Policy(("skeptic", "expert")))
    with pytest.raises(UserError, match="made for the personas skeptic, expert, but the panel seats skeptic, advocate, expert"):
        evaluated(server, data, policy=file)
    assert not any("Claim:" in str(body) for body in server.requests)
    assert evaluated(server, data, policy=file, panel="skeptic,expert").finished


def test_runs_of_the_same_personas_are_pooled_and_an_item_in_both_counts_once(server: Scripted, data: Path) -> None:
    few, all_items = evaluated(server, data, "few", limit=20), evaluated(server, data, "all")
    source = recorded_debates([few, all_items])
    pooled = policy_data(source.debates, source.personas)
    assert (pooled.debates, pooled.items, pooled.clusters, source.missing) == (80, 60, 30, 0)
    assert pooled.weights.sum() == pytest.approx(60)
    other = evaluated(server, data, "other", panel="skeptic,expert")
    with pytest.raises(UserError, match="its panel is skeptic, expert, but that of"):
        recorded_debates([all_items, other])


def test_a_failed_debate_is_missing_and_counted(server: Scripted, data: Path) -> None:
    first = make_items(60)[0]
    server.script = lambda body: (
        (400, {}, "no") if f'"""\n{first.claim}\n"""' in str(body["messages"][-1]["content"]) else mixed(body)
    )
    run = asyncio.run(evaluate_panel(settings(server, data)))
    source = recorded_debates([run])
    assert (source.missing, len(source.debates)) == (1, 59)


def test_of_a_search_the_winner_the_seed_or_any_candidate_is_read_on_the_splits_asked_for(server: Scripted, data: Path) -> None:
    server.script = judge
    flags = {"persona": "skeptic", "search.budget": 1500, "splits.train": 8, "splits.dev": 16, "splits.test": 0}
    run = asyncio.run(optimize(asyncio.run(prepare(settings(server, data, **flags)))))
    splits, result = run.resolved()["data"], run.summary()["result"]
    dev = recorded_debates([run], "seed", "dev")
    assert {item.id for _, item in dev.debates} == set(splits["dev"]["items"])
    assert dev.candidates == (result["seed"],)
    assert dev.test_sets == ()
    assert recorded_debates([run], "", "dev").candidates == (result["winner"],)
    test = recorded_debates([run], "winner", "test")
    assert test.test_sets == (splits["test"]["hash"],)
    unsealed = recorded_debates([run], "seed")
    assert not {item.id for _, item in unsealed.debates} & set(splits["test"]["items"])
    for wrong, message in (("nobody", "has no candidate 'nobody'"), ("panel", "has no candidate 'panel'")):
        with pytest.raises(UsageError, match=message):
            recorded_debates([run], wrong)
    with pytest.raises(UsageError, match="unknown split 'exam'"):
        recorded_debates([run], split="exam")


def test_an_unlabelled_item_is_no_ground_for_a_policy(server: Scripted, data: Path) -> None:
    source = recorded_debates([evaluated(server, data, limit=4)])
    pairs = [(debate, replace(item, label=None)) for debate, item in source.debates]
    with pytest.raises(UserError, match="is no claim with a label"):
        policy_data(pairs, PERSONAS)


def test_the_recorded_decisions_are_those_of_the_published_rule(server: Scripted, data: Path) -> None:
    source = recorded_debates([evaluated(server, data)])
    recorded = policy_data(source.debates, source.personas)
    rule = Policy(PERSONAS, veto=Veto("skeptic"))
    assert np.array_equal(rule.decide(recorded.votes["last"], recorded.confidences["last"]), recorded.recorded)
    assert json.loads((data / "runs" / source.runs[0] / "resolved.json").read_text())["protocol"]["aggregator"] == "rule"

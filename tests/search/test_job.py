"""The whole job on a scripted server: search, budget, seal, resuming after kill -9, refusals."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.config import Settings, load_settings
from optimizer.errors import UserError
from optimizer.runs.folder import RunFolder
from optimizer.runs.seal import SealRegister
from optimizer.search.job import optimize, prepare
from tests.conftest import Delayed, Scripted, answer, completion, make_items, write_items

GOOD = "Look very closely."


def judge(body: dict[str, Any]) -> dict[str, Any]:
    """Right with a chance that depends on the persona's text and the claim; the good text is always right."""
    text = body["messages"][-1]["content"]
    if "You improve the instruction" in text:
        return completion(f"<instruction>Reflected advice number {body['seed']}.</instruction>")
    if "Say the same" in text:
        words = text.split("Say the same")[0].split()[1:]
        return completion(json.dumps({"instruction": " ".join(words[: len(words) // 2])}))
    if "Claim:" not in text:
        return answer("yes")  # a probe of what the server can do
    claim = text.split("Claim:")[1].split('"""')[1].strip()
    truth = "yes" if "true" in claim else "no"
    luck = hashlib.sha256((claim + text.split("\n\n")[-2]).encode()).digest()[0] / 256
    right = GOOD in text or luck < 0.5
    return answer(truth if right else "no" if truth == "yes" else "yes")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_items(tmp_path / "items.jsonl", make_items(80))
    for name, text in {
        "skeptic": "Doubt.",
        "advocate": "Defend.",
        "expert": "Check.",
        "source_skepticism": "Trust nobody.",
    }.items():
        folder = tmp_path / "prompts" / name
        (folder / "alternatives").mkdir(parents=True)
        (folder / "seed.md").write_text(text, encoding="utf-8")
        (folder / "alternatives" / "useless.md").write_text(f"{text} Please.", encoding="utf-8")
        (folder / "alternatives" / "zgood.md").write_text(f"{GOOD} ({name})", encoding="utf-8")
    return tmp_path


def settings(server: Scripted, data: Path, **flags: Any) -> Settings:
    base = {
        "base_url": server.base_url,
        "data": str(data / "items.jsonl"),
        "prompts": str(data / "prompts"),
        "runs": str(data / "runs"),
        "cache": str(data / "cache.sqlite"),
        "search.budget": 2000,
        "search.reflections": 2,
        "splits.train": 12,
        "splits.dev": 20,
        "splits.test": 0,
        "persona": "all",
        "in_flight": 4,
    }
    return load_settings({**base, **flags})


def go(chosen: Settings, fresh: bool = False) -> RunFolder:
    return asyncio.run(optimize(asyncio.run(prepare(chosen)), fresh))


def test_a_search_finds_the_better_texts_and_the_sealed_test_says_so(server: Scripted, data: Path) -> None:
    server.script = judge
    run = go(settings(server, data))
    result = run.summary()["result"]
    assert result["test"]["verdict"] == "better"
    assert result["statement"].startswith("The winner is better than the seed")
    assert GOOD in (run.winner / "skeptic.md").read_text()
    assert [contrast.run for contrast in SealRegister(data / "runs").contrasts()] == [run.path.name]
    assert {row["origin"].split(":")[0] for row in result["candidates"]} == {"seed", "alternative", "reflection"}


@pytest.mark.parametrize("budget", [520, 640, 900])
def test_the_budget_is_never_exceeded(server: Scripted, data: Path, budget: int) -> None:
    server.script = judge
    flags = {"splits.train": 6, "splits.dev": 16, "splits.test": 20, "search.budget": budget}
    run = go(settings(server, data, **flags))
    keys = {json.loads(line)["key"] for line in run.calls.read_text().splitlines()}
    assert len(keys) == run.summary()["result"]["calls"] <= budget


@pytest.mark.parametrize("ahead", [1, 3])
def test_a_budget_in_tokens_is_never_exceeded_and_a_resumed_run_spends_the_same(server: Scripted, data: Path, ahead: int) -> None:
    """A scripted call takes 110 tokens; a reflection is reserved with what it may take at the most."""
    server.script = judge
    flags = {"splits.train": 6, "splits.dev": 16, "splits.test": 20, "search.budget": 0, "search.budget_tokens": 75_000}
    chosen = settings(server, data, **flags, **{"search.ahead": ahead, "search.reflections": -1})
    run = go(chosen)
    spent = {(line := json.loads(text))["key"]: line["prompt_tokens"] + line["completion_tokens"] for text in run.calls.open()}
    before = run.summary()["result"]
    assert before["stopped"] == "budget spent"
    assert 37_500 < sum(spent.values()) <= 75_000
    (run.path / "summary.json").unlink()
    assert go(chosen).summary()["result"] == before


@pytest.mark.parametrize("flags", [{"search.schedule": "gepa"}, {"search.objective": "macro_f1"}], ids=["gepa", "macro_f1"])
def test_a_budget_in_tokens_for_less_than_the_seed_on_dev_is_not_exceeded(
    server: Scripted, data: Path, flags: dict[str, Any]
) -> None:
    """The sealed test may take 26,400 and takes half of it, since the seed wins; the seed on dev would take 18,480."""
    server.script = judge
    sizes = {"splits.train": 6, "splits.dev": 34, "splits.test": 20, "search.budget": 0, "search.budget_tokens": 28_000}
    run = go(settings(server, data, **flags, **sizes))
    lines = map(json.loads, run.calls.read_text().splitlines())
    spent = {line["key"]: line["prompt_tokens"] + line["completion_tokens"] for line in lines}
    assert 0 < sum(spent.values()) <= 28_000


def test_a_budget_in_minutes_says_that_it_cannot_be_repeated_and_needs_a_known_speed(server: Scripted, data: Path) -> None:
    timed = settings(server, data, **{"search.budget": 0, "search.budget_minutes": 5.0})
    with pytest.raises(UserError, match="nothing is known about this server's speed"):
        asyncio.run(prepare(timed))
    job = asyncio.run(prepare(settings(server, data, **{"search.budget_minutes": 5.0})))
    assert any("cannot be repeated exactly" in warning for warning in job.plan.warnings)


def test_reflections_asked_ahead_give_the_same_run_whatever_the_timing(server: Scripted, data: Path) -> None:
    results = []
    for delay in (0.0, 0.02):

        def late(body: dict[str, Any], delay: float = delay) -> Any:
            improving = "You improve the instruction" in body["messages"][-1]["content"]
            return Delayed(delay, judge(body)) if improving else judge(body)

        server.script = late
        flags = {"search.ahead": 4, "search.reflections": 6, "persona": "expert", "search.budget": 1200}
        chosen = settings(server, data, **flags, cache=str(data / f"cache-{delay}.sqlite"), runs=str(data / f"runs-{delay}"))
        results.append(go(chosen).summary()["result"])
    origins = [row["origin"] for row in results[0]["candidates"]]
    assert sum(origin.startswith("reflection") for origin in origins) >= 4
    assert results[0] == results[1]


def test_evidence_that_would_be_judged_in_pieces_is_refused_before_a_call(
    server: Scripted, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A debate of pieces takes more calls than budget and record account for."""
    monkeypatch.setattr("optimizer.search.job.smallest_context", lambda plan: 1_100)
    monkeypatch.setattr("optimizer.debate.panel.smallest_context", lambda plan: 1_100)
    write_items(data / "long.jsonl", [replace(item, evidence=("It is so. " * 100,)) for item in make_items(80)])
    chosen = settings(server, data, **{"protocol.long_evidence": "chunk"})
    long = chosen.model_copy(update={"data": str(data / "long.jsonl")})
    with pytest.raises(UserError, match=r"a search cannot judge in pieces; take --set protocol\.long_evidence=select"):
        asyncio.run(prepare(long))


def test_gepa_ends_where_there_is_no_mistake_left_to_reflect_on(server: Scripted, data: Path) -> None:
    def always_right(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        return answer("yes" if " true." in text else "no") if "Claim:" in text else answer("yes")

    server.script = always_right
    flags = {"search.schedule": "gepa", "persona": "expert", "search.budget": 5000}
    assert go(settings(server, data, **flags)).summary()["result"]["stopped"].startswith("gepa asks nothing new")


def test_a_budget_that_buys_no_search_is_refused_before_a_call(server: Scripted, data: Path) -> None:
    with pytest.raises(UserError, match=r"a budget of 50 calls is too small: .* give --budget \d+ or more"):
        asyncio.run(prepare(settings(server, data, **{"search.budget": 50})))


def test_test_items_are_asked_only_at_the_end_and_reflection_sees_train_alone(server: Scripted, data: Path) -> None:
    server.script = judge
    run = go(settings(server, data))
    splits = run.resolved()["data"]
    test, dev = set(splits["test"]["items"]), set(splits["dev"]["items"])
    events = [json.loads(line) for line in run.events.read_text().splitlines()]
    order = [event["debate"]["item"] in test for event in events if event["kind"] == "debate"]
    assert order == sorted(order)
    claims = {item.id: item.claim for item in make_items(80)}
    reflections = [body["messages"][0]["content"] for body in server.requests if "You improve" in body["messages"][0]["content"]]
    assert reflections
    assert not any(claims[item] in text for text in reflections for item in test | dev)


def test_the_same_command_again_is_a_no_op_and_a_warm_cache_decides_alike(server: Scripted, data: Path) -> None:
    server.script = judge
    first = go(settings(server, data))
    asked = len(server.requests)
    assert go(settings(server, data)).path == first.path
    warm = go(settings(server, data, runs=str(data / "other-runs")))
    schema_probes = sum("Is water wet?" in str(body) for body in server.requests)
    assert len(server.requests) - asked <= schema_probes
    assert warm.summary()["result"] == first.summary()["result"]
    assert warm.summary()["spent"].get("paid", 0) == 0


def test_a_changed_unfinished_run_is_refused_with_the_difference(server: Scripted, data: Path) -> None:
    server.script = lambda body: (401, {}, "") if "Claim:" in str(body) else answer("yes")
    with pytest.raises(UserError, match="key refused"):
        go(settings(server, data))
    server.script = judge
    with pytest.raises(UserError, match=r"unfinished and was begun differently \(seed: 0 -> 1\)|data\.dev"):
        go(settings(server, data, seed=1))
    (data / "prompts" / "skeptic" / "seed.md").write_text("Doubt a little.", encoding="utf-8")
    with pytest.raises(UserError, match=r"prompts\.skeptic: \"Doubt\.\" -> \"Doubt a little\.\""):
        go(settings(server, data))


def test_a_run_whose_calls_all_fail_ends_with_the_reason(server: Scripted, data: Path) -> None:
    server.script = lambda body: (400, {}, "broken model") if "Claim:" in str(body) else answer("yes")
    with pytest.raises(UserError, match="calls in a row failed, the last with HTTP 400: broken model"):
        go(settings(server, data))


def failing_on(claims: set[str]) -> Any:
    """A judge that gets no answer on some claims."""

    def script(body: dict[str, Any]) -> Any:
        hit = any(f'"""\n{claim}\n"""' in body["messages"][-1]["content"] for claim in claims)
        return (400, {}, "not now") if hit else judge(body)

    return script


def test_a_failed_debate_is_missing_on_both_sides_and_never_scored(server: Scripted, data: Path) -> None:
    test = asyncio.run(prepare(settings(server, data))).splits.test
    server.script = failing_on({test[0].claim})
    run = go(settings(server, data))
    assert run.summary()["result"]["test"]["difference"]["items"] == len(test) - 1
    assert test[0].id not in {debate.item for debate in run.debates()}


def test_a_test_with_too_many_failures_is_owed_and_only_what_failed_is_asked_again(server: Scripted, data: Path) -> None:
    test = asyncio.run(prepare(settings(server, data))).splits.test
    failing = {item.claim for item in test[:4]}
    server.script = failing_on(failing)
    with pytest.raises(UserError, match=rf"4 of {len(test)} test debates failed, the last because of: HTTP 400: not now"):
        go(settings(server, data))
    server.script, asked = judge, len(server.requests)
    run = go(settings(server, data))
    assert run.summary()["result"]["test"]["difference"]["items"] == len(test)
    texts = [body["messages"][-1]["content"] for body in server.requests[asked:]]
    owed = [text for text in texts if any(claim in text for claim in failing)]
    assert owed
    others = [text for text in texts if "Claim:" in text and text not in owed]
    winner_only = {item.claim for item in test[4:]}
    assert all(any(claim in text for claim in winner_only) for text in others)  # the winner's test debates, not held before


@pytest.mark.parametrize(
    ("after", "sent", "code"),
    [(40, signal.SIGKILL, -9), (150, signal.SIGKILL, -9), (400, signal.SIGKILL, -9), (100, signal.SIGINT, 130)],
)
def test_a_run_that_is_killed_or_interrupted_goes_on(server: Scripted, data: Path, after: int, sent: int, code: int) -> None:
    """No answered call is asked again, and the result is that of an uninterrupted run on the same cache."""
    command = [
        sys.executable, "-m", "optimizer", "optimize", "--persona", "all", "--base-url", server.base_url, "--budget", "1500",
        "--data", str(data / "items.jsonl"), "--prompts", str(data / "prompts"), "--runs", str(data / "runs"),
        "--set", f"cache={data / 'cache.sqlite'}", "--set", "in_flight=4", "--test", "0", "--json",
    ]  # fmt: skip
    process: subprocess.Popen[str] | None = None

    def kill_in_the_middle(body: dict[str, Any]) -> dict[str, Any]:
        nonlocal process
        if len(server.requests) >= after and process is not None:
            os.kill(process.pid, sent)
            process = None
        return judge(body)

    server.script = kill_in_the_middle
    process = started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _, errors = started.communicate(timeout=120)
    assert started.returncode == code
    assert "Traceback" not in errors
    resumed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    run = RunFolder(Path(resumed["run"]))
    assert len(list((data / "runs").glob("2*"))) == 1
    paid = Counter(line["key"] for line in map(json.loads, run.calls.read_text().splitlines()) if line.get("paid"))
    assert max(paid.values()) == 1
    shutil.move(data / "runs", data / "runs-before")
    uninterrupted = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert uninterrupted["result"] == resumed["result"]
    assert uninterrupted["spent"].get("paid", 0) == 0


@pytest.mark.parametrize("schedule", ["sequential", "round_robin", "all_at_once", "exhaustive", "random", "gepa"])
def test_every_schedule_finds_the_better_texts_within_its_budget(server: Scripted, data: Path, schedule: str) -> None:
    server.script = judge
    flags = {"search.schedule": schedule, "search.budget": 1500, "persona": "skeptic,expert"}
    run = go(settings(server, data, **flags))
    result = run.summary()["result"]
    assert result["calls"] <= 1500
    assert {row["origin"].split(":")[0] for row in result["candidates"]} >= {
        "seed",
        "gepa" if schedule == "gepa" else "alternative",
    }
    if schedule != "gepa":  # it has no alternatives to find
        assert GOOD in "".join(path.read_text() for path in run.winner.glob("*.md"))
    (run.path / "summary.json").unlink()
    assert go(settings(server, data, **flags)).summary()["result"] == result  # nothing but the record decides


@pytest.mark.parametrize("parent", ["pareto", "epsilon"])
def test_proposals_may_start_from_others_than_the_incumbent(server: Scripted, data: Path, parent: str) -> None:
    server.script = judge
    run = go(
        settings(
            server,
            data,
            **{"seed": 6, "search.parent": parent, "search.budget": 1500, "search.reflections": 8, "persona": "skeptic"},
        )
    )
    result = run.summary()["result"]
    assert result["calls"] <= 1500
    leader, others = "", 0
    for event in map(json.loads, run.events.read_text().splitlines()):
        if event["kind"] == "leader":
            leader = event["candidate"]
        if event["kind"] == "duel":  # it stands before the leader that follows from it
            others += event["duel"]["incumbent"] != leader
    assert others > 0


def test_a_record_cut_at_any_point_is_resumed_to_the_same_result(server: Scripted, data: Path) -> None:
    server.script = judge
    flags = {"search.budget": 900, "persona": "skeptic,expert"}
    run = go(settings(server, data, **flags))
    result, events, asked = run.summary()["result"], run.events.read_bytes(), len(server.requests)
    for point in random.Random(0).sample(range(len(events)), 20):
        (run.path / "summary.json").unlink()
        run.events.write_bytes(events[:point])
        again = go(settings(server, data, **flags))
        assert (again.path, again.summary()["result"]) == (run.path, result)
        # Debates end in any order.
        assert sorted(run.events.read_bytes().splitlines()) == sorted(events.splitlines())
    assert not any("Claim:" in str(body) for body in server.requests[asked:])


def test_where_tokens_have_a_price_a_model_says_the_same_in_fewer_words(server: Scripted, data: Path) -> None:
    server.script = judge
    long = "You are here to look at every single word of this claim and to doubt it until the very end of all days."
    (data / "prompts" / "skeptic" / "seed.md").write_text(long, encoding="utf-8")
    shutil.rmtree(data / "prompts" / "skeptic" / "alternatives")  # they are shorter still
    flags = {"persona": "skeptic", "search.reflections": 0, "search.token_price": 20.0}
    run = go(settings(server, data, **flags))
    result = run.summary()["result"]
    compressed = [row for row in result["candidates"] if row["origin"].startswith("compression:")]
    assert compressed
    assert len((run.candidate(compressed[0]["id"]) / "skeptic.md").read_text()) < len(long)
    assert [point["tokens"] for point in result["front"]] == sorted(point["tokens"] for point in result["front"])

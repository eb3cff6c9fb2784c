"""Hosted models through litellm, against a scripted server that stands in for the provider."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from optimizer.config import load_settings
from optimizer.debate.executor import DebateJob
from optimizer.debate.panel import open_panel, plan_panel
from optimizer.debate.records import Debate
from optimizer.errors import UsageError, UserError
from optimizer.models.hosted import hosted_endpoint
from optimizer.models.ledger import Ledger
from tests.conftest import Scripted, answer, make_items

TEXTS = {"skeptic": "Doubt it.", "advocate": "Defend it.", "expert": "Check it."}
KEY = "sk-test-secret-42"


def hold(server: Scripted, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Debate], Ledger]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
    settings = load_settings({"model": "openai/gpt-4o-mini", "cache": str(folder / "cache.sqlite"), "in_flight": 2})
    ledger = Ledger(folder / "calls.jsonl")

    async def go() -> list[Debate]:
        plan = await plan_panel(settings, tuple(TEXTS), make_items(2))
        async with open_panel(settings, plan, ledger, folder / "log", lambda text: None) as executor:
            return await executor.run([DebateJob(item, "cand", TEXTS) for item in make_items(2)])

    return asyncio.run(go()), ledger


def as_openai(body: dict[str, Any]) -> dict[str, Any]:
    return answer("yes") | {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "gpt-4o-mini",
        "system_fingerprint": "fp",
    }


def test_a_hosted_model_debates_with_its_price_and_its_key_stays_in_the_environment(
    server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fast_retries: list[float]
) -> None:
    faults = iter([(429, {"Retry-After": "3"}, "slow down " + KEY)])
    server.script = lambda body: next(faults, as_openai(body))
    debates, ledger = hold(server, tmp_path, monkeypatch)
    assert [debate.decision for debate in debates] == ["grounded", "grounded"]
    assert (ledger.counts["paid"], ledger.counts["failed"]) == (12, 0)
    assert ledger.cost > 0
    assert ledger.remarks["cost_usd"] > 0
    assert {body["model"] for body in server.requests} == {"gpt-4o-mini"}
    assert {(body["temperature"], body["top_p"], body["seed"]) for body in server.requests} == {(0.0, 1.0, 0)}
    ledger.close()
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    assert debates[0].turns[0].key == hold(server, tmp_path, monkeypatch)[0][0].turns[0].key


def test_a_refused_key_says_where_keys_come_from(server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script = lambda body: (401, {}, '{"error": {"message": "bad key ' + KEY + '"}}')
    with pytest.raises(UserError) as caught:
        hold(server, tmp_path, monkeypatch)
    assert "the key of openai in the environment" in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_unknown_provider_is_an_error_that_says_what_can_be_written() -> None:
    with pytest.raises(UsageError, match="'acme' is no provider"):
        hosted_endpoint("acme/model-1")
    assert hosted_endpoint("openai/gpt-4o-mini").context > 100_000

"""Shared fixtures: items, a scripted OpenAI-compatible server, and a cache folder of the test's own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from optimizer.data.item import Item, Label
from optimizer.models.lanes import Lane, Lanes


def make_items(count: int, cluster_size: int = 2) -> list[Item]:
    """Items with alternating labels; the label is readable from the claim, so that a script can answer right."""
    return [
        Item(
            id=f"item-{i}",
            claim=f"Claim number {i} is {'true' if i % 2 == 0 else 'false'}.",
            evidence=(f"Evidence for case {i // cluster_size}.",),
            label=Label.GROUNDED if i % 2 == 0 else Label.NOT_GROUNDED,
            cluster=f"cluster-{i // cluster_size}",
            rationale="It says so.",
        )
        for i in range(count)
    ]


def answer(verdict: str, confidence: int = 80) -> dict[str, Any]:
    """A chat completion with a JSON answer."""
    return completion(json.dumps({"verdict": verdict, "confidence": confidence}))


def completion(text: str, finish_reason: str = "stop") -> dict[str, Any]:
    """A chat completion as an OpenAI-compatible server sends it."""
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 60}},
    }


@dataclass
class Scripted:
    """A server whose answers a test writes: `script` gets the request body and returns a body, or (status, headers, text)."""

    script: Callable[[dict[str, Any]], Any] = field(default=lambda body: answer("yes"))
    requests: list[dict[str, Any]] = field(default_factory=list)
    base_url: str = ""
    at_once: int = 0
    most_at_once: int = 0

    async def chat(self, request: web.Request) -> web.Response:
        """Answer one request by the script."""
        body = await request.json()
        self.requests.append(body)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            result = self.script(body)
        finally:
            self.at_once -= 1
        if isinstance(result, tuple):
            status, headers, text = result
            return web.Response(status=status, headers=headers, text=text)
        return web.json_response(result)

    async def models(self, request: web.Request) -> web.Response:
        """List the one model."""
        return web.json_response({"object": "list", "data": [{"id": "scripted", "owned_by": "tests"}]})


@pytest.fixture
def server() -> Iterator[Scripted]:
    """A scripted server on a free loopback port, in a thread of its own."""
    scripted = Scripted()
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def start() -> web.AppRunner:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", scripted.chat)
        application.router.add_get("/v1/models", scripted.models)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        scripted.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    def serve() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert ready.wait(10)
    yield scripted
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


@pytest.fixture
def fast_retries(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No waiting between tries; the pauses that would have been made are collected."""
    pauses: list[float] = []
    real = Lanes._pause

    def collect(self: Lanes, lane: Lane, seconds: float) -> None:
        pauses.append(seconds)
        real(self, lane, 0.0)

    monkeypatch.setattr(Lanes, "_pause", collect)
    return pauses


def write_items(path: Any, items: list[Item]) -> None:
    """Items as JSONL in our own format."""
    lines = []
    for item in items:
        record = {
            "id": item.id,
            "claim": item.claim,
            "evidence": list(item.evidence),
            "label": item.label,
            "cluster": item.cluster,
            "rationale": item.rationale,
        }
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

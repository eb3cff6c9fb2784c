"""Shared fixtures: items, a scripted OpenAI-compatible server, and a cache folder of the test's own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@dataclass(frozen=True)
class Delayed:
    """Answer with `result` after so many seconds."""

    seconds: float
    result: Any


CUT = object()
"""The connection breaks in the middle of the answer."""


@dataclass
class Scripted:
    """A server whose answers a test writes, and which can die and come back.

    `script` gets the request body and returns a body, (status, headers, text), Delayed, or CUT.
    """

    script: Callable[[dict[str, Any]], Any] = field(default=lambda body: answer("yes"))
    requests: list[dict[str, Any]] = field(default_factory=list)
    base_url: str = ""
    at_once: int = 0
    most_at_once: int = 0
    name: str = "scripted"
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _runner: web.AppRunner | None = None
    _port: int = 0

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer one request by the script."""
        body = await request.json()
        self.requests.append(body)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            result = self.script(body)
            if isinstance(result, Delayed):
                await asyncio.sleep(result.seconds)
                result = result.result
        finally:
            self.at_once -= 1
        if result is CUT:
            response = web.StreamResponse(headers={"Content-Length": "1000"})
            await response.prepare(request)
            await response.write(b'{"choices": [')
            if request.transport is not None:
                request.transport.abort()
            return response
        if isinstance(result, tuple):
            status, headers, text = result
            return web.Response(status=status, headers=headers, text=text)
        return web.json_response(result)

    async def models(self, request: web.Request) -> web.Response:
        """List the one model."""
        return web.json_response({"object": "list", "data": [{"id": self.name, "owned_by": "tests"}]})

    def start(self) -> None:
        """Listen, on the same port as before if it listened before."""
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)

    def die(self) -> None:
        """Drop all connections and refuse new ones, until `start`."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)

    def die_soon(self) -> None:
        """The same from within the script."""
        self._loop.create_task(self._stop())

    async def _start(self) -> None:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self.chat)
        application.router.add_get("/v1/models", self.models)
        self._runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        self.base_url = f"http://127.0.0.1:{self._port}/v1"

    async def _stop(self) -> None:
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for site in list(runner.sites):
            await site.stop()
        for handler in list(runner.server.connections if runner.server else ()):
            if handler.transport is not None:
                handler.transport.abort()  # a killed process says no goodbye
        await runner.cleanup()


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def scripted() -> Iterator[Scripted]:
    """A scripted server on a free loopback port, in a thread of its own."""
    server = Scripted()
    thread = threading.Thread(target=server._loop.run_forever, daemon=True)
    thread.start()
    server.start()
    try:
        yield server
    finally:
        server.die()
        asyncio.run_coroutine_threadsafe(_cancel_all(), server._loop).result(10)
        server._loop.call_soon_threadsafe(server._loop.stop)
        thread.join(10)
        server._loop.close()


@pytest.fixture
def server() -> Iterator[Scripted]:
    """One scripted server."""
    with scripted() as found:
        yield found


@pytest.fixture
def replicas() -> Iterator[tuple[Scripted, Scripted]]:
    """Two scripted servers of the same model."""
    with scripted() as first, scripted() as second:
        yield first, second


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

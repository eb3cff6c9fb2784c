"""Client CPU a call at concurrency 64, as a ratio to raw aiohttp on the same server in the same run."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp

from optimizer.models.cache import ResponseCache
from optimizer.models.chat import CallTag, ChatRequest, Message, Sampling
from optimizer.models.client import ChatClient
from optimizer.models.endpoint import Endpoint
from optimizer.models.ledger import Ledger

CALLS, AT_ONCE = 4000, 64
MOST_TIMES_RAW = 3.0  # with cache and ledger

SERVER = textwrap.dedent(
    """
    from aiohttp import web
    BODY = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}], "usage": {}}
    async def chat(request):
        await request.read()
        return web.json_response(BODY)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    async def ready(app):
        print("ready", flush=True)
    app.on_startup.append(ready)
    web.run_app(app, host="127.0.0.1", port=8377, print=None)
    """
)


async def _all(one: Callable[[int], Awaitable[object]]) -> float:
    """CPU seconds a call for CALLS calls, AT_ONCE at a time."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def guarded(index: int) -> None:
        async with gate:
            await one(index)

    started = time.process_time()
    await asyncio.gather(*(guarded(index) for index in range(CALLS)))
    return (time.process_time() - started) / CALLS


async def raw(url: str) -> float:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(index: int) -> object:
            body = {"model": "m", "messages": [{"role": "user", "content": f"call {index}"}], "max_tokens": 8}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                return json.loads(await response.read())

        return await _all(one)


async def ours(url: str, folder: Path) -> float:
    ledger = Ledger(folder / "calls.jsonl")
    with ResponseCache(folder / "cache.sqlite") as cache:
        async with ChatClient(Endpoint(url, "m", "m"), cache, ledger, in_flight=AT_ONCE) as client:

            async def one(index: int) -> object:
                return await client.ask(
                    ChatRequest((Message("user", f"call {index}"),), Sampling(max_tokens=8)), CallTag("debate")
                )

            return await _all(one)


def test_client_cpu_with_cache_and_ledger_against_raw_aiohttp(tmp_path: Path) -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert server.stdout.readline().strip() == "ready"
        asyncio.run(asyncio.sleep(0.5))
        url = "http://127.0.0.1:8377/v1"
        asyncio.run(raw(url))  # warm up
        base, full = asyncio.run(raw(url)), asyncio.run(ours(url, tmp_path))
    finally:
        server.kill()
        server.wait()
    print(
        f"\nclient CPU a call, {CALLS} calls, {AT_ONCE} at once: "
        f"raw aiohttp {1e3 * base:.2f} ms, ours {1e3 * full:.2f} ms, ratio {full / base:.2f}"
    )
    assert full / base < MOST_TIMES_RAW

"""The client: CPU a call, and throughput on a server with latency, as ratios to raw aiohttp on the same server."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from optimizer.models.cache import ResponseCache
from optimizer.models.chat import CallTag, ChatRequest, Message, Sampling
from optimizer.models.client import ChatClient
from optimizer.models.endpoint import Endpoint
from optimizer.models.ledger import Ledger
from optimizer.models.transport import HttpTransport
from tests.benchmarks.servers import plain_server
from tests.benchmarks.table import record

AT_ONCE = 64
CALLS = 4_000
PEER_CALLS = 400  # the slow ones
MOST_TRANSPORT, MOST_FULL = 1.5, 3.0
LATENCY = 0.2

One = Callable[[int], Awaitable[object]]


async def many(one: One, calls: int, at_once: int) -> tuple[float, float]:
    """CPU and wall seconds a call for so many calls, so many at a time."""
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await one(number)

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    return (time.process_time() - cpu) / calls, (time.perf_counter() - wall) / calls


@asynccontextmanager
async def raw_calls(url: str) -> Any:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(number: int) -> object:
            body = {"model": "m", "messages": [{"role": "user", "content": f"call {number}"}], "max_tokens": 8}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                return json.loads(await response.read())

        yield one


def request(number: int) -> ChatRequest:
    return ChatRequest((Message("user", f"call {number}"),), Sampling(max_tokens=8))


@asynccontextmanager
async def transport_calls(url: str) -> Any:
    transport, endpoint = HttpTransport(60), Endpoint(url, "m", "m")
    await transport.open()
    yield lambda number: transport.attempt(endpoint, request(number))
    await transport.close()


@asynccontextmanager
async def client_calls(url: str, folder: Path, at_once: int = AT_ONCE) -> Any:
    with ResponseCache(folder / "cache.sqlite") as cache:
        async with ChatClient(Endpoint(url, "m", "m"), cache, Ledger(folder / "calls.jsonl"), in_flight=at_once) as client:
            yield lambda number: client.ask(request(number), CallTag("debate", item=str(number)))


@asynccontextmanager
async def openai_calls(url: str) -> Any:
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="none")
    yield lambda number: client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": f"call {number}"}], max_tokens=8
    )
    await client.close()


@asynccontextmanager
async def litellm_calls(url: str) -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    yield lambda number: litellm.acompletion(
        model="openai/m", api_base=url, api_key="none", messages=[{"role": "user", "content": f"call {number}"}], max_tokens=8
    )


@asynccontextmanager
async def dspy_calls(url: str) -> Any:
    import dspy

    lm = dspy.LM("openai/m", api_base=url, api_key="none", cache=False, max_tokens=8)
    yield lambda number: lm.acall(messages=[{"role": "user", "content": f"call {number}"}])


def measured(calls: Any, count: int, at_once: int = AT_ONCE) -> tuple[float, float]:
    async def go() -> tuple[float, float]:
        async with calls as one:
            await one(-1)  # connections, imports
            return await many(one, count, at_once)

    return asyncio.run(go())


def test_throughput_on_a_server_with_latency(tmp_path: Path) -> None:
    with plain_server(LATENCY) as url:
        for at_once in (1, 8, 64):
            calls = max(20, at_once * 8)
            (tmp_path / str(at_once)).mkdir()
            wall = measured(client_calls(url, tmp_path / str(at_once), at_once), calls, at_once)[1]
            share = (LATENCY / at_once) / wall
            record(
                f"throughput at 200 ms latency, {at_once} in flight",
                f"{1 / wall:.1f} calls a second",
                f"{share:.2f} of ideal",
                "≥ .9",
            )
            assert share >= 0.9
        calls, walls = 512 * 12, []
        for repeat in range(3):  # in turn, so that what else the machine does meets both
            raw = measured(raw_calls(url), calls, 512)[1]
            (tmp_path / f"512-{repeat}").mkdir()
            walls.append((raw, measured(client_calls(url, tmp_path / f"512-{repeat}", 512), calls, 512)[1]))
        raw, wall = (statistics.median(each) for each in zip(*walls, strict=True))
        record(
            "throughput at 200 ms latency, 512 in flight",
            f"{1 / wall:.0f} calls a second, raw aiohttp {1 / raw:.0f} (medians of 3)",
            f"{raw / wall:.2f} of raw aiohttp",
            "≥ .9",
        )
        assert raw / wall >= 0.9


# After the throughput, since litellm once imported slows down whatever runs in its process.
def test_cpu_a_call_against_raw_aiohttp(tmp_path: Path) -> None:
    with plain_server() as url:
        measured(raw_calls(url), CALLS)  # warm up
        base = measured(raw_calls(url), CALLS)[0]
        transport = measured(transport_calls(url), CALLS)[0]
        full = measured(client_calls(url, tmp_path), CALLS)[0]
        peers = {
            "openai": measured(openai_calls(url), PEER_CALLS)[0],
            "dspy.LM": measured(dspy_calls(url), PEER_CALLS)[0],
            "litellm": measured(litellm_calls(url), PEER_CALLS)[0],
        }
    what = f"CPU a call at {AT_ONCE} at once"
    record(f"{what}: transport", f"{1e3 * transport:.2f} ms, raw aiohttp {1e3 * base:.2f}", f"{transport / base:.2f}", "≤ 1.5")
    record(f"{what}: with cache and ledger", f"{1e3 * full:.2f} ms", f"{full / base:.2f}", "≤ 3")
    for name, cpu in peers.items():
        record(f"{what}: {name}", f"{1e3 * cpu:.2f} ms", f"{cpu / base:.2f}")
    assert transport / base <= MOST_TRANSPORT
    assert full / base <= MOST_FULL

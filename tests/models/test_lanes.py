"""Replicas: stickiness, limits that follow the server, fail-over, and what every kind of fault leaves behind."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from optimizer.models.cache import ResponseCache
from optimizer.models.chat import CallTag, ChatReply, ChatRequest, Message, Sampling
from optimizer.models.client import ChatClient
from optimizer.models.endpoint import Endpoint
from optimizer.models.lanes import Lane, Lanes
from optimizer.models.ledger import Ledger
from optimizer.models.transport import CallFailed
from tests.conftest import CUT, Delayed, Scripted, answer


def request(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),), Sampling())


def tag(item: str) -> CallTag:
    return CallTag("debate", "cand", item, "skeptic", 1)


def ask_all(
    servers: tuple[Scripted, ...],
    items: list[str],
    ledger: Ledger | None = None,
    cache: ResponseCache | None = None,
    **options: Any,
) -> list[ChatReply | BaseException]:
    """Three calls an item, all at once."""

    async def go() -> list[ChatReply | BaseException]:
        endpoints = [Endpoint(server.base_url, "scripted", "identity") for server in servers]
        kept = cache or ResponseCache(":memory:")
        async with ChatClient(endpoints, kept, ledger or Ledger(), **options) as client:
            calls = [client.ask(request(f"{item} {n}"), tag(item)) for item in items for n in range(3)]
            return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(go())


def items_of(server: Scripted) -> Counter[str]:
    return Counter(body["messages"][0]["content"].split()[0] for body in server.requests)


ITEMS = [f"i{n}" for n in range(40)]


def test_an_items_calls_stick_to_one_replica_and_items_are_spread(replicas: tuple[Scripted, Scripted]) -> None:
    replies = ask_all(replicas, ITEMS, in_flight=500)
    assert all(isinstance(reply, ChatReply) for reply in replies)
    first, second = (items_of(server) for server in replicas)
    assert not set(first) & set(second)
    assert min(len(first), len(second)) >= 8


def test_a_full_replica_passes_calls_on_to_the_other(replicas: tuple[Scripted, Scripted]) -> None:
    for server in replicas:
        server.script = lambda body: Delayed(0.02, answer("yes"))
    ask_all(replicas, ["one"] * 1, in_flight=1)
    assert all(server.requests for server in replicas)
    assert all(server.most_at_once == 1 for server in replicas)


def test_one_of_two_replicas_is_killed_and_every_call_is_answered_once(
    replicas: tuple[Scripted, Scripted], tmp_path: Path
) -> None:
    first, second = replicas
    second.script = lambda body: Delayed(0.05, answer("yes"))  # so that there is work left when the first is tried again

    def dying(body: dict[str, Any]) -> Any:
        number = next(calls)
        if number == 12:
            first.die_soon()
        return Delayed(0.05, answer("yes")) if number >= 12 else answer("yes")

    calls = itertools.count(1)

    first.script = dying
    ledger, heard = Ledger(tmp_path / "calls.jsonl"), []
    replies = ask_all(replicas, ITEMS, ledger, in_flight=4, report=heard.append)
    assert all(isinstance(reply, ChatReply) for reply in replies)
    assert (ledger.distinct, ledger.counts["paid"], ledger.counts["failed"]) == (120, 120, 0)
    assert 12 <= len(first.requests) < 120
    (told,) = heard
    assert told.startswith(f"{first.base_url} is lost after ")
    assert told.endswith("1 of 2 replicas go on")
    assert Ledger(tmp_path / "calls.jsonl").incidents == [told]


def test_a_replica_that_comes_back_is_used_again(replicas: tuple[Scripted, Scripted], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimizer.models.client._HEALTH_SECONDS", 0.02)
    first, second = replicas
    first.die()

    async def go() -> None:
        endpoints = [Endpoint(server.base_url, "scripted", "identity") for server in replicas]
        async with ChatClient(endpoints, ResponseCache(":memory:"), Ledger(), 2, report=heard.append) as client:
            await asyncio.gather(*(client.ask(request(f"{item} a"), tag(item)) for item in ITEMS))
            before = len(second.requests)
            assert before == 40
            await asyncio.to_thread(first.start)
            for _ in range(100):
                await asyncio.sleep(0.02)
                if len(heard) == 2:
                    break
            await asyncio.gather(*(client.ask(request(f"{item} b"), tag(item)) for item in ITEMS))

    heard: list[str] = []
    asyncio.run(go())
    assert [text.split(" ", 1)[1][:6] for text in heard] == ["is los", "answer"]
    assert len(first.requests) >= 8


@pytest.mark.parametrize(
    "fault", [CUT, (200, {}, "{oops"), (500, {}, "no"), (429, {}, "busy")], ids=["cut", "garbled", "500", "429"]
)
def test_a_passing_fault_costs_one_more_attempt_and_is_never_kept(
    server: Scripted, fast_retries: list[float], fault: Any
) -> None:
    faults = iter([fault])
    server.script = lambda body: next(faults, answer("no"))
    ledger, cache = Ledger(), ResponseCache(":memory:")
    replies = ask_all((server,), ["one"], ledger, cache)
    assert all(isinstance(reply, ChatReply) for reply in replies)
    assert (len(server.requests), ledger.counts["paid"], ledger.counts["failed"]) == (4, 3, 0)
    assert len(fast_retries) == 1
    assert all('"no"' in reply.text for reply in (cache.get(request(f"one {n}").key("identity")) for n in range(3)) if reply)


def test_a_hung_call_ends_at_its_limit_and_leaves_no_duplicate(server: Scripted, fast_retries: list[float]) -> None:
    server.script = lambda body: Delayed(0.5, answer("yes"))
    ledger = Ledger()
    replies = ask_all((server,), ["one"], ledger, timeout=0.05, attempts=2)
    assert all(isinstance(reply, CallFailed) for reply in replies)
    assert "TimeoutError" in str(replies[0])
    assert len(server.requests) == 6
    assert (ledger.counts["failed"], ledger.distinct) == (3, 0)


def test_a_429_halves_the_limit_heeds_the_server_and_success_lets_it_grow() -> None:
    async def go() -> None:
        lanes = Lanes([Endpoint("http://a", "m", "i")], 8, lambda text: None)
        lane = await lanes.take("x")
        lanes.busy(lane, 0.05)
        assert lane.limit == 4
        started = asyncio.get_running_loop().time()
        again = await lanes.take("x")
        assert asyncio.get_running_loop().time() - started >= 0.04
        lanes.ok(again)
        assert 4 < lane.limit <= 8
        for _ in range(100):
            lanes.ok(await lanes.take("x"))
        assert lane.limit == 8
        assert lane.under_way == 0

    asyncio.run(go())


def test_calls_that_fail_together_are_one_fault() -> None:
    async def go() -> None:
        lanes = Lanes([Endpoint(url, "m", "i") for url in ("http://a", "http://b")], 8, lambda text: None)
        taken = [lane for lane in [await lanes.take(str(n)) for n in range(16)] if lane is lanes.lanes[0]]
        for lane in taken:
            lanes.failed(lane, "HTTP 500")
        assert len(taken) > 3
        assert lanes.lanes[0].failed_in_a_row == 1
        assert not lanes.closed

    asyncio.run(go())


def test_those_who_wait_are_served_in_their_order_and_a_cancelled_one_takes_nothing() -> None:
    async def go() -> None:
        lanes = Lanes([Endpoint("http://a", "m", "i")], 1, lambda text: None)
        first = await lanes.take("x")
        served: list[int] = []

        async def wait(number: int) -> None:
            lane = await lanes.take("x")
            served.append(number)
            lanes.ok(lane)

        tasks = [asyncio.create_task(wait(number)) for number in range(4)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        lanes.ok(first)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert served == [0, 2, 3]
        assert lanes.lanes[0].under_way == 0

    asyncio.run(go())


def test_the_lane_that_failed_is_avoided_by_the_same_call() -> None:
    async def go() -> None:
        lanes = Lanes([Endpoint(url, "m", "i") for url in ("http://a", "http://b")], 4, lambda text: None)
        lane: Lane = await lanes.take("x")
        lanes.failed(lane, "HTTP 500")
        other = await lanes.take("x", lane)
        assert other is not lane

    asyncio.run(go())


def test_a_changed_fingerprint_raises_an_alarm(server: Scripted) -> None:
    server.script = lambda body: answer("yes") | {"system_fingerprint": "fp1" if len(server.requests) < 3 else "fp2"}
    ledger = Ledger()
    ask_all((server,), ["one", "two"], ledger, in_flight=1)
    assert ledger.incidents == ["scripted answers with another fingerprint: the model changed during the run"]

"""The client against a scripted server: retries, cache, single flight, failures, and what the ledger says of each."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.errors import UserError
from optimizer.models.cache import ResponseCache
from optimizer.models.chat import CallTag, ChatReply, ChatRequest, Message, Sampling
from optimizer.models.client import ChatClient, NotCached
from optimizer.models.endpoint import Endpoint, describe_endpoint
from optimizer.models.ledger import Ledger
from optimizer.models.transport import CallFailed
from tests.conftest import Scripted, answer, completion

TAG = CallTag("debate", "cand", "item", "skeptic", 1)


def request(text: str = "hello", sample: int = 0, schema: str = "") -> ChatRequest:
    return ChatRequest((Message("user", text),), Sampling(), schema, sample)


def run(server: Scripted, requests: list[ChatRequest], ledger: Ledger, cache: ResponseCache, **options: Any) -> list[Any]:
    async def go() -> list[Any]:
        endpoint = Endpoint(server.base_url, "scripted", "identity", **options.pop("endpoint", {}))
        async with ChatClient(endpoint, cache, ledger, **options) as client:
            return await asyncio.gather(*(client.ask(one, TAG) for one in requests), return_exceptions=True)

    return asyncio.run(go())


def test_every_sampling_parameter_is_sent(server: Scripted) -> None:
    run(server, [request(schema='{"type": "object"}')], Ledger(), ResponseCache(":memory:"), endpoint={"engine": "llama.cpp"})
    body = server.requests[0]
    assert {"temperature", "top_p", "top_k", "min_p", "max_tokens", "seed", "presence_penalty", "frequency_penalty"} <= set(body)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_plain_server_gets_only_standard_parameters(server: Scripted) -> None:
    run(server, [request(schema="{}")], Ledger(), ResponseCache(":memory:"), endpoint={"schema_support": False})
    assert not {"top_k", "min_p", "response_format"} & set(server.requests[0])


def test_an_answer_is_paid_once_and_then_comes_from_the_cache(server: Scripted, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "calls.jsonl")
    with ResponseCache(tmp_path / "cache.sqlite") as cache:
        run(server, [request()], ledger, cache)
    with ResponseCache(tmp_path / "cache.sqlite") as cache:
        reply = run(server, [request()], ledger, cache)[0]
    assert len(server.requests) == 1
    assert json.loads(reply.text)["verdict"] == "yes"
    assert (ledger.counts["calls"], ledger.counts["paid"], ledger.counts["hits"], ledger.distinct) == (2, 1, 1, 1)
    assert ledger.counts["prompt_tokens"] == 100
    assert ledger.counts["cached_tokens"] == 60
    lines = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert [line["paid"] for line in lines] == [True, False]


def test_equal_requests_in_flight_share_one_call_and_samples_do_not(server: Scripted) -> None:
    ledger = Ledger()
    run(server, [request(), request(), request(sample=1)], ledger, ResponseCache(":memory:"))
    assert len(server.requests) == 2
    assert ledger.distinct == 2


def test_the_key_names_model_messages_parameters_schema_and_sample() -> None:
    base = request()
    others = [
        request("other"),
        request(sample=1),
        request(schema="{}"),
        ChatRequest(base.messages, Sampling(temperature=0.5)),
        ChatRequest(base.messages, Sampling(seed=1)),
    ]
    keys = {one.key("m") for one in [base, *others]} | {base.key("another model")}
    assert len(keys) == 7


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_tried_again(server: Scripted, fast_retries: list[float], status: int) -> None:
    server.script = lambda body: (status, {}, "busy") if len(server.requests) < 3 else answer("no")
    ledger = Ledger()
    reply = run(server, [request()], ledger, ResponseCache(":memory:"))[0]
    assert isinstance(reply, ChatReply)
    assert len(server.requests) == 3
    assert ledger.counts["paid"] == 1


def test_retry_after_is_heeded(server: Scripted, fast_retries: list[float]) -> None:
    server.script = lambda body: (429, {"Retry-After": "7"}, "") if len(server.requests) == 1 else answer("no")
    run(server, [request()], Ledger(), ResponseCache(":memory:"))
    assert max(fast_retries) == 7


@pytest.mark.parametrize("body", ["{oops", "[]", '{"choices": []}', '{"error": "overloaded"}'])
def test_a_garbled_answer_is_failed_and_never_cached(server: Scripted, fast_retries: list[float], body: str) -> None:
    server.script = lambda _: (200, {}, body)
    ledger, cache = Ledger(), ResponseCache(":memory:")
    failure = run(server, [request()], ledger, cache, attempts=2)[0]
    assert isinstance(failure, CallFailed)
    assert cache.get(request().key("identity")) is None
    assert (ledger.counts["failed"], ledger.counts["calls"], ledger.distinct) == (1, 0, 0)


def test_a_refused_request_is_not_tried_again(server: Scripted) -> None:
    server.script = lambda body: (400, {}, "context length exceeded")
    failure = run(server, [request()], Ledger(), ResponseCache(":memory:"))[0]
    assert "context length exceeded" in str(failure)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "what"), [(401, "key refused"), (403, "key refused"), (404, "no model")])
def test_a_wrong_key_or_model_ends_the_run(server: Scripted, status: int, what: str) -> None:
    server.script = lambda body: (status, {}, "")
    assert what in str(run(server, [request()], Ledger(), ResponseCache(":memory:"))[0])


def test_an_answer_stopped_by_a_content_filter_is_not_cached(server: Scripted) -> None:
    server.script = lambda body: completion("", "content_filter")
    cache = ResponseCache(":memory:")
    reply = run(server, [request()], Ledger(), cache)[0]
    assert reply.finish_reason == "content_filter"
    assert cache.get(request().key("identity")) is None


def test_calls_that_fail_in_a_row_end_the_run_with_the_reason(server: Scripted, fast_retries: list[float]) -> None:
    server.script = lambda body: (500, {}, "")
    failures = run(server, [request(str(i)) for i in range(5)], Ledger(), ResponseCache(":memory:"), attempts=1, patience=3)
    ended = [failure for failure in failures if isinstance(failure, UserError)]
    assert ended
    assert "3 calls in a row failed, the last with HTTP 500" in str(ended[0])


def test_a_key_in_a_servers_message_is_not_repeated(server: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPTIMIZER_API_KEY", "sk-secret-123")
    server.script = lambda body: (400, {}, "bad request with key sk-secret-123")
    failure = run(server, [request()], Ledger(tmp_path / "calls.jsonl"), ResponseCache(tmp_path / "c.sqlite"))[0]
    assert "sk-secret" not in str(failure)
    assert all(b"sk-secret" not in path.read_bytes() for path in tmp_path.iterdir())


def test_no_more_calls_than_allowed_are_in_flight(server: Scripted) -> None:
    run(server, [request(str(i)) for i in range(20)], Ledger(), ResponseCache(":memory:"), in_flight=3)
    assert server.most_at_once <= 3


def test_an_offline_client_only_reads_its_cache(server: Scripted) -> None:
    assert isinstance(run(server, [request()], Ledger(), ResponseCache(":memory:"), offline=True)[0], NotCached)
    assert not server.requests


def test_an_endpoint_is_described_or_refused(server: Scripted) -> None:
    found = asyncio.run(describe_endpoint(server.base_url.removesuffix("/v1")))
    assert (found.model, found.engine, found.base_url) == ("scripted", "other", server.base_url)
    assert server.base_url not in found.identity
    for url, model, message in [
        (server.base_url, "other", "does not serve 'other'; it serves scripted"),
        ("http://127.0.0.1:9", "", "no answer"),
        ("localhost:80", "", "is no URL"),
    ]:
        with pytest.raises(UserError, match=message):
            asyncio.run(describe_endpoint(url, model))


def test_a_broken_cache_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.sqlite").write_text("this is no database, but it is long enough to be looked at" * 20)
    with pytest.raises(UserError, match=r"c\.sqlite: cannot be used as response cache"):
        ResponseCache(tmp_path / "c.sqlite")


def test_the_cache_tells_prunes_and_verifies(tmp_path: Path) -> None:
    with ResponseCache(tmp_path / "c.sqlite") as cache:
        for number in range(6):
            cache.put(f"key{number}", "model-a" if number < 4 else "model-b", ChatReply(f"text {number}", "stop"))
        assert [(each.model, each.answers) for each in cache.models()] == [("model-a", 4), ("model-b", 2)]
        assert cache.verify() == []
        assert cache.prune("model-a", keep=1) == 3
        assert cache.get("key3") is not None
        assert cache.prune("model-b") == 2
        assert [each.model for each in cache.models()] == ["model-a"]
        with pytest.raises(ValueError, match="name a model"):
            cache.prune()
        cache._db.execute("UPDATE replies SET reply = '{}'")
        assert len(cache.verify()) == 1


def test_two_processes_may_write_the_same_cache(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from optimizer.models.cache import ResponseCache; from optimizer.models.chat import ChatReply\n"
        "cache = ResponseCache(sys.argv[1])\n"
        "for n in range(200): cache.put(f'{n}', 'm', ChatReply(sys.argv[2], 'stop'))\n"
    )
    path = str(tmp_path / "c.sqlite")
    writers = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in ("first", "second")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with ResponseCache(path) as cache:
        assert cache.models()[0].answers == 200
        assert cache.verify() == []


def test_a_cache_that_many_make_at_once_is_made(tmp_path: Path) -> None:
    """SQLite reports a lock at once, without waiting, where two switch a new file to its write-ahead log."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    barrier = Barrier(6)

    def open_at_once(number: int) -> None:
        for attempt in range(20):
            barrier.wait(20)
            ResponseCache(tmp_path / f"{attempt}.sqlite").close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(open_at_once, range(6)))


def test_answers_of_one_turn_are_written_together_and_a_full_disk_is_told(tmp_path: Path) -> None:
    async def go(cache: ResponseCache) -> None:
        for number in range(5):
            cache.put(f"key{number}", "m", ChatReply("text", "stop"))
        assert cache.get("key4") == ChatReply("text", "stop")
        assert cache.models() == []  # not written yet
        await asyncio.sleep(0)
        assert cache.models()[0].answers == 5
        cache._db.execute("PRAGMA max_page_count = 1")
        cache.put("large", "m", ChatReply("x" * 100_000, "stop"))
        await asyncio.sleep(0)
        with pytest.raises(UserError, match="cannot be written"):
            cache.put("next", "m", ChatReply("text", "stop"))

    with ResponseCache(tmp_path / "c.sqlite") as cache:
        asyncio.run(go(cache))
        assert cache.models()[0].answers == 5
        cache._pending["large"] = ("m", ChatReply("x" * 100_000, "stop"))
        with pytest.raises(UserError, match="cannot be written"):
            cache.close()

"""The executor: debates a minute against a bare loop, what sharing saves, and memory over 100,000 debates."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import aiohttp

from optimizer.data.item import Item
from optimizer.data.loaders import load_items
from optimizer.data.shipped import data_path
from optimizer.data.splits import spread
from optimizer.debate.executor import DebateExecutor, DebateJob
from optimizer.debate.protocol import Protocol
from optimizer.models.cache import ResponseCache
from optimizer.models.catalogue import embedded_model
from optimizer.models.chat import CallTag, ChatReply, ChatRequest
from optimizer.models.client import ChatClient
from optimizer.models.endpoint import Endpoint
from optimizer.models.fetch import ensure_model
from optimizer.models.ledger import Ledger
from optimizer.models.llama_server import LlamaServer
from optimizer.models.transport import _body
from optimizer.prompts.library import load_library
from tests.benchmarks.servers import plain_server
from tests.benchmarks.table import record

MODEL = "smollm2-135m"
SLOTS = 4


def items(count: int) -> list[Item]:
    return spread(load_items(data_path("starter")), 0, count)


class Recorder(ChatClient):
    """A client that remembers each debate's requests in their order."""

    seen: dict[str, list[dict[str, object]]]

    async def ask(self, request: ChatRequest, tag: CallTag) -> ChatReply:
        self.seen.setdefault(tag.item, []).append(_body(self.endpoint, request))
        return await super().ask(request, tag)


def test_debates_a_minute_against_a_bare_loop_on_the_real_server(tmp_path: Path) -> None:
    chosen, texts = items(24), load_library().seeds
    path = ensure_model(embedded_model(MODEL), print)
    with LlamaServer(path, MODEL, tmp_path / "log", SLOTS, 2048) as server:
        endpoint = Endpoint(server.base_url, MODEL, "m", "llama.cpp", SLOTS, 2048)

        async def held() -> tuple[float, dict[str, list[dict[str, object]]]]:
            with ResponseCache(":memory:") as cache:
                async with Recorder(endpoint, cache, Ledger(tmp_path / f"{time.time_ns()}.jsonl"), 32) as client:
                    client.seen = {}
                    started = time.perf_counter()
                    await DebateExecutor(client, Protocol(), SLOTS).run([DebateJob(item, "c", texts) for item in chosen])
                    return time.perf_counter() - started, client.seen

        async def bare(debates: list[list[dict[str, object]]]) -> float:
            waiting = iter(debates)
            async with aiohttp.ClientSession() as session:

                async def worker() -> None:
                    for bodies in waiting:
                        for body in bodies:
                            async with session.post(f"{server.base_url}/chat/completions", json=body) as response:
                                json.loads(await response.read())

                started = time.perf_counter()
                await asyncio.gather(*(worker() for _ in range(SLOTS)))
                return time.perf_counter() - started

        _, bodies = asyncio.run(held())  # warm up; the requests are the same every time
        ours, theirs = [], []
        for _ in range(2):
            theirs.append(asyncio.run(bare(list(bodies.values()))))
            ours.append(asyncio.run(held())[0])
    ratio = min(theirs) / min(ours)
    record(
        f"debates a minute, {MODEL}, {len(chosen)} debates, {SLOTS} in flight",
        f"{60 * len(chosen) / min(ours):.1f}, bare loop {60 * len(chosen) / min(theirs):.1f}",
        f"{ratio:.2f}",
        "≥ .95",
    )
    assert ratio >= 0.95


def test_what_a_sweep_of_one_persona_saves(tmp_path: Path) -> None:
    chosen, library = items(8), load_library()
    path = ensure_model(embedded_model(MODEL), print)
    panels = [library.seeds] + [{**library.seeds, "expert": each.text} for each in library.alternatives["expert"][:4]]

    def computed(shared: bool, position: str) -> tuple[int, int]:
        """Calls paid, and prompt tokens that the server really computed."""
        ledger = Ledger()
        with LlamaServer(path, MODEL, tmp_path / "log", SLOTS, 2048) as server:
            endpoint = Endpoint(server.base_url, MODEL, "m", "llama.cpp", SLOTS, 2048)

            async def go() -> None:
                for number, texts in enumerate(panels):
                    with ResponseCache(tmp_path / f"{position}-{shared}-{0 if shared else number}.sqlite") as cache:
                        async with ChatClient(endpoint, cache, ledger, 32) as client:
                            protocol = Protocol(persona_position=position)  # type: ignore[arg-type]
                            jobs = [DebateJob(item, str(number), texts) for item in chosen]
                            await DebateExecutor(client, protocol, SLOTS).run(jobs)

            asyncio.run(go())
        return ledger.counts["paid"], ledger.counts["prompt_tokens"] - ledger.counts["cached_tokens"]

    ours, scratch, first = computed(True, "last"), computed(False, "last"), computed(False, "system")
    what = f"sweep of {len(panels)} expert prompts over {len(chosen)} items"
    record(f"{what}: calls", f"{ours[0]}, from scratch {scratch[0]}", f"{ours[0] / scratch[0]:.2f}")
    record(f"{what}: prompt tokens computed", f"{ours[1]}, from scratch {scratch[1]}", f"{ours[1] / scratch[1]:.2f}")
    record(f"{what}: prompt tokens against persona first, from scratch", f"{ours[1]}, {first[1]}", f"{ours[1] / first[1]:.2f}")
    assert ours[0] < scratch[0]
    assert ours[1] < scratch[1] < first[1]


STREAM = textwrap.dedent(
    """
    import asyncio, json, resource, sys
    from pathlib import Path
    from optimizer.config import load_settings
    from optimizer.search.score import evaluate_panel
    settings = load_settings(json.loads(sys.argv[1]))
    run = asyncio.run(evaluate_panel(settings))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"peak": peak, "items": run.summary()["arms"][0]["accuracy"]["items"]}))
    """
)


def test_memory_stays_flat_over_100_000_debates(tmp_path: Path) -> None:
    count = 100_000
    with (tmp_path / "items.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            row = {
                "id": str(number),
                "claim": f"Claim {number}.",
                "evidence": [f"Evidence {number}."],
                "label": "yes" if number % 2 else "no",
            }
            file.write(json.dumps(row) + "\n")
    with plain_server() as url:
        settings = {
            "base_url": url, "data": str(tmp_path / "items.jsonl"), "runs": str(tmp_path / "runs"),
            "cache": str(tmp_path / "cache.sqlite"), "in_flight": 64, "protocol.rounds": 1,
        }  # fmt: skip
        started = time.perf_counter()
        result = subprocess.run([sys.executable, "-c", STREAM, json.dumps(settings)], capture_output=True, text=True)
        seconds = time.perf_counter() - started
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["items"] == count
    record(
        f"memory over {count} debates of one round",
        f"{told['peak']:.0f} MB peak, {seconds:.0f} s",
        f"{told['peak'] / 1024:.2f} of 1 GB",
        "≤ 1",
    )
    assert told["peak"] <= 1024

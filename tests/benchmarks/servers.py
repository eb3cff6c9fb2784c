"""A plain server in a process of its own, so that its work is not counted as the client's."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

_SERVER = textwrap.dedent(
    """
    import asyncio, sys
    from aiohttp import web
    BODY = {
        "id": "x", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": '{"verdict": "yes", "confidence": 80}'},
                     "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    LATENCY = float(sys.argv[1])
    async def chat(request):
        await request.read()
        if LATENCY:
            await asyncio.sleep(LATENCY)
        return web.json_response(BODY)
    async def models(request):
        return web.json_response({"data": [{"id": "m", "owned_by": "bench"}]})
    async def main():
        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_get("/v1/models", models)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
        await site.start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()
    asyncio.run(main())
    """
)


@contextmanager
def plain_server(latency: float = 0.0) -> Iterator[str]:
    """The base URL of a server that answers every call alike, after `latency` seconds."""
    process = subprocess.Popen([sys.executable, "-c", _SERVER, str(latency)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()

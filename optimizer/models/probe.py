"""Small requests that find out what a server can do. They are never cached: they ask about the server, not the model."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, replace
from typing import Any

import aiohttp

from optimizer.models.endpoint import Endpoint

_SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}
_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a server was seen to do. Speeds are 0 and texts empty where it did not say."""

    schema: bool
    log_probabilities: bool
    cached_tokens: bool
    seconds_a_call: float
    generated_a_second: float
    problem: str = ""


async def probe(endpoint: Endpoint) -> Capabilities:
    """Try structured output, log-probabilities, cached-token reporting and speed with five short calls."""
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, headers=endpoint.headers) as session:
        plain, problem = await _ask(session, endpoint, "Say yes.", 4)
        if plain is None:
            return Capabilities(False, False, False, 0.0, 0.0, problem)
        schema = await _supports_schema(session, endpoint)
        with_logs, _ = await _ask(session, endpoint, "Say yes.", 2, logprobs=True, top_logprobs=2)
        prefix = "The sky over the harbour was grey that morning. " * 12
        await _ask(session, endpoint, prefix + "Say yes.", 2)
        started = time.monotonic()
        again, _ = await _ask(session, endpoint, prefix + "Count from one to twenty in words.", 48)
        seconds = time.monotonic() - started
    return Capabilities(
        schema=schema,
        log_probabilities=bool(with_logs and ((with_logs["choices"][0].get("logprobs") or {}).get("content"))),
        cached_tokens=bool(((again or {}).get("usage", {}).get("prompt_tokens_details") or {}).get("cached_tokens")),
        seconds_a_call=seconds,
        generated_a_second=((again or {}).get("usage", {}).get("completion_tokens") or 0) / seconds,
    )


async def with_schema_support(endpoint: Endpoint) -> Endpoint:
    """The endpoint with schema_support as the server answers. Without it, answers are read by the tolerant parser alone."""
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, headers=endpoint.headers) as session:
        if await _supports_schema(session, endpoint):
            return endpoint
    return replace(endpoint, schema_support=False, identity=endpoint.identity + ":no-schema")


async def _supports_schema(session: aiohttp.ClientSession, endpoint: Endpoint) -> bool:
    response_format = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": _SCHEMA}}
    body, _ = await _ask(session, endpoint, "Is water wet?", 24, response_format=response_format)
    try:
        return json.loads(body["choices"][0]["message"]["content"])["verdict"] in ("yes", "no") if body else False
    except (ValueError, KeyError, TypeError, IndexError):
        return False


async def _ask(
    session: aiohttp.ClientSession, endpoint: Endpoint, text: str, max_tokens: int, **more: Any
) -> tuple[dict[str, Any] | None, str]:
    body = {
        "model": endpoint.model,
        "messages": [{"role": "user", "content": text}],
        "temperature": 0.0,
        "max_tokens": max_tokens,
        "seed": 0,
        **more,
    }
    for pause in (1.0, 4.0, 0.0):
        try:
            async with session.post(f"{endpoint.base_url}/chat/completions", json=body) as response:
                if response.status == 200:
                    answer = await response.json(content_type=None)
                    if isinstance(answer, dict) and answer.get("choices"):
                        return answer, ""
                    return None, "the answer is no chat completion"
                problem = f"HTTP {response.status}: {(await response.text())[:160]}"
                if response.status < 429:
                    return None, problem
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            problem = f"no answer ({type(error).__name__})"
        await asyncio.sleep(pause)
    return None, problem

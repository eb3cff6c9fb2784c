"""The chat client: one aiohttp transport for any OpenAI-compatible endpoint, with time-outs, retries, cache and ledger."""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import aiohttp

from optimizer.errors import UserError
from optimizer.models.cache import ResponseCache
from optimizer.models.chat import CallTag, ChatReply, ChatRequest, reply_from_body
from optimizer.models.endpoint import API_KEY_VARIABLE, Endpoint
from optimizer.models.ledger import Ledger

_RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0


class CallFailed(Exception):
    """A call got no usable answer after all its attempts. The debate that needed it is failed, and owed on resume."""


class _Again(Exception):
    """This attempt failed in a way that another may not. `wait` is what the server asked for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.wait = reason, wait


class NotCached(Exception):
    """Raised instead of a call by a client that only reads its cache."""


class ChatClient:
    """Answers chat requests: from the cache, from a call already under way, or from the server, in that order.

    Used as an async context manager; one event loop at a time. Equal requests in flight share one call.

    Args:
        endpoint: the server and model.
        cache: where answers are kept.
        ledger: where calls are counted.
        in_flight: how many calls may be under way at once.
        timeout: seconds that one attempt may take.
        attempts: how often a call is tried before it is failed.
        patience: after so many failed calls in a row the run ends, since the endpoint is gone.
        offline: never call; raise NotCached for what is not in the cache.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cache: ResponseCache,
        ledger: Ledger,
        in_flight: int = 8,
        timeout: float = 600.0,
        attempts: int = 5,
        patience: int = 24,
        offline: bool = False,
    ) -> None:
        self.endpoint, self.cache, self.ledger = endpoint, cache, ledger
        self._timeout, self._attempts, self._patience, self._offline = timeout, attempts, patience, offline
        self._gate = asyncio.Semaphore(in_flight)
        self._under_way: dict[str, asyncio.Task[ChatReply]] = {}
        self._failed_in_a_row = 0
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> ChatClient:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=self._timeout, connect=30),
            connector=aiohttp.TCPConnector(limit=0),
            headers=self.endpoint.headers,
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def key(self, request: ChatRequest) -> str:
        """The request's identity with this endpoint's model."""
        return request.key(self.endpoint.identity)

    async def ask(self, request: ChatRequest, tag: CallTag) -> ChatReply:
        """The answer to a request.

        Raises:
            CallFailed: no answer after all attempts.
            UserError: the endpoint is gone, or refuses the key or the model.
            NotCached: only when offline.
        """
        key = self.key(request)
        stored = self.cache.get(key)
        if stored is not None:
            self.ledger.record(key, tag, stored, paid=False)
            return stored
        if self._offline:
            raise NotCached(key)
        task = self._under_way.get(key)
        if task is not None:
            reply = await asyncio.shield(task)
            self.ledger.record(key, tag, reply, paid=False)
            return reply
        task = asyncio.create_task(self._fetch(key, request, tag))
        self._under_way[key] = task
        try:
            return await task
        finally:
            self._under_way.pop(key, None)

    async def _fetch(self, key: str, request: ChatRequest, tag: CallTag) -> ChatReply:
        """Try until there is an answer, and write it to cache and ledger."""
        body = self._body(request)
        async with self._gate:
            for attempt in range(1, self._attempts + 1):
                try:
                    reply = await self._attempt(body)
                except _Again as again:
                    reason = again.reason
                    if attempt < self._attempts:
                        await asyncio.sleep(_pause(attempt, again.wait))
                except CallFailed as failure:
                    reason = str(failure)
                    break
                else:
                    self._failed_in_a_row = 0
                    self.cache.put(key, self.endpoint.identity, reply)
                    self.ledger.record(key, tag, reply, paid=True, attempts=attempt)
                    return reply
        reason = self._clean(reason)
        self.ledger.record_failure(key, tag, reason, attempt)
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._patience:
            raise UserError(
                f"{self.endpoint.base_url}: {self._failed_in_a_row} calls in a row failed, the last with {reason}; "
                "check the server, then run the same command again to go on"
            )
        raise CallFailed(reason)

    async def _attempt(self, body: dict[str, Any]) -> ChatReply:
        """One request. Raises _Again where another try may help, CallFailed where it cannot, UserError for the user."""
        if self._session is None:
            raise RuntimeError("ChatClient is used outside its async with block")
        started = time.monotonic()
        try:
            async with self._session.post(f"{self.endpoint.base_url}/chat/completions", json=body) as response:
                raw = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _Again(f"{type(error).__name__}: {error}".rstrip(": ")) from error
        if response.status == 200:
            try:
                return reply_from_body(json.loads(raw), time.monotonic() - started)
            except ValueError as error:
                raise _Again(f"garbled answer: {error}") from error
        if response.status in _RETRIED_STATUS:
            raise _Again(f"HTTP {response.status}", _retry_after(response.headers.get("Retry-After")))
        if response.status in (401, 403):
            raise UserError(f"{self.endpoint.base_url}: key refused (HTTP {response.status}); set {API_KEY_VARIABLE}")
        if response.status == 404:
            raise UserError(f"{self.endpoint.base_url}: no model {self.endpoint.model!r} there (HTTP 404); check --model")
        raise CallFailed(f"HTTP {response.status}: {raw[:300].decode('utf-8', errors='replace')}")

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        sampling = request.sampling
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
        }
        if self.endpoint.engine in ("llama.cpp", "vllm"):  # not part of the standard, and not neutral by default
            body |= {"top_k": 0, "min_p": 0.0}
        if request.schema and self.endpoint.schema_support:
            schema = {"name": "answer", "strict": True, "schema": json.loads(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _clean(self, text: str) -> str:
        """A reason fit for a log: one line, and without the key, which some servers echo."""
        text = " ".join(text.split())[:200]
        return text.replace(self.endpoint.api_key, "***") if self.endpoint.api_key else text


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number or an HTTP date; None where it says neither."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (email.utils.parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _pause(attempt: int, asked: float | None) -> float:
    """Exponential backoff with jitter, but never shorter than the server asked for (within reason)."""
    own = _FIRST_PAUSE * 2.0 ** (attempt - 1) * random.uniform(0.75, 1.25)
    return min(_LONGEST_PAUSE, max(own, asked or 0.0))

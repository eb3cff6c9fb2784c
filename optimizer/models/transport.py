"""How one attempt of a call is made: over HTTP to an OpenAI-compatible server, or through litellm to a hosted provider."""

from __future__ import annotations

import email.utils
import json
import os
import time
from datetime import UTC, datetime
from typing import Any, Protocol

import aiohttp

from optimizer.errors import UserError
from optimizer.models.chat import ChatReply, ChatRequest, reply_from_body
from optimizer.models.endpoint import Endpoint

_RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_BUSY = 429


class CallFailed(Exception):
    """A call got no usable answer after all its attempts. The debate that needed it is failed, and owed on resume."""


class TryAgain(Exception):
    """This attempt failed in a way that another may not.

    `wait` is what the server asked for, in seconds; `busy` says that it has too much to do, and is not at fault; `gone` that
    nothing listens there.
    """

    def __init__(self, reason: str, wait: float | None = None, busy: bool = False, gone: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.wait, self.busy, self.gone = reason, wait, busy, gone


class Transport(Protocol):
    """Makes single attempts. Opened before the first, closed after the last."""

    async def open(self) -> None:
        """Get ready."""

    async def close(self) -> None:
        """Let go of connections."""

    async def attempt(self, endpoint: Endpoint, request: ChatRequest) -> ChatReply:
        """One attempt.

        Raises:
            TryAgain: another attempt may help.
            CallFailed: none can.
            UserError: the user has to mend something: the key, the model.
        """


class HttpTransport:
    """One aiohttp session for all replicas.

    Args:
        timeout: seconds that one attempt may take, connecting included.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self._headers: dict[str, dict[str, str]] = {}  # by base URL: reading the environment costs as much as the JSON

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=self._timeout, connect=30), connector=aiohttp.TCPConnector(limit=0)
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def attempt(self, endpoint: Endpoint, request: ChatRequest) -> ChatReply:
        if self._session is None:
            raise RuntimeError("a transport is used before it is opened: enter the client with async with")
        started = time.monotonic()
        url = f"{endpoint.base_url}/chat/completions"
        headers = self._headers.get(endpoint.base_url)
        if headers is None:
            headers = self._headers[endpoint.base_url] = endpoint.headers
        try:
            async with self._session.post(url, json=_body(endpoint, request), headers=headers) as response:
                raw = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            gone = isinstance(error, aiohttp.ClientConnectorError)
            raise TryAgain(f"{type(error).__name__}: {error}".rstrip(": "), gone=gone) from error
        if response.status == 200:
            try:
                return reply_from_body(json.loads(raw), time.monotonic() - started)
            except ValueError as error:
                raise TryAgain(f"garbled answer: {error}") from error
        text = raw[:300].decode("utf-8", errors="replace")
        raise _of_status(response.status, text, response.headers.get("Retry-After"), endpoint)

    async def answers(self, endpoint: Endpoint) -> bool:
        """Whether a replica answers at all."""
        if self._session is None:
            return False
        try:
            timeout = aiohttp.ClientTimeout(total=5)
            async with self._session.get(f"{endpoint.base_url}/models", headers=endpoint.headers, timeout=timeout) as response:
                return response.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False


class LitellmTransport:
    """Hosted providers by litellm's names (openai/…, anthropic/…); keys come from the environment, as litellm reads them.

    Args:
        timeout: seconds that one attempt may take.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout

    async def open(self) -> None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch its price table otherwise
        import litellm

        litellm.suppress_debug_info = True
        litellm.telemetry = False

    async def close(self) -> None:
        return

    async def attempt(self, endpoint: Endpoint, request: ChatRequest) -> ChatReply:
        import litellm

        started = time.monotonic()
        body = _body(endpoint, request)
        try:
            response = await litellm.acompletion(**body, timeout=self._timeout, num_retries=0, max_retries=0, drop_params=True)
        except Exception as error:  # noqa: BLE001 - providers raise what they like; the status decides
            raise _of_provider(error, endpoint) from None  # its own message may quote the request, key included
        reply = reply_from_body(response.model_dump(), time.monotonic() - started)
        return reply.with_cost(_cost(litellm, response))


def _body(endpoint: Endpoint, request: ChatRequest) -> dict[str, Any]:
    """The request as it is sent: every sampling parameter is named, so that a server's own defaults never decide."""
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
    }
    if endpoint.engine in ("llama.cpp", "vllm"):  # not part of the standard, and not neutral by default
        body |= {"top_k": 0, "min_p": 0.0}
    if request.schema and endpoint.schema_support:
        schema = {"name": "answer", "strict": True, "schema": json.loads(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _of_status(status: int, text: str, retry_after: str | None, endpoint: Endpoint) -> Exception:
    """What an HTTP status other than 200 means."""
    where = endpoint.base_url or endpoint.model
    if status in _RETRIED_STATUS:
        return TryAgain(f"HTTP {status}", _seconds(retry_after), busy=status == _BUSY)
    if status in (401, 403):
        return UserError(f"{where}: key refused (HTTP {status}); set {endpoint.key_variable}")
    if status == 404:
        return UserError(f"{where}: no model {endpoint.model!r} there (HTTP 404); check --model")
    return CallFailed(f"HTTP {status}: {text}")


def _of_provider(error: Exception, endpoint: Endpoint) -> Exception:
    """What an exception of litellm means: by its status where it has one."""
    status = getattr(error, "status_code", None)
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    if isinstance(status, int) and status != 200:
        return _of_status(status, f"{type(error).__name__} from {endpoint.model}", headers.get("retry-after"), endpoint)
    return TryAgain(type(error).__name__)


def _cost(litellm: Any, response: Any) -> float:
    """What the call cost in US dollars by litellm's price table; 0.0 where it has no price."""
    try:
        return float(litellm.completion_cost(completion_response=response) or 0.0)
    except Exception:  # noqa: BLE001 - an unknown model has no price, and that is no fault of the call
        return 0.0


def _seconds(value: str | None) -> float | None:
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

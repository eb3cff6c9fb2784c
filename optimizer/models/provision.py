"""Gives a command its endpoint: the embedded model on a server of our own, or a server that is running already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from optimizer.config import Settings
from optimizer.errors import UserError
from optimizer.models.catalogue import DEFAULT_MODEL, EmbeddedModel, cache_folder, embedded_model
from optimizer.models.endpoint import Endpoint, describe_endpoint
from optimizer.models.fetch import ensure_model
from optimizer.models.llama_server import LlamaServer
from optimizer.models.probe import with_schema_support

_SLOTS = 4
_IN_FLIGHT_ELSEWHERE = 16
_LONGEST_CONTEXT = 32_768
_BYTES_A_TOKEN = 3  # on the safe side for English; other scripts take about one token for three bytes too
_PROMPT_TOKENS = 1_024  # personas, transcript, question and answer
_POOL_TOKENS = 65_536  # of all slots together: a long context gets fewer slots


def embedded_choice(settings: Settings) -> EmbeddedModel | None:
    """The embedded model that the settings mean, or None where they name a server."""
    return None if settings.base_url else embedded_model(settings.model or DEFAULT_MODEL)


def context_needed(texts: Iterable[str], configured: int = 0) -> int:
    """Tokens that one call needs at the most for these evidence-and-claim texts, in whole thousands.

    Raises:
        UserError: the longest does not fit what the embedded models can take.
    """
    if configured:
        return configured
    longest = max((len(text.encode()) for text in texts), default=0)
    needed = max(2_048, -(-(longest // _BYTES_A_TOKEN + _PROMPT_TOKENS) // 1_024) * 1_024)
    if needed > _LONGEST_CONTEXT:
        raise UserError(
            f"the longest item has {longest} bytes, about {longest // _BYTES_A_TOKEN} tokens, more than the embedded models take "
            f"({_LONGEST_CONTEXT}); shorten the evidence, or use a model with a longer context through --base-url"
        )
    return needed


async def planned_endpoint(settings: Settings, context: int) -> Endpoint:
    """What will answer, without starting or fetching anything. A running server is asked what it is."""
    model = embedded_choice(settings)
    if model is None:
        return await with_schema_support(await describe_endpoint(settings.base_url, settings.model))
    slots = max(1, min(_SLOTS, _POOL_TOKENS // context))
    return Endpoint("", model.name, model.identity, "llama.cpp", slots, context)


def in_flight(settings: Settings, endpoint: Endpoint) -> int:
    """How many debates are under way at once: what was set, or what the server works on at once."""
    return settings.in_flight or endpoint.slots or _IN_FLIGHT_ELSEWHERE


@asynccontextmanager
async def serving(settings: Settings, planned: Endpoint, log: Path, report: Callable[[str], None]) -> AsyncIterator[Endpoint]:
    """The endpoint of `planned`, answering while the block runs; the embedded one is fetched and started first.

    Raises:
        UserError: it cannot be fetched or does not start.
    """
    model = embedded_choice(settings)
    if model is None:
        yield planned
        return
    path = await asyncio.to_thread(ensure_model, model, report)  # minutes: Ctrl-C must get through
    report(f"starting the local server for {model.name}")
    with LlamaServer(path, model.name, log, planned.slots, planned.context) as server:
        yield replace(planned, base_url=server.base_url)


def cache_path(settings: Settings) -> Path | str:
    """Where the response cache is: as set, or in the user's cache folder."""
    return settings.cache or cache_folder() / "responses.sqlite"

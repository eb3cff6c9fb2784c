"""Gives a command what answers for it: embedded models on servers of our own, servers that run already, hosted providers.

A run has one model, on one server or on several replicas of it, and where the settings say so another one for a role: a
persona, or reflection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from optimizer.config import Settings
from optimizer.errors import UserError
from optimizer.models.catalogue import DEFAULT_MODEL, EmbeddedModel, cache_folder, embedded_model
from optimizer.models.endpoint import Endpoint, describe_endpoint
from optimizer.models.fetch import ensure_model
from optimizer.models.hosted import hosted_endpoint
from optimizer.models.llama_server import LlamaServer
from optimizer.models.probe import with_schema_support

_SLOTS = 4
_IN_FLIGHT_ELSEWHERE = 16
LONGEST_CONTEXT = 32_768  # of an embedded server
BYTES_A_TOKEN = 3  # on the safe side for English; other scripts take about one token for three bytes too
PROMPT_TOKENS = 1_024  # personas, transcript, question and answer
_POOL_TOKENS = 65_536  # of all slots together: a long context gets fewer slots


@dataclass(frozen=True, slots=True)
class ServingPlan:
    """Who answers: the replicas of the run's model, and those of the roles that have another one."""

    default: tuple[Endpoint, ...]
    roles: Mapping[str, tuple[Endpoint, ...]] = field(default_factory=dict)

    @property
    def endpoint(self) -> Endpoint:
        """The first replica of the run's model."""
        return self.default[0]

    def record(self) -> dict[str, Any]:
        """Which models these are, for the run's record: names and identities, no addresses."""
        roles = {role: _record(endpoints[0]) for role, endpoints in self.roles.items()}
        return {**_record(self.endpoint), **({"roles": roles} if roles else {})}


def embedded_choice(settings: Settings) -> EmbeddedModel | None:
    """The embedded model that the settings mean, or None where they name a server or a hosted model."""
    return None if settings.base_url or "/" in settings.model else embedded_model(settings.model or DEFAULT_MODEL)


def context_needed(texts: Iterable[str], configured: int = 0) -> int:
    """Tokens that one call needs at the most for these evidence-and-claim texts, in whole thousands; what is set goes before."""
    if configured:
        return configured
    longest = max((len(text.encode()) for text in texts), default=0)
    return max(2_048, -(-(longest // BYTES_A_TOKEN + PROMPT_TOKENS) // 1_024) * 1_024)


async def plan_serving(settings: Settings, context: int) -> ServingPlan:
    """What will answer, without starting or fetching anything. Running servers are asked what they are.

    Args:
        settings: model, servers and roles.
        context: tokens that the longest call takes; embedded servers get so many, or as many as their model can take.

    Raises:
        UserError: a server does not answer, replicas serve different models, or a model is unknown.
    """
    default = await _planned(settings, context)
    roles = {}
    for name, role in settings.roles.items():
        if role.model or role.base_url:
            own = settings.model_copy(update={"model": role.model, "base_url": role.base_url})
            roles[name] = await _planned(own, context)
    return ServingPlan(default, roles)


def in_flight(settings: Settings, plan: ServingPlan) -> int:
    """How many debates are under way at once: what was set, or what the servers work on at once."""
    return settings.in_flight or len(plan.default) * (plan.endpoint.slots or _IN_FLIGHT_ELSEWHERE)


@asynccontextmanager
async def serving(plan: ServingPlan, log: Path, report: Callable[[str], None]) -> AsyncIterator[ServingPlan]:
    """The plan with servers that answer while the block runs; embedded ones are fetched and started first, each once.

    Raises:
        UserError: one cannot be fetched or does not start.
    """
    started: dict[str, str] = {}
    async with AsyncExitStack() as stack:

        async def answering(endpoint: Endpoint) -> Endpoint:
            if endpoint.base_url or endpoint.engine != "llama.cpp":
                return endpoint
            if endpoint.model not in started:
                path = await asyncio.to_thread(
                    ensure_model, embedded_model(endpoint.model), report
                )  # minutes: Ctrl-C gets through
                report(f"starting the local server for {endpoint.model}")
                server = LlamaServer(path, endpoint.model, log, endpoint.slots, endpoint.context)
                started[endpoint.model] = stack.enter_context(server).base_url
            return replace(endpoint, base_url=started[endpoint.model])

        default = tuple([await answering(endpoint) for endpoint in plan.default])
        roles = {role: tuple([await answering(each) for each in endpoints]) for role, endpoints in plan.roles.items()}
        yield ServingPlan(default, roles)


def cache_path(settings: Settings) -> Path | str:
    """Where the response cache is: as set, or in the user's cache folder."""
    return settings.cache or cache_folder() / "responses.sqlite"


async def _planned(settings: Settings, context: int) -> tuple[Endpoint, ...]:
    model = embedded_choice(settings)
    if model is not None:
        tokens = min(context, LONGEST_CONTEXT)
        slots = max(1, min(_SLOTS, _POOL_TOKENS // tokens))
        return (Endpoint("", model.name, model.identity, "llama.cpp", slots, tokens),)
    if not settings.base_url:
        return (await asyncio.to_thread(hosted_endpoint, settings.model),)
    urls = [url.strip() for url in settings.base_url.split(",") if url.strip()]
    found = [await with_schema_support(await describe_endpoint(url, settings.model)) for url in urls]
    for other in found[1:]:
        if other.identity != found[0].identity:
            raise UserError(
                f"{other.base_url} serves {other.model}, and {found[0].base_url} serves {found[0].model} (or another version or "
                "engine of it); replicas must serve the same"
            )
    return tuple(found)


def _record(endpoint: Endpoint) -> dict[str, str]:
    return {"name": endpoint.model, "identity": endpoint.identity}

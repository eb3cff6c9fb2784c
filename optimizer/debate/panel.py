"""Opens a panel: starts what has to be started, connects every role to its model, and closes it all again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from optimizer.config import Settings
from optimizer.data.item import Item
from optimizer.debate.evidence import check_context
from optimizer.debate.executor import DebateExecutor
from optimizer.debate.policy_file import check_policy, chosen_policy, digest
from optimizer.debate.protocol import Protocol
from optimizer.debate.voices import Voice, check_roles, role_evidence, with_evidence
from optimizer.models.cache import ResponseCache
from optimizer.models.client import ChatClient
from optimizer.models.ledger import Ledger
from optimizer.models.provision import ServingPlan, cache_path, context_needed, in_flight, plan_serving, serving

_CALLS_A_DEBATE_AT_ONCE = 8
_DEFAULT = ""  # the role of all that have no model of their own


async def plan_panel(settings: Settings, personas: Sequence[str], items: Iterable[Item]) -> ServingPlan:
    """What will answer for a panel on these items, everything checked and nothing started.

    Raises:
        UserError: a role, a server, a model or the policy is not right, or evidence does not fit and nothing is set for that.
    """
    check_roles(settings.roles, personas)
    given = list(items)
    shown = list(given)
    check_policy(settings, personas, shown)
    for role in settings.roles.values():
        own, adds = role_evidence(role), role.evidence_mode == "add"
        shown += [with_evidence(item, own[item.base], adds) for item in given if item.base in own]
    needed = context_needed((item.read for item in shown), settings.context)
    if not settings.context:
        needed += -(-Protocol.of(settings.protocol).long_answers(len(personas)) // 1_024) * 1_024
    plan = await plan_serving(settings, needed)
    check_context(shown, smallest_context(plan), settings.protocol.long_evidence)
    return plan


def smallest_context(plan: ServingPlan) -> int:
    """Tokens that every role's model can take; 0 where none says."""
    contexts = [endpoint.context for endpoints in (plan.default, *plan.roles.values()) for endpoint in endpoints]
    return min((each for each in contexts if each), default=0)


@asynccontextmanager
async def open_panel(
    settings: Settings,
    plan: ServingPlan,
    ledger: Ledger,
    log: Path,
    report: Callable[[str], None],
    cache: ResponseCache | None = None,
) -> AsyncIterator[DebateExecutor]:
    """An executor whose roles all answer while the block runs.

    Args:
        settings: protocol, roles, limits and cache.
        plan: of plan_panel.
        ledger: where calls are counted.
        log: where servers of our own write.
        report: hears what is being started, and of replicas that are lost.
        cache: an open one; otherwise that of the settings is opened.

    Raises:
        UserError: something cannot be fetched or does not start.
    """
    async with AsyncExitStack() as stack:
        kept = cache or stack.enter_context(ResponseCache(cache_path(settings)))
        ready = await stack.enter_async_context(serving(plan, log, report))
        flights = in_flight(settings, ready)
        clients: dict[str, ChatClient] = {}
        for role, endpoints in {_DEFAULT: ready.default, **ready.roles}.items():
            calls = max(1, flights // len(endpoints)) * _CALLS_A_DEBATE_AT_ONCE
            client = ChatClient(endpoints, kept, ledger, calls, settings.timeout, report=report)
            clients[role] = await stack.enter_async_context(client)
        yield _executor(settings, ready, clients, flights)


def offline_panel(settings: Settings, plan: ServingPlan, cache: ResponseCache) -> DebateExecutor:
    """An executor that only reads the cache, and counts in a ledger of its own: what would be answered without a call."""
    ledger = Ledger()
    roles = {_DEFAULT: plan.default, **plan.roles}
    clients = {role: ChatClient(endpoints, cache, ledger, offline=True) for role, endpoints in roles.items()}
    return _executor(settings, plan, clients, 1)


def panel_record(settings: Settings, plan: ServingPlan) -> dict[str, Any]:
    """Models, the policy, and what roles have of their own, for the run's record: a run is only resumed when all is the same."""
    own = {
        name: {
            "temperature": role.temperature,
            "top_p": role.top_p,
            "evidence": _digest(role_evidence(role)),
            "evidence_mode": role.evidence_mode,
        }
        for name, role in settings.roles.items()
    }
    policy = chosen_policy(settings)
    return {**plan.record(), **({"voices": own} if own else {}), **({"policy": digest(policy)} if policy else {})}


def _executor(settings: Settings, plan: ServingPlan, clients: Mapping[str, ChatClient], flights: int) -> DebateExecutor:
    default = clients[_DEFAULT]
    voices = {
        name: Voice(clients.get(name, default), role.temperature, role.top_p, role_evidence(role), role.evidence_mode == "add")
        for name, role in settings.roles.items()
    }
    context, policy = smallest_context(plan), chosen_policy(settings)
    return DebateExecutor(default, Protocol.of(settings.protocol), flights, voices, context, policy)


def _digest(evidence: Mapping[str, tuple[str, ...]]) -> str:
    return hashlib.sha256(json.dumps(evidence, sort_keys=True).encode()).hexdigest()[:16] if evidence else ""

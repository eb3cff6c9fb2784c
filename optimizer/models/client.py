"""The chat client: any number of replicas of one model, with time-outs, retries, fail-over, cache and ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType

from optimizer.errors import UserError
from optimizer.models.cache import ResponseCache
from optimizer.models.chat import CallTag, ChatReply, ChatRequest
from optimizer.models.endpoint import Endpoint
from optimizer.models.lanes import Lane, Lanes
from optimizer.models.ledger import Ledger
from optimizer.models.transport import CallFailed, HttpTransport, LitellmTransport, Transport, TryAgain

_HEALTH_SECONDS = 5.0


class NotCached(Exception):
    """Raised instead of a call by a client that only reads its cache."""


class ChatClient:
    """Answers chat requests: from the cache, from a call already under way, or from a replica, in that order.

    Used as an async context manager; one event loop at a time. Equal requests in flight share one call.

    Args:
        endpoints: the server of the model, or several that serve the same one.
        cache: where answers are kept.
        ledger: where calls are counted, and what befalls the replicas is written down.
        in_flight: how many calls may be under way at once at each replica.
        timeout: seconds that one attempt may take.
        attempts: how often a call is tried before it is failed.
        patience: after so many failed calls in a row the run ends, since the endpoint is gone.
        offline: never call; raise NotCached for what is not in the cache.
        report: hears of replicas that are lost or back.
    """

    def __init__(
        self,
        endpoints: Endpoint | Sequence[Endpoint],
        cache: ResponseCache,
        ledger: Ledger,
        in_flight: int = 8,
        timeout: float = 600.0,
        attempts: int = 5,
        patience: int = 24,
        offline: bool = False,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.endpoints = (endpoints,) if isinstance(endpoints, Endpoint) else tuple(endpoints)
        self.endpoint, self.cache, self.ledger = self.endpoints[0], cache, ledger
        self._attempts, self._patience, self._offline, self._report = attempts, patience, offline, report
        self._http = HttpTransport(timeout)
        hosted = self.endpoint.engine == "litellm"
        self._transport: Transport = LitellmTransport(timeout) if hosted else self._http
        self._lanes = Lanes(self.endpoints, in_flight, self._incident)
        self._under_way: dict[str, asyncio.Task[ChatReply]] = {}
        self._failed_in_a_row = 0
        self._health: asyncio.Task[None] | None = None

    async def __aenter__(self) -> ChatClient:
        await self._transport.open()
        if len(self.endpoints) > 1:
            self._health = asyncio.create_task(self._check_health())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        tasks: list[asyncio.Task[ChatReply] | asyncio.Task[None]] = list(self._under_way.values())
        if self._health is not None:
            tasks.append(self._health)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.close()

    def key(self, request: ChatRequest) -> str:
        """The request's identity with this model."""
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
        lane: Lane | None = None
        reason = ""
        for attempt in range(1, self._attempts + 1):
            lane = await self._lanes.take(tag.item or key, lane)
            try:
                reply = await self._transport.attempt(lane.endpoint, request)
            except TryAgain as again:
                reason = self._clean(again.reason)
                if again.busy:
                    self._lanes.busy(lane, again.wait)
                else:
                    self._lanes.failed(lane, reason, again.wait, again.gone)
            except CallFailed as failure:
                self._lanes.left(lane)
                reason = self._clean(str(failure))
                break
            except BaseException:
                self._lanes.left(lane)
                raise
            else:
                self._lanes.ok(lane)
                self._failed_in_a_row = 0
                self.cache.put(key, self.endpoint.identity, reply)
                await asyncio.sleep(0)  # by then it is on disk: the ledger never says paid of an answer that a kill would lose
                self.ledger.record(key, tag, reply, paid=True, attempts=attempt)
                if self.ledger.fingerprint(self.endpoint.model, reply.fingerprint):
                    self._incident(f"{self.endpoint.model} answers with another fingerprint: the model changed during the run")
                return reply
        self.ledger.record_failure(key, tag, reason, attempt)
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._patience:
            where = ", ".join(endpoint.base_url or endpoint.model for endpoint in self.endpoints)
            raise UserError(
                f"{where}: {self._failed_in_a_row} calls in a row failed, the last with {reason}; "
                "check the server, then run the same command again to go on"
            )
        raise CallFailed(reason)

    async def _check_health(self) -> None:
        """Ask closed replicas from time to time whether they are back."""
        while True:
            await asyncio.sleep(_HEALTH_SECONDS)
            for lane in self._lanes.closed:
                if await self._http.answers(lane.endpoint):
                    self._lanes.reopen(lane)

    def _incident(self, text: str) -> None:
        self.ledger.note_incident(text)
        self._report(text)

    def _clean(self, text: str) -> str:
        """A reason fit for a log: one line, and without the key, which some servers echo."""
        text = " ".join(text.split())[:200]
        return text.replace(self.endpoint.api_key, "***") if self.endpoint.api_key else text

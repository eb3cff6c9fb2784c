"""Lanes to the replicas of one model: who takes the next call, and how many each may have under way.

An item's calls go to the same replica, whose prefix cache knows the item; where that one is full, paused or closed, the least
busy takes them. A lane's limit follows what its server says: a 429 halves it and pauses for as long as the server asks, an
error or time-out pauses, and every success lets it grow again. Of several lanes one where nothing listens, or that fails
several times in a row, is closed until a health check finds it answering.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from optimizer.models.endpoint import Endpoint

_CLOSED_AFTER = 3  # failures in a row
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
_LONGEST_PAUSE = 60.0


@dataclass(slots=True, eq=False)
class Lane:
    """One replica. `limit` is how many calls may be under way now; `paused_until` is in the event loop's time."""

    endpoint: Endpoint
    limit: float
    under_way: int = 0
    answered: int = 0
    failed_in_a_row: int = 0
    paused_until: float = 0.0
    closed: bool = False

    def room(self, now: float) -> bool:
        """Whether it may take a call now."""
        return now >= self.paused_until and self.under_way < max(1, int(self.limit))


class Lanes:
    """All lanes of a model; used within one event loop.

    Args:
        endpoints: the replicas, one at least; all of the same model.
        most: calls under way at a replica at the most.
        report: hears of a lane that is closed or open again, in words.
    """

    def __init__(self, endpoints: Sequence[Endpoint], most: int, report: Callable[[str], None]) -> None:
        self.lanes = [Lane(endpoint, float(most)) for endpoint in endpoints]
        self._most, self._report = most, report
        self._waiting: deque[tuple[str, Lane | None, asyncio.Future[Lane]]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def closed(self) -> list[Lane]:
        """The lanes that are not known to answer."""
        return [lane for lane in self.lanes if lane.closed]

    async def take(self, item: str, failed: Lane | None = None) -> Lane:
        """A lane with room for a call about this item, waiting if need be; to be given back by one of the methods below.

        Args:
            item: calls about the same item prefer the same replica.
            failed: the lane that just failed at this call; another is taken where one is open.
        """
        loop = asyncio.get_running_loop()
        lane = None if self._waiting else self._free(item, failed, loop.time())
        if lane is not None:
            lane.under_way += 1
            return lane
        future: asyncio.Future[Lane] = loop.create_future()
        self._waiting.append((item, failed, future))
        self._serve_waiting()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.left(future.result())
            raise

    def ok(self, lane: Lane) -> None:
        """The call was answered."""
        lane.under_way -= 1
        lane.answered += 1
        lane.failed_in_a_row = 0
        if lane.limit < self._most:
            lane.limit = min(float(self._most), lane.limit + 1 / lane.limit)
        if len(self.closed) == len(self.lanes):  # otherwise the call was sent before the lane was closed
            self.reopen(lane)
        if self._waiting:
            self._serve_waiting()

    def busy(self, lane: Lane, wait: float | None) -> None:
        """The server has too much to do (429): fewer calls, and a pause as long as it asked for."""
        lane.under_way -= 1
        if not self._paused(lane):
            lane.limit = max(1.0, lane.limit / 2)
        self._pause(lane, _PAUSES[0] if wait is None else wait)

    def failed(self, lane: Lane, reason: str, wait: float | None = None, gone: bool = False) -> None:
        """An error or time-out: a pause, longer with each in a row, and at last, or at once if gone, the lane is closed."""
        lane.under_way -= 1
        if not self._paused(lane):  # calls that fail together are one fault
            lane.failed_in_a_row += 1
            lane.limit = max(1.0, lane.limit * 0.75)
        if (gone or lane.failed_in_a_row >= _CLOSED_AFTER) and not lane.closed and len(self.lanes) > 1:
            lane.closed = True
            left = len(self.lanes) - len(self.closed)
            self._report(
                f"{lane.endpoint.base_url} is lost after {lane.answered} answers ({reason}); {left} of "
                f"{len(self.lanes)} replicas go on"
            )
        self._pause(lane, max(wait or 0.0, _PAUSES[min(lane.failed_in_a_row, len(_PAUSES)) - 1]))

    def left(self, lane: Lane) -> None:
        """The call ended without saying anything about the lane: it was cancelled, or the request itself was at fault."""
        lane.under_way -= 1
        if self._waiting:
            self._serve_waiting()

    def reopen(self, lane: Lane) -> None:
        """The replica answers."""
        if lane.closed:
            lane.closed, lane.failed_in_a_row, lane.paused_until = False, 0, 0.0
            self._report(f"{lane.endpoint.base_url} answers again")
            self._serve_waiting()

    def _paused(self, lane: Lane) -> bool:
        return asyncio.get_running_loop().time() < lane.paused_until

    def _pause(self, lane: Lane, seconds: float) -> None:
        lane.paused_until = max(lane.paused_until, asyncio.get_running_loop().time() + min(_LONGEST_PAUSE, seconds))
        if self._waiting:
            self._serve_waiting()

    def _free(self, item: str, failed: Lane | None, now: float) -> Lane | None:
        """The lane for a call, or None where it has to wait."""
        if len(self.lanes) == 1:
            return self.lanes[0] if self.lanes[0].room(now) else None
        # Where all are closed they are all tried: there is nothing better.
        usable = [lane for lane in self.lanes if not lane.closed] or self.lanes
        usable = [lane for lane in usable if lane is not failed] or usable
        free = [lane for lane in usable if lane.room(now)]
        if not free:
            return None
        preferred = max(usable, key=lambda lane: _affinity(item, lane.endpoint.base_url))
        return preferred if preferred in free else min(free, key=lambda lane: lane.under_way / lane.limit)

    def _serve_waiting(self) -> None:
        """Give lanes to those who wait, the first first, and come back when the next pause is over."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        still: list[tuple[str, Lane | None, asyncio.Future[Lane]]] = []
        while self._waiting and any(lane.room(now) for lane in self.lanes):
            item, failed, future = self._waiting.popleft()
            if future.done():
                continue
            lane = self._free(item, failed, now)
            if lane is None:
                still.append((item, failed, future))
            else:
                lane.under_way += 1
                future.set_result(lane)
        self._waiting.extendleft(reversed(still))
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        pauses = [lane.paused_until for lane in self.lanes if lane.paused_until > now]
        if self._waiting and pauses:
            self._alarm = loop.call_at(min(pauses) + 0.001, self._serve_waiting)


def _affinity(item: str, base_url: str) -> bytes:
    """Rendezvous hashing: every item has its order of replicas, and only the items of a lost one move."""
    return hashlib.blake2b(f"{item}\n{base_url}".encode(), digest_size=8).digest()

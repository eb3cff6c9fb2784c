"""Runs debates: several in flight, the turns of a round together, and records by item.

On a llama.cpp server a debate makes its calls one after the other: the slot that holds the item's prefix then serves them
all, and the other slots serve other items. On engines that batch by themselves a round's calls go out at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from optimizer.data.item import Item
from optimizer.debate.aggregate import decide
from optimizer.debate.parse import parse_answer
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate, Turn
from optimizer.debate.render import render_turn
from optimizer.models.chat import CallTag, ChatReply, ChatRequest
from optimizer.models.client import ChatClient
from optimizer.models.transport import CallFailed
from optimizer.prompts.library import SOURCE_SKEPTICISM

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DebateJob:
    """One debate to hold: an item, a candidate's id and texts, and which repeat it is."""

    item: Item
    candidate: str
    texts: Mapping[str, str]
    sample: int = 0


class DebateExecutor:
    """Holds debates under one protocol.

    Args:
        client: answers the calls; entered already.
        protocol: how debates are held.
        in_flight: how many debates are under way at once.
    """

    def __init__(self, client: ChatClient, protocol: Protocol, in_flight: int = 4) -> None:
        self.client, self.protocol, self.in_flight = client, protocol, in_flight

    async def run(
        self, jobs: Sequence[DebateJob], on_done: Callable[[Debate], None] | None = None, purpose: str = "debate"
    ) -> list[Debate]:
        """Hold all debates; the records come back in the order of the jobs, and on_done hears of each as it ends.

        Raises:
            UserError: the endpoint is gone; debates under way are dropped, finished ones have been reported.
        """

        async def one(job: DebateJob) -> Debate:
            debate = await self.debate(job, purpose)
            if on_done is not None:
                on_done(debate)
            return debate

        return await bounded([partial(one, job) for job in jobs], self.in_flight)

    async def debate(self, job: DebateJob, purpose: str = "debate") -> Debate:
        """Hold one debate. A call without an answer makes it a failed one, with the reason."""
        protocol = self.protocol
        personas = protocol.order([name for name in job.texts if name != SOURCE_SKEPTICISM], job.item.id)
        turns: list[Turn] = []
        try:
            for number in range(1, protocol.rounds + 1):
                await self._round(job, personas, number, turns, purpose)
                if protocol.early_stop and unanimous(turns, number):
                    break
        except CallFailed as failure:
            return Debate(job.item.id, job.candidate, job.sample, tuple(turns), failure=str(failure) or "no answer")
        last = {turn.persona: turn.verdict for turn in turns if turn.round == number}
        decision, rule = decide(last, protocol.aggregator)
        return Debate(job.item.id, job.candidate, job.sample, tuple(turns), decision, rule)

    async def _round(self, job: DebateJob, personas: Sequence[str], number: int, turns: list[Turn], purpose: str) -> None:
        """Let everybody speak once, and add the turns in the speaking order."""

        async def speak(persona: str, heard: Sequence[Turn]) -> Turn:
            transcript = self.protocol.heard(heard, persona, number)
            messages = render_turn(job.item, self.protocol, job.texts, persona, transcript)
            request = ChatRequest(messages, self.protocol.sampling(job.sample), self.protocol.answer_schema, job.sample)
            tag = CallTag(purpose, job.candidate, job.item.id, persona, number)
            reply = await self.client.ask(request, tag)
            return make_turn(persona, number, self.client.key(request), reply, self.protocol)

        before = tuple(turns)
        if self.protocol.turns == "sequential":
            for persona in personas:
                turns.append(await speak(persona, tuple(turns)))
        elif self.client.endpoint.slots:
            turns += [await speak(persona, before) for persona in personas]
        else:
            turns += await bounded([partial(speak, persona, before) for persona in personas], len(personas))


def unanimous(turns: Sequence[Turn], number: int) -> bool:
    """Whether all answers of a round are votes for the same label."""
    votes = {turn.verdict.vote for turn in turns if turn.round == number}
    return len(votes) == 1 and None not in votes


def make_turn(persona: str, number: int, key: str, reply: ChatReply, protocol: Protocol) -> Turn:
    """A reply as a turn, its answer read."""
    verdict = parse_answer(reply.text, reply.finish_reason, protocol.words)
    return Turn(persona, number, key, reply.text, reply.finish_reason, verdict, reply.reasoning)


async def bounded(work: Sequence[Callable[[], Awaitable[T]]], limit: int) -> list[T]:
    """Run all, at most `limit` at once, results in order. The first error cancels the rest and is raised."""
    gate = asyncio.Semaphore(max(1, limit))

    async def guarded(start: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await start()

    tasks = [asyncio.ensure_future(guarded(start)) for start in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise

"""Runs debates: several in flight, the turns of a round together, and records by item.

On a llama.cpp server a debate makes its calls one after the other: the slot that holds the item's prefix then serves them
all, and the other slots serve other items. On engines that batch by themselves a round's calls go out at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar, cast

from optimizer.data.item import Item, Label, Task
from optimizer.debate.aggregate import decide
from optimizer.debate.evidence import chunks, fits, select_sentences
from optimizer.debate.extract import read_question
from optimizer.debate.parse import parse_answer
from optimizer.debate.policy import Policy, decide_turns
from optimizer.debate.protocol import Protocol, ballot_order
from optimizer.debate.records import Debate, Turn, deciding
from optimizer.debate.render import render_again, render_turn
from optimizer.debate.verdict import Answer, Outcome, Verdict
from optimizer.debate.voices import Voice
from optimizer.models.chat import CallTag, ChatReply, ChatRequest
from optimizer.models.client import ChatClient
from optimizer.models.transport import CallFailed
from optimizer.prompts.library import SOURCE_SKEPTICISM

T = TypeVar("T")
_OFF_BALLOT = Verdict(Outcome.UNPARSED, detail="not on the ballot")


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
        voices: for personas (and reflection) with a model, sampling or evidence of their own.
        context: tokens that a call may take, 0 where unknown; evidence that does not fit is handled as the protocol says.
        policy: decides in place of the protocol's aggregator.
    """

    def __init__(
        self,
        client: ChatClient,
        protocol: Protocol,
        in_flight: int = 4,
        voices: Mapping[str, Voice] | None = None,
        context: int = 0,
        policy: Policy | None = None,
    ) -> None:
        self._policy = policy
        self.client, self.protocol, self.in_flight, self.context = client, protocol, in_flight, context
        self._voices, self._plain = dict(voices or {}), Voice(client)

    def voice(self, role: str) -> Voice:
        """Who speaks for a persona, or reflects."""
        return self._voices.get(role, self._plain)

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

    async def stream(self, jobs: Iterable[DebateJob], on_done: Callable[[Debate], None], purpose: str = "debate") -> None:
        """Hold all debates and keep none: on_done hears of each as it ends. Jobs are taken as there is room for them.

        Raises:
            UserError: the endpoint is gone; debates under way are dropped, finished ones have been reported.
        """

        async def one(job: DebateJob) -> None:
            on_done(await self.debate(job, purpose))

        await drain((partial(one, job) for job in jobs), self.in_flight)

    async def debate(self, job: DebateJob, purpose: str = "debate") -> Debate:
        """Hold one debate. A call without an answer makes it a failed one, with the reason."""
        held = [await self._hold(replace(job, item=piece), purpose) for piece in self.pieces(job.item, job.texts)]
        return held[0] if len(held) == 1 else best_supported(held)

    def pieces(self, item: Item, roles: Iterable[str] = ()) -> list[Item]:
        """The item as it is judged: itself where its evidence fits every role's context, else what the policy makes of it."""
        policy = self.protocol.long_evidence
        if policy == "error" or all(fits(self.voice(role).sees(item), self.context) for role in (*roles, "")):
            return [item]
        return [select_sentences(item, self.context)] if policy == "select" else chunks(item, self.context)

    async def _hold(self, job: DebateJob, purpose: str) -> Debate:
        protocol = self.protocol
        personas = protocol.order([name for name in job.texts if name != SOURCE_SKEPTICISM], job.item.base)
        turns: list[Turn] = []
        ballots: list[Turn] = []
        voting = protocol.aggregator == "ballot" and self._policy is None
        try:
            for number in range(1, protocol.rounds + 1):
                await self._round(job, personas, number, turns, purpose)
                if voting and number >= protocol.vote_from and await self._ballot(job, personas, number, turns, ballots, purpose):
                    break
                if protocol.early_stop and unanimous(turns, number):
                    break
        except CallFailed as failure:
            reason = str(failure) or "no answer"
            return Debate(job.item.id, job.candidate, job.sample, tuple(turns), failure=reason, ballots=tuple(ballots))
        if self._policy is None:
            decision, rule = decide(deciding(turns, ballots, number), protocol.aggregator, protocol.ties)
        else:
            decision, rule = decide_turns(self._policy, turns)
        return Debate(job.item.id, job.candidate, job.sample, tuple(turns), decision, rule, ballots=tuple(ballots))

    async def _round(self, job: DebateJob, personas: Sequence[str], number: int, turns: list[Turn], purpose: str) -> None:
        """Let everybody speak once, and add the turns in the speaking order."""
        before = tuple(turns)
        if self.protocol.turns == "sequential":
            for persona in personas:
                turns.append(await self._speak(job, persona, number, purpose, tuple(turns)))
        else:
            turns += await self._together([partial(self._speak, job, persona, number, purpose, before) for persona in personas])

    async def _ballot(
        self, job: DebateJob, personas: Sequence[str], number: int, turns: Sequence[Turn], ballots: list[Turn], purpose: str
    ) -> bool:
        """Have all vote among the different answers of a round, where there are several; whether there is a decision."""
        votes = [turn.verdict.vote for turn in turns if turn.round == number]
        answers = ballot_order([vote for vote in votes if vote is not None], job.item.base)
        if len(answers) > 1:
            cast = await self._together([partial(self._speak, job, name, number, purpose, turns, answers) for name in personas])
            ballots += [turn if turn.verdict.vote in (None, *answers) else replace(turn, verdict=_OFF_BALLOT) for turn in cast]
        return decide(deciding(turns, ballots, number), "ballot")[0] is not None

    async def _speak(
        self, job: DebateJob, persona: str, number: int, purpose: str, heard: Sequence[Turn], ballot: Sequence[Answer] = ()
    ) -> Turn:
        """One persona's turn in a round, or its vote after it."""
        voice, protocol = self.voice(persona), self.protocol
        transcript = protocol.heard(heard, persona, number, voting=bool(ballot))
        messages = render_turn(voice.sees(job.item), protocol, job.texts, persona, transcript, ballot)
        sampling = voice.sampling(protocol.sampling(job.sample, job.item)).apart(job.item.base, persona, number, bool(ballot))
        request = ChatRequest(messages, sampling, protocol.schema_for(job.item), job.sample)
        # Variants of an item go to the same replica, which has what they share in its prefix cache.
        tag = CallTag(purpose, job.candidate, job.item.base, persona, number)
        return await ask_turn(voice.client, request, tag, job.item, protocol)

    async def _together(self, calls: Sequence[Callable[[], Awaitable[Turn]]]) -> list[Turn]:
        """Calls that do not depend on each other: at once, or one by one where a slot's prefix cache is to serve them all."""
        return await bounded(calls, 1 if self.client.endpoint.slots else len(calls))


def unanimous(turns: Sequence[Turn], number: int) -> bool:
    """Whether all answers of a round are votes for the same label."""
    votes = {turn.verdict.vote for turn in turns if turn.round == number}
    return len(votes) == 1 and None not in votes


def best_supported(pieces: Sequence[Debate]) -> Debate:
    """Of debates on pieces of one item's evidence, the one that supports the claim best; a failed one fails the item.

    A piece that a panel finds the claim grounded in goes before others; then the mean of the last round's votes counts, each
    with its confidence, for or against. The rule of the record says which piece it was.
    """
    failed = [debate for debate in pieces if debate.failed]
    if failed:
        return failed[0]
    best = max(range(len(pieces)), key=lambda index: (pieces[index].decision is Label.GROUNDED, _support(pieces[index])))
    return replace(pieces[best], rule=f"{pieces[best].rule}, piece {best + 1} of {len(pieces)}")


def _support(debate: Debate) -> float:
    """The last round's confidence for the claim less that against it, a mean a verdict."""
    signs: dict[str, float] = {Label.GROUNDED: 1.0, Label.NOT_GROUNDED: -1.0}
    verdicts = list(debate.round_verdicts(debate.last_round).values())
    total = sum(
        signs.get(verdict.vote, 0.0) * (50.0 if verdict.confidence is None else verdict.confidence)
        for verdict in verdicts
        if verdict.vote is not None
    )
    return total / len(verdicts) if verdicts else 0.0


async def ask_turn(client: ChatClient, request: ChatRequest, tag: CallTag, item: Item, protocol: Protocol) -> Turn:
    """Ask, and read the answer as a turn; one that cannot be read is asked for once more, where the protocol says so.

    Raises:
        CallFailed: a call got no answer.
        UserError: the endpoint is gone.
    """
    reply = await client.ask(request, tag)
    verdict = read_reply(reply, item, protocol)
    turn = Turn(tag.persona, tag.round, client.key(request), reply.text, reply.finish_reason, verdict, reply.reasoning)
    if not protocol.reprompt or verdict.outcome not in (Outcome.UNPARSED, Outcome.TRUNCATED):
        return turn
    again = render_again(request, reply.text, item, protocol)
    second = await client.ask(again, tag)
    read = read_reply(second, item, protocol)
    settled = read if read.outcome in (Outcome.OK, Outcome.ABSTAINED) else verdict
    return replace(turn, verdict=settled, second_key=client.key(again), second_text=second.text)


def read_reply(reply: ChatReply, item: Item, protocol: Protocol) -> Verdict:
    """The verdict in a reply."""
    if item.task is Task.CLAIM:
        return parse_answer(reply.text, reply.finish_reason, protocol.words)
    return read_question(reply.text, item, reply.finish_reason)


async def bounded(work: Sequence[Callable[[], Awaitable[T]]], limit: int) -> list[T]:
    """Run all, at most `limit` at once, results in order. The first error cancels the rest and is raised."""
    results: list[T | None] = [None] * len(work)

    async def at(index: int, start: Callable[[], Awaitable[T]]) -> None:
        results[index] = await start()

    await drain((partial(at, index, start) for index, start in enumerate(work)), limit)
    return cast("list[T]", results)


async def drain(work: Iterable[Callable[[], Awaitable[None]]], limit: int) -> None:
    """Run all, at most `limit` at once, taking the next only when there is room. The first error cancels the rest."""
    waiting = iter(work)

    async def worker() -> None:
        for start in waiting:
            await start()

    tasks = [asyncio.ensure_future(worker()) for _ in range(max(1, limit))]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise

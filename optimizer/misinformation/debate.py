"""Holds a debate once, so that it can be read by voting and by consensus: votes take no part in the discussion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from optimizer.debate.extract import Extracted, Status
from optimizer.debate.protocol import ballot_order
from optimizer.misinformation.answers import read_vote
from optimizer.misinformation.arms import Mitigation
from optimizer.misinformation.asking import Asker, Place
from optimizer.misinformation.prompts import Agent
from optimizer.misinformation.readings import elected, options
from optimizer.misinformation.records import Role, Utterance

VERIFIER = Agent("verifier")
_VERIFIER_SLOT = -1


class Discussion:
    """One debate under way: everybody speaks in one fixed order, turn after turn, until every reading of it has ended.

    Args:
        asker: makes the calls.
        agents: in the order of speaking; who is exposed has the passage in its description.
        verifier: which one says what nothing supports, if any.
    """

    def __init__(self, asker: Asker, agents: Sequence[Agent], verifier: Mitigation = Mitigation.NONE) -> None:
        self._asker, self._agents, self._verifier = asker, tuple(agents), verifier
        self.said: list[Utterance] = []
        self.agreed = 0

    async def hold(self) -> None:
        """Hold it; `said` and `agreed` have what came of it, also where a call failed.

        Raises:
            CallFailed: a call got no answer.
        """
        settings = self._asker.settings
        voting, consensus = ("voting" in settings.decisions), ("consensus" in settings.decisions)
        for turn in range(1, settings.turns + 1):
            await self._turn(turn)
            if voting and turn >= settings.vote_from:
                voting = not await self._ballot(turn)
            if consensus and (turn == settings.turns or self._agree(turn)):
                self.agreed, consensus = turn, False
                await self._settle(turn)
            if not voting and not consensus:
                return

    async def _turn(self, turn: int) -> None:
        for slot, agent in enumerate(self._agents):
            messages = self._asker.seen(agent).draft(agent, _discussion(self.said))
            self.said.append(await self._asker.ask(Place(Role.DRAFT, turn, slot), agent, messages, self._asker.sampling))
        if self._verifier is Mitigation.SPEAKING_VERIFIER:
            await self._verify(turn, Role.REMARK)

    async def _verify(self, turn: int, role: Role) -> None:
        messages = self._asker.script.verify(_discussion(self.said))
        place = Place(role, turn, _VERIFIER_SLOT)
        self.said.append(await self._asker.ask(place, VERIFIER, messages, self._asker.sampling))

    async def _ballot(self, turn: int) -> bool:
        """Let everybody give a final answer, then vote among the different ones; whether that decided."""
        asker = self._asker
        if self._verifier is Mitigation.VERIFIER:
            await self._verify(turn, Role.LIST)
        heard = [*_discussion(self.said), *(each for each in self.said if each.role is Role.LIST and each.turn == turn)]

        async def answer(slot: int, agent: Agent) -> list[Utterance]:
            messages = asker.seen(agent).final(agent, heard)
            return await asker.ask_surely(Place(Role.FINAL, turn, slot), agent, messages, asker.short)

        found = await asker.together([partial(answer, slot, agent) for slot, agent in enumerate(self._agents)])
        self.said += found
        on_ballot = ballot_order(options(found), asker.item.id)
        if len(on_ballot) < 2:
            return len(on_ballot) == 1  # nobody has to vote about one answer

        async def vote(slot: int, agent: Agent) -> list[Utterance]:
            messages = asker.seen(agent).vote(agent, heard, on_ballot)
            place = Place(Role.VOTE, turn, slot)
            return [await asker.ask(place, agent, messages, asker.short, read=partial(self._read_vote, on_ballot))]

        votes = await asker.together([partial(vote, slot, agent) for slot, agent in enumerate(self._agents)])
        self.said += votes
        return elected(votes) is not None

    def _read_vote(self, on_ballot: Sequence[str], text: str, finish_reason: str) -> Extracted:
        return read_vote(text, on_ballot, self._asker.item, self._asker.script.protocol)

    def _agree(self, turn: int) -> bool:
        """Whether the discussion may end with this turn because all hold the same answer."""
        settings = self._asker.settings
        if settings.consensus_end == "never" or turn < settings.consensus_from:
            return False
        stances = [each for each in self.said if each.role is Role.DRAFT and each.turn == turn]
        return all(each.status is Status.PARSED for each in stances) and len({each.answer for each in stances}) == 1

    async def _settle(self, turn: int) -> None:
        """Ask the last speaker once more where it cannot be read what it holds: the consensus is that."""
        last = len(self._agents) - 1
        place = next(i for i, each in enumerate(self.said) if (each.role, each.turn, each.slot) == (Role.DRAFT, turn, last))
        agent = self._agents[last]
        messages = self._asker.seen(agent).draft(agent, _discussion(self.said[:place]))
        self.said += await self._asker.second(self.said[place], agent, messages)


def _discussion(said: Iterable[Utterance]) -> list[Utterance]:
    """What a speaker has heard: contributions and remarks, as they were made."""
    return [each for each in said if each.role in (Role.DRAFT, Role.REMARK) and not each.again]

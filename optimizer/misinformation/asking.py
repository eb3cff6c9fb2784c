"""Makes one call after the other for an item, and reads each answer by the one extractor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from optimizer.data.item import Item
from optimizer.debate.executor import DebateExecutor, bounded
from optimizer.debate.extract import Extracted, Status
from optimizer.misinformation.answers import is_right, read_text
from optimizer.misinformation.prompts import Agent, Script, own_words
from optimizer.misinformation.records import Role, Utterance
from optimizer.models.chat import CallTag, ChatRequest, Message, Sampling
from optimizer.sections import MisinformationSettings

PURPOSE = "misinformation"
_TOKENS_OF_ANSWER, _TOKENS_A_WORD = 24, 4
Reader = Callable[[str, str], Extracted]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an utterance belongs: its role, its turn, and the speaker's slot."""

    role: Role
    turn: int
    slot: int


def answer_tokens(settings: MisinformationSettings) -> int:
    """The longest contribution in tokens."""
    return settings.max_tokens or _TOKENS_OF_ANSWER + _TOKENS_A_WORD * settings.max_words


class Asker:
    """Asks for one transcript.

    Args:
        executor: whose clients answer, and whose voices give agents their own model or evidence.
        settings: lengths, sampling, second questions.
        script: writes the messages.
        arm: the arm's id, for the ledger.
        sample: the seed; every request of the transcript has it.
    """

    def __init__(
        self, executor: DebateExecutor, settings: MisinformationSettings, script: Script, arm: str = "", sample: int = 0
    ) -> None:
        self.settings, self.script, self.sample = settings, script, sample
        self._executor, self._arm = executor, arm

    @property
    def item(self) -> Item:
        return self.script.item

    @property
    def sampling(self) -> Sampling:
        """Of contributions and samples."""
        return Sampling(self.settings.temperature, self.settings.top_p, answer_tokens(self.settings), self.sample)

    @property
    def short(self) -> Sampling:
        """Of final answers and votes."""
        return replace(self.sampling, max_tokens=min(_TOKENS_OF_ANSWER, answer_tokens(self.settings)))

    async def ask(
        self,
        place: Place,
        agent: Agent,
        messages: tuple[Message, ...],
        sampling: Sampling,
        read: Reader | None = None,
        again: bool = False,
    ) -> Utterance:
        """One call.

        Raises:
            CallFailed: no answer came.
        """
        voice = self._executor.voice(agent.name)
        sampling = sampling.apart(self.item.id, place.role, place.turn, place.slot)
        # A role's own temperature is for what it says; the second question is asked at 0 of everybody.
        request = ChatRequest(messages, sampling if again else voice.sampling(sampling), sample=sampling.seed)
        tag = CallTag(PURPOSE, self._arm, self.item.id, agent.name, place.turn)
        reply = await voice.client.ask(request, tag)
        found = (read or self.read)(own_words(reply.text, agent.name), reply.finish_reason)
        return Utterance(
            role=place.role,
            turn=place.turn,
            slot=place.slot,
            agent=agent.name,
            key=voice.client.key(request),
            text=reply.text,
            finish_reason=reply.finish_reason,
            tokens=reply.prompt_tokens + reply.completion_tokens,
            status=found.status,
            answer=found.answer,
            right=is_right(found, self.item),
            again=again,
        )

    async def ask_surely(self, place: Place, agent: Agent, messages: tuple[Message, ...], sampling: Sampling) -> list[Utterance]:
        """One call whose answer decides something; where it cannot be read, it is followed by the second question."""
        first = await self.ask(place, agent, messages, sampling)
        return [first, *await self.second(first, agent, messages)]

    async def second(self, first: Utterance, agent: Agent, messages: Sequence[Message]) -> list[Utterance]:
        """The constrained second question at temperature 0, asked where an answer could not be read and settings allow it."""
        if first.status is Status.PARSED or not self.settings.reprompt:
            return []
        sampling = Sampling(0.0, 1.0, self.settings.reprompt_tokens, self.sample)
        asked = self.script.again(messages, first.text)
        return [await self.ask(Place(first.role, first.turn, first.slot), agent, asked, sampling, again=True)]

    def read(self, text: str, finish_reason: str) -> Extracted:
        """The answer in a text."""
        return read_text(text, self.item, self.script.protocol, finish_reason)

    def seen(self, agent: Agent) -> Script:
        """The script with the evidence that this agent has."""
        return replace(self.script, item=self._executor.voice(agent.name).sees(self.item))

    async def together(self, calls: Sequence[Callable[[], Awaitable[list[Utterance]]]]) -> list[Utterance]:
        """Calls that do not depend on each other: at once, or one by one where a slot's prefix cache is to serve them all."""
        limit = 1 if self._executor.client.endpoint.slots else len(calls)
        return [utterance for found in await bounded(calls, limit) for utterance in found]

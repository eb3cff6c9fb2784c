"""What agents are told. Texts are put in literally, once; what they hold stays text.

The order is: task (with the sentence about sources), evidence, claim or question, discussion so far, who one is (with the
passage that only this agent has), what to do now. What agents share comes first, so that a prefix cache serves them all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.data.item import LETTERS, Item, Task
from optimizer.debate.protocol import Protocol
from optimizer.debate.render import DRAFT_FIRST, DRAFT_LATER, VOTE, answer_words, delimiter, display_name, read_about
from optimizer.misinformation.records import Utterance
from optimizer.models.chat import Message

PROMPTS_VERSION = 3  # in a run's record: texts below, or seeds of utterances, that change make another run
_QUESTIONS = {
    Task.CHOICE: "Which of the choices answers the question?",
    Task.NUMBER: "Which number answers the question?",
    Task.TEXT: "What is the answer to the question?",
}


@dataclass(frozen=True, slots=True)
class Agent:
    """Somebody who takes part: a name, who that is in words, and the passage that is shown to nobody else, if any."""

    name: str
    description: str = ""
    passage: str = ""

    @property
    def persona(self) -> str:
        """The persona description as the model reads it. Nothing says that the passage may be false."""
        return "\n".join(part for part in (self.description, read_about(self.passage)) if part)


@dataclass(frozen=True, slots=True)
class Script:
    """Writes the messages for one item.

    Args:
        item: what is debated.
        protocol: question, words, and where the persona stands.
        agents: how many debate; 1 is a model alone.
        max_words: the length of a contribution.
        answer_first: whether it begins with its answer instead of ending with it.
        skepticism: the sentence about sources, which ends the task in every call; empty for none.
    """

    item: Item
    protocol: Protocol
    agents: int
    max_words: int
    skepticism: str = ""
    answer_first: bool = False

    def alone(self, agent: Agent) -> tuple[Message, ...]:
        """A model that answers by itself."""
        return self._messages(agent, (), f"{self._question} {self._reasoned}", task=self._task_alone)

    def draft(self, agent: Agent, heard: Sequence[Utterance]) -> tuple[Message, ...]:
        """The next contribution: the first proposes a draft, later ones improve it or agree."""
        role = DRAFT_LATER if heard else DRAFT_FIRST
        return self._messages(agent, heard, f"{self._question} {role} {self._reasoned}")

    def final(self, agent: Agent, heard: Sequence[Utterance]) -> tuple[Message, ...]:
        """Everybody's own final answer, condensed."""
        return self._messages(
            agent, heard, f"{self._question} The discussion has ended. Condense your final answer into one line: {self.form}"
        )

    def vote(self, agent: Agent, heard: Sequence[Utterance], options: Sequence[str]) -> tuple[Message, ...]:
        """An anonymous vote among numbered answers."""
        words = [answer_words(option, self.item, self.protocol) for option in options]
        listed = "\n".join(f"{number}. {each}" for number, each in enumerate(words, 1))
        return self._messages(
            agent,
            heard,
            f"{self._question} These final answers were given:\n{listed}\n{VOTE} Write its number alone.",
        )

    def verify(self, heard: Sequence[Utterance]) -> tuple[Message, ...]:
        """The verifier: it has no answer of its own, and lists what nothing supports."""
        basis = "evidence" if self.item.evidence_text else "question"
        return self._messages(
            Agent("verifier", "You are the verifier. You do not answer yourself."),
            heard,
            f"List the statements in the discussion that the {basis} does not support, in at most {2 * self.max_words} words. "
            "If there are none, write: none.",
        )

    def again(self, messages: Sequence[Message], answer: str) -> tuple[Message, ...]:
        """The one constrained question after an answer that could not be read."""
        return (
            *messages,
            Message("assistant", answer or "(no answer)"),
            Message("user", f"Write the answer alone, on one line and without a reason: {self.form}"),
        )

    @property
    def form(self) -> str:
        """The line that states an answer."""
        if self.item.task is Task.CLAIM:
            return "Answer: " + " or Answer: ".join(self.protocol.words)
        kind = {Task.CHOICE: "LETTER", Task.NUMBER: "NUMBER", Task.TEXT: "SHORT TEXT"}[self.item.task]
        return f"Answer: {kind}"

    @property
    def _question(self) -> str:
        return self.protocol.question if self.item.task is Task.CLAIM else _QUESTIONS[self.item.task]

    @property
    def _reasoned(self) -> str:
        if self.answer_first:
            return f"Begin with the line {self.form}\nThen give your reason in at most {self.max_words} words."
        return f"Give your reason in at most {self.max_words} words, and end with the line {self.form}"

    @property
    def _task_alone(self) -> str:
        claim = self.item.task is Task.CLAIM
        return "You judge whether a claim is grounded in evidence." if claim else "You answer a question."

    @property
    def _task(self) -> str:
        if self.agents == 1:
            return self._task_alone
        what = "judge whether a claim is grounded in evidence" if self.item.task is Task.CLAIM else "answer a question"
        return f"You are one of {self.agents} agents who {what} together."

    def _messages(self, agent: Agent, heard: Sequence[Utterance], now: str, task: str = "") -> tuple[Message, ...]:
        system = "\n".join(part for part in (task or self._task, self.skepticism) if part)
        parts = [*self._matter()]
        if heard:
            parts.append("The discussion so far:\n" + "\n".join(map(_line, heard)))
        if self.protocol.persona_position == "system":
            system = f"{system}\n\n{agent.persona}".strip()
        elif agent.persona:
            parts.append(agent.persona)
        return Message("system", system), Message("user", "\n\n".join([*parts, now]))

    def _matter(self) -> list[str]:
        item, fence = self.item, delimiter(self.item)
        parts = [f"Evidence:\n{fence}\n{item.evidence_text}\n{fence}"] if item.evidence_text else []
        parts.append(f"{'Claim' if item.task is Task.CLAIM else 'Question'}:\n{fence}\n{item.claim}\n{fence}")
        if item.choices:
            parts.append("Choices:\n" + "\n".join(f"{LETTERS[i]}. {choice}" for i, choice in enumerate(item.choices)))
        return parts


def own_words(text: str, agent: str) -> str:
    """What was said without the speaker's own name before it, which small models copy from the discussion: `Agent 3: Yes`."""
    named = re.match(rf"[\s*_]*{re.escape(display_name(agent))}[\s*_]*:[\s*_]*", text, re.IGNORECASE)
    return text[named.end() :] if named else text


def _line(utterance: Utterance) -> str:
    """What was said, on one line: a contribution cannot pose as another one."""
    said = own_words(utterance.text, utterance.agent)
    return f"{display_name(utterance.agent)}: {' '.join(said.split()) or '(nothing)'}"

"""What the settings of a debate mean: the words, the answer's form and schema, the sampling, the number of calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from optimizer.data.item import LETTERS, Item, Label, Task
from optimizer.debate.records import Turn
from optimizer.debate.verdict import Answer
from optimizer.models.chat import Sampling
from optimizer.sections import ProtocolSettings

_TOKENS_OF_ANSWER, _TOKENS_A_WORD = 40, 4  # JSON around the fields, and what a long English word may take
_TOKENS_OF_LINE = 20  # of what is heard of an answer, beside its reason
_TOKENS_WITH_ROOM = 512  # of what every call has room for beside evidence and claim, those of answer and reasons


def ballot_order(answers: Iterable[Answer], item: str) -> list[Answer]:
    """Different answers in an order that tells nothing of who gave them, and is no order of the alphabet either."""
    return sorted(set(answers), key=lambda answer: hashlib.sha256(f"ballot\n{item}\n{answer}".encode()).digest())


class Protocol(ProtocolSettings):
    """The settings of a debate, with what follows from them."""

    @classmethod
    def of(cls, settings: ProtocolSettings) -> Protocol:
        """The protocol with these settings."""
        return cls(**settings.model_dump())

    @property
    def words(self) -> dict[str, Label]:
        """The protocol's own words for the labels, for the parser."""
        known = {self.yes: Label.GROUNDED, self.no: Label.NOT_GROUNDED}
        return {**known, self.unsure: Label.UNSURE} if self.labels == "ternary" else known

    @property
    def word_of(self) -> dict[Label, str]:
        """The word that stands for each label."""
        return {label: word for word, label in self.words.items()}

    @property
    def answer_schema(self) -> str:
        """The JSON schema of an answer, with the fields in their order, as JSON text."""
        kinds = {
            "verdict": {"type": "string", "enum": list(self.words)},
            "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
            "reason": {"type": "string"},
        }
        properties = {name: kinds[name] for name in self.fields}
        return json.dumps(
            {"type": "object", "properties": properties, "required": list(self.fields), "additionalProperties": False}
        )

    @property
    def answer_form(self) -> str:
        """The answer as the model is told to write it."""
        *first, last = (f'"{word}"' for word in self.words)
        forms = {
            "verdict": f'"verdict": {", ".join(first)} or {last}',
            "confidence": '"confidence": 0 to 100',
            "reason": f'"reason": "at most {self.reason_words} words"',
        }
        return "{" + ", ".join(forms[name] for name in self.fields) + "}"

    def question_for(self, item: Item) -> str:
        """What is asked last."""
        asked = {Task.CHOICE: self.choice_question, Task.NUMBER: self.number_question, Task.TEXT: self.text_question}
        return asked.get(item.task, self.question)

    def schema_for(self, item: Item, answer_alone: bool = False) -> str:
        """The schema of an answer to this item; with `answer_alone`, of one that has no other field."""
        if item.task is Task.CLAIM and not answer_alone:
            return self.answer_schema
        kinds: dict[Task, dict[str, Any]] = {
            Task.CLAIM: {"type": "string", "enum": list(self.words)},
            Task.CHOICE: {"type": "string", "enum": list(LETTERS[: len(item.choices)])},
            Task.NUMBER: {"anyOf": [{"type": "number"}, {"type": "string"}]},
            Task.TEXT: {"type": "string"},
        }
        others = {"confidence": {"type": "integer", "minimum": 0, "maximum": 100}, "reason": {"type": "string"}}
        answer = "verdict" if item.task is Task.CLAIM else "answer"
        names = [answer if name == "verdict" else name for name in (("verdict",) if answer_alone else self.fields)]
        properties = {name: kinds[item.task] if name == answer else others[name] for name in names}
        return json.dumps({"type": "object", "properties": properties, "required": names, "additionalProperties": False})

    def form_for(self, item: Item, answer_alone: bool = False) -> str:
        """An answer to this item as the model is told to write it."""
        if item.task is Task.CLAIM and not answer_alone:
            return self.answer_form
        *first, last = (f'"{word}"' for word in (self.words if item.task is Task.CLAIM else LETTERS[: len(item.choices) or 1]))
        one_of = f"{', '.join(first)} or {last}" if first else last
        forms = {
            Task.CLAIM: f'"verdict": {one_of}',
            Task.CHOICE: f'"answer": {one_of}',
            Task.NUMBER: '"answer": a number',
            Task.TEXT: f'"answer": "at most {self.answer_words} words"',
        }
        others = {"confidence": '"confidence": 0 to 100', "reason": f'"reason": "at most {self.reason_words} words"'}
        names = ("verdict",) if answer_alone else self.fields
        return "{" + ", ".join(forms[item.task] if name == "verdict" else others[name] for name in names) + "}"

    def sampling(self, sample: int, item: Item | None = None) -> Sampling:
        """The sampling parameters of a turn; each sample (repeat) has a seed of its own, and text answers have room."""
        words = self.reason_words if "reason" in self.fields else 0
        words += self.answer_words if item is not None and item.task is Task.TEXT else 0
        most = _TOKENS_OF_ANSWER + _TOKENS_A_WORD * words
        return Sampling(temperature=self.temperature, top_p=self.top_p, max_tokens=most, seed=sample)

    def long_answers(self, personas: int) -> int:
        """Tokens that an answer, and the reasons that are heard, take beyond what every call has room for; mostly 0."""
        answer = _TOKENS_OF_ANSWER + _TOKENS_A_WORD * (self.reason_words if "reason" in self.fields else 0)
        heard = (self.answers(personas) - 1) * _TOKENS_A_WORD * self.reason_words if "reason" in self.told else 0
        return max(0, answer + heard - _TOKENS_WITH_ROOM)

    def answers(self, personas: int) -> int:
        """How many answers one debate has at the most; secret votes are none."""
        return self.rounds * personas

    @property
    def ballots(self) -> int:
        """After how many rounds there can be a secret vote."""
        return self.rounds - self.vote_from + 1 if self.aggregator == "ballot" else 0

    @property
    def least_rounds(self) -> int:
        """How many rounds a debate has at the least."""
        return 1 if self.early_stop else self.vote_from if self.aggregator == "ballot" else self.rounds

    def unheard(self, personas: int) -> int:
        """Tokens by which a debate's longest call may exceed those of one that ended early: what was not said in it."""
        if self.least_rounds == self.rounds and not self.ballots:
            return 0
        line = _TOKENS_OF_LINE + (_TOKENS_A_WORD * self.reason_words if "reason" in self.told else 0)
        return self.answers(personas) * line + (personas * line + _TOKENS_OF_LINE if self.ballots else 0)

    def calls(self, personas: int) -> int:
        """How many calls one debate takes at the most."""
        return (self.answers(personas) + self.ballots * personas) * (2 if self.reprompt else 1)

    @property
    def first_round_is_independent(self) -> bool:
        """Whether what a persona says in round 1 depends on its own text alone: a changed one leaves the others as they are."""
        return self.turns == "simultaneous"

    def order(self, personas: Sequence[str], item: str) -> tuple[str, ...]:
        """Who speaks when on this item, the same in all rounds."""
        if self.speaking_order == "fixed":
            return tuple(personas)
        return tuple(sorted(personas, key=lambda name: hashlib.sha256(f"{self.order_seed}\n{item}\n{name}".encode()).digest()))

    def heard(self, turns: Sequence[Turn], persona: str, number: int, voting: bool = False) -> tuple[Turn, ...]:
        """Which of the turns so far a persona reads before it speaks in round `number`, or votes after it."""
        if self.visibility == "none" or (self.visibility == "blind_last" and number == self.rounds and not voting):
            return ()
        return tuple(
            turn
            for turn in turns
            if (turn.round < number or self.turns == "sequential" or voting)
            and (turn.persona != persona or self.visibility != "others_verdicts")
        )

    @property
    def told(self) -> tuple[str, ...]:
        """Which fields of the turns that it reads a persona is told."""
        return ("verdict",) if self.visibility == "others_verdicts" else self.shared

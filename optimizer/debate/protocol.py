"""What the settings of a debate mean: the words, the answer's form and schema, the sampling, the number of calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from optimizer.config import ProtocolSettings
from optimizer.data.item import Label
from optimizer.debate.records import Turn
from optimizer.models.chat import Sampling

_TOKENS_OF_ANSWER, _TOKENS_A_WORD = 40, 4  # JSON around the fields, and what a long English word may take


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

    def sampling(self, sample: int) -> Sampling:
        """The sampling parameters of a turn; each sample (repeat) has a seed of its own."""
        reason = _TOKENS_A_WORD * self.reason_words if "reason" in self.fields else 0
        return Sampling(temperature=self.temperature, top_p=self.top_p, max_tokens=_TOKENS_OF_ANSWER + reason, seed=sample)

    def calls(self, personas: int) -> int:
        """How many calls one debate takes at the most."""
        return self.rounds * personas

    @property
    def first_round_is_independent(self) -> bool:
        """Whether what a persona says in round 1 depends on its own text alone: a changed one leaves the others as they are."""
        return self.turns == "simultaneous"

    def order(self, personas: Sequence[str], item: str) -> tuple[str, ...]:
        """Who speaks when on this item, the same in all rounds."""
        if self.speaking_order == "fixed":
            return tuple(personas)
        return tuple(sorted(personas, key=lambda name: hashlib.sha256(f"{self.order_seed}\n{item}\n{name}".encode()).digest()))

    def heard(self, turns: Sequence[Turn], persona: str, number: int) -> tuple[Turn, ...]:
        """Which of the turns so far a persona reads before it speaks in round `number`."""
        if self.visibility == "none" or (self.visibility == "blind_last" and number == self.rounds):
            return ()
        return tuple(
            turn
            for turn in turns
            if (turn.round < number or self.turns == "sequential")
            and (turn.persona != persona or self.visibility != "others_verdicts")
        )

    @property
    def told(self) -> tuple[str, ...]:
        """Which fields of the turns that it reads a persona is told."""
        return ("verdict",) if self.visibility == "others_verdicts" else self.shared

"""What the settings of a debate mean: the words, the answer's form and schema, the sampling, the number of calls."""

from __future__ import annotations

import json

from optimizer.config import ProtocolSettings
from optimizer.data.item import Label
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
        return {self.yes: Label.GROUNDED, self.no: Label.NOT_GROUNDED}

    @property
    def answer_schema(self) -> str:
        """The JSON schema of an answer, with the fields in their order, as JSON text."""
        kinds = {
            "verdict": {"type": "string", "enum": [self.yes, self.no]},
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
        forms = {
            "verdict": f'"verdict": "{self.yes}" or "{self.no}"',
            "confidence": '"confidence": 0 to 100',
            "reason": f'"reason": "at most {self.reason_words} words"',
        }
        return "{" + ", ".join(forms[name] for name in self.fields) + "}"

    def sampling(self, sample: int) -> Sampling:
        """The sampling parameters of a turn; each sample (repeat) has a seed of its own."""
        reason = _TOKENS_A_WORD * self.reason_words if "reason" in self.fields else 0
        return Sampling(temperature=self.temperature, max_tokens=_TOKENS_OF_ANSWER + reason, seed=sample)

    def calls(self, personas: int) -> int:
        """How many calls one debate takes."""
        return self.rounds * personas

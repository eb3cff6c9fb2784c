"""What is asked and what comes back: the records that cross the client's boundary."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Every sampling parameter, always sent: a server's own defaults never decide."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 64
    seed: int = 0

    def apart(self, *place: object) -> Sampling:
        """The same with a seed of its own for a place (item, persona, round); at temperature 0, where none is drawn, as it is.

        Servers draw the same random numbers from the same seed. Under one seed for all, whoever is as undecided says the same, on
        every item: what looks like agreement would be the draw. Nothing else enters, so requests that are equal stay equal.
        """
        if not self.temperature:
            return self
        text = "\n".join(map(str, (self.seed, *place)))
        return replace(self, seed=int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") // 2)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A resolved request but for the model. `schema` is JSON text, empty for free text.

    `sample` tells repeats of one request apart, so that a cached answer is never returned for a second sample.
    """

    messages: tuple[Message, ...]
    sampling: Sampling
    schema: str = ""
    sample: int = 0

    def key(self, model_identity: str) -> str:
        """The cache key and resume key: model, messages, parameters, schema, seed and sample; never a URL."""
        record = {  # by hand, here and below: dataclasses.asdict copies deeply, at a third of a call's CPU
            "v": 1,
            "model": model_identity,
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            "sampling": {name: getattr(self.sampling, name) for name in Sampling.__dataclass_fields__},
            "schema": self.schema,
            "sample": self.sample,
        }
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """An answer as the server gave it. Token counts are 0 where the server does not report them.

    `cached_tokens` are a part of `prompt_tokens`. `reasoning` is what a reasoning model thought apart from its answer. `cost`
    is in US dollars, 0.0 where unknown or free; `fingerprint` is the provider's name for the exact model behind it.
    """

    text: str
    finish_reason: str
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    reasoning: str = ""
    cost: float = 0.0
    fingerprint: str = ""

    def as_json(self) -> str:
        """All fields, as the cache keeps them."""
        return json.dumps({name: getattr(self, name) for name in ChatReply.__dataclass_fields__})

    def with_cost(self, cost: float) -> ChatReply:
        """The same with what it cost."""
        return replace(self, cost=cost)


@dataclass(frozen=True, slots=True)
class CallTag:
    """What a call is for: `purpose` is debate, control, reflection, judge or probe; the rest may be empty."""

    purpose: str
    candidate: str = ""
    item: str = ""
    persona: str = ""
    round: int = 0

    def fields(self) -> dict[str, str | int]:
        """Its fields by name, as the ledger writes them."""
        return {name: getattr(self, name) for name in CallTag.__dataclass_fields__}


def reply_from_body(body: Any, seconds: float) -> ChatReply:
    """Read a chat completion. Raises ValueError where the body is not one."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        usage = body.get("usage") or {}
        content = message.get("content") or ""
        if isinstance(content, list):  # content parts
            content = "".join(part.get("text", "") for part in content)
        return ChatReply(
            text=str(content),
            finish_reason=str(choice.get("finish_reason") or "stop"),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            cached_tokens=int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
            seconds=seconds,
            reasoning=str(message.get("reasoning_content") or message.get("reasoning") or ""),
            fingerprint=str(body.get("system_fingerprint") or ""),
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"the body is no chat completion: {json.dumps(body)[:160]}") from error

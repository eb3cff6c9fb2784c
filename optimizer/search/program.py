"""Reflection as a dspy program over our own client: any adapter asks it, any dspy optimiser compiles it, and no call escapes.

    from optimizer.search.program import ReflectionProgram, language_model

    lm = language_model(executor.voice("reflection").client)       # calls go through cache and ledger
    with dspy.context(lm=lm, adapter=PlainAdapter()):
        compiled = dspy.LabeledFewShot(k=2).compile(ReflectionProgram(), trainset=examples)
    compiled.save("reflection.json")                               # then: --set search.reflection_program=reflection.json

The plain adapter is the default: one user message and a JSON schema, which a model of 1.5B can follow; dspy's own adapters spell
every field out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import dspy
from dspy.lm15 import Message as DspyMessage
from dspy.lm15 import Request, Response, Usage

from optimizer.errors import UserError
from optimizer.models.chat import CallTag, ChatReply, ChatRequest, Message, Sampling
from optimizer.models.client import ChatClient
from optimizer.search.candidate import copied_words
from optimizer.search.reflection import Reading, Reflected, read_instruction
from optimizer.sections import ReflectionAdapter, SearchSettings

_TEMPERATURE, _TOP_P = 0.8, 0.95
_DIAGNOSIS_TOKENS = 120
_COPIED_WORDS = 6  # so many in a row of the request itself are no advice


class Reflect(dspy.Signature):  # type: ignore[misc]
    """Find what these mistakes have in common, and write a new instruction that would have avoided them. Give other, general
    advice than the current one, without the examples."""

    panel: str = dspy.InputField()
    record: str = dspy.InputField()
    debates: str = dspy.InputField()
    rejected: str = dspy.InputField()
    limits: str = dspy.InputField()
    # The diagnosis comes first: a small model that must name the cause before it writes copies the old text less often.
    diagnosis: str = dspy.OutputField(desc="what the mistakes have in common")
    instruction: str = dspy.OutputField(desc="the new instruction itself")


class Shorten(dspy.Signature):  # type: ignore[misc]
    """Say the same in fewer words: keep every rule that changes what its reader does, leave out what only repeats or explains."""

    current: str = dspy.InputField()
    limits: str = dspy.InputField()
    instruction: str = dspy.OutputField(desc="the shorter instruction itself")


class ReflectionProgram(dspy.Module):  # type: ignore[misc]
    """One reflection; its inputs are the fields of `Reading`."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(Reflect)

    def forward(self, **reading: str) -> Any:
        return self.write(**reading)

    async def aforward(self, **reading: str) -> Any:
        return await self.write.acall(**reading)


class _Unreadable(Exception):
    """The reply has no instruction in it; the message says why."""


class PlainAdapter(dspy.Adapter):  # type: ignore[misc]
    """One user message, the texts in their order, and a JSON schema for the reply; demonstrations go before it, as a dialogue."""

    def format(self, signature: Any, demos: list[dict[str, Any]], inputs: dict[str, Any]) -> list[dict[str, Any]]:
        messages = []
        for demo in demos:
            messages.append({"role": "user", "content": self._question(signature, demo)})
            answer = {name: demo[name] for name in signature.output_fields if name in demo}
            messages.append({"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)})
        return [*messages, {"role": "user", "content": self._question(signature, inputs)}]

    def _question(self, signature: Any, inputs: Mapping[str, Any]) -> str:
        texts = [str(inputs[name]) for name in signature.input_fields if name != "limits" and inputs.get(name)]
        return "\n\n".join([*texts, _task(signature, inputs)])

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        found = read_instruction(completion, "stop")
        if found.problem:
            raise _Unreadable(found.problem)
        return {**dict.fromkeys(signature.output_fields, ""), "instruction": found.text}

    async def acall(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> list[dict[str, Any]]:
        lm_kwargs = {"response_format": _response_format(signature), **lm_kwargs}
        return list(await super().acall(lm, lm_kwargs, signature, demos, inputs))

    def __call__(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> list[dict[str, Any]]:
        lm_kwargs = {"response_format": _response_format(signature), **lm_kwargs}
        return list(super().__call__(lm, lm_kwargs, signature, demos, inputs))


class ClientEngine:
    """A dspy engine whose calls are our client's: cached, counted, retried and spread over replicas as all others.

    Args:
        client: of the model.
        tag: what its calls are counted as.
        most: calls that it makes; a proposal is paid for as one.
        loop: the client's event loop; needed only where dspy calls from another thread.
    """

    def __init__(
        self,
        client: ChatClient,
        tag: CallTag,
        most: int | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._client, self._tag, self._left, self._loop = client, tag, most, loop
        self.last: ChatReply | None = None

    async def ask(self, request: Request) -> Response:
        """Answer one request of dspy's.

        Raises:
            CallFailed, UserError: as the client; or there were as many calls as may be.
        """
        if self._left is not None:
            if not self._left:
                raise UserError(
                    "the reflection program asks the model more than once, but a proposal is planned and paid as one call"
                )
            self._left -= 1
        self.last = await self._client.ask(chat_request(request), self._tag)
        reason = "length" if self.last.finish_reason == "length" else "stop"
        usage = Usage(input_tokens=self.last.prompt_tokens, output_tokens=self.last.completion_tokens)
        message = DspyMessage.assistant(self.last.text or " ")
        return Response(id=None, model=request.model, message=message, finish_reason=reason, usage=usage)

    def complete(self, request: Request) -> Response:
        """The same for dspy's synchronous callers, from a thread other than the client's."""
        if self._loop is None:
            raise UserError(
                "this language model is asynchronous; give language_model the client's event loop, and call from a thread"
            )
        return asyncio.run_coroutine_threadsafe(self.ask(request), self._loop).result()


class _AsyncEngine:
    def __init__(self, engine: ClientEngine) -> None:
        self._engine = engine

    async def complete(self, request: Request) -> Response:
        return await self._engine.ask(request)


def language_model(client: ChatClient, engine: ClientEngine | None = None, tokens: int = 400, sample: int = 0) -> Any:
    """A dspy.LM over our client.

    Args:
        client: of the model; entered already.
        engine: where its calls are tagged or limited; one for the current event loop where left out.
        tokens: the longest reply.
        sample: which sample of equal requests this is.
    """
    if engine is None:
        engine = ClientEngine(client, CallTag("reflection"), loop=asyncio.get_running_loop())
    name = f"panel:{client.endpoint.model}".replace("/", ":")  # a bare name could be one that dspy has rules for
    return dspy.LM(
        name, engine=engine, async_engine=_AsyncEngine(engine), cache=False, num_retries=0,
        temperature=_TEMPERATURE, max_tokens=tokens, top_p=_TOP_P, seed=sample,
    )  # fmt: skip


def chat_request(request: Request) -> ChatRequest:
    """Ours for dspy's. The seed is the sample, too: equal requests of two samples are two calls."""
    system = [request.system] if isinstance(request.system, str) else [part.text for part in request.system or ()]
    messages = [Message("system", "\n\n".join(system))] if system else []
    messages += [Message(each.role, "".join(getattr(part, "text", "") for part in each.parts)) for each in request.messages]
    config = request.config
    sampling = Sampling(
        temperature=_TEMPERATURE if config.temperature is None else config.temperature,
        top_p=1.0 if config.top_p is None else config.top_p,
        max_tokens=config.max_tokens or 400,
        seed=config.seed or 0,
    )
    form = config.response_format or {}
    schema = json.dumps(form["schema"]) if form.get("schema") else ""
    return ChatRequest(tuple(messages), sampling, schema, config.seed or 0)


def load_program(path: str) -> ReflectionProgram:
    """The program, or a compiled one. Raises UserError where the file is none."""
    program = ReflectionProgram()
    if path:
        try:
            program.load(path)
        except Exception as error:
            raise UserError(
                f"search.reflection_program: {path} is no saved ReflectionProgram ({' '.join(str(error).split())})"
            ) from error
    return program


def adapter_of(name: ReflectionAdapter) -> Any:
    """The adapter of a name; none of them asks a second time when it cannot read the reply."""
    if name == "plain":
        return PlainAdapter()
    if name == "json":
        return dspy.JSONAdapter()
    return (dspy.ChatAdapter if name == "chat" else dspy.XMLAdapter)(use_json_adapter_fallback=False)


async def reflect(
    client: ChatClient,
    reading: Reading,
    tag: CallTag,
    settings: SearchSettings,
    sample: int,
) -> Reflected:
    """Ask for a better instruction.

    Args:
        client: the model that reflects.
        reading: what it reads.
        tag: what the call is counted as.
        settings: the longest instruction that is taken, the adapter, and a compiled program.
        sample: which proposal this is; each is a sample of its own.

    Raises:
        CallFailed: no answer.
        UserError: the endpoint is gone, the program's file is none, or the program asks more than once.
    """
    engine = ClientEngine(client, tag, most=1)
    lm = language_model(client, engine, 2 * settings.token_cap + _DIAGNOSIS_TOKENS, sample)
    program, adapter = load_program(settings.reflection_program), adapter_of(settings.reflection_adapter)
    return await _ask(program, lm, adapter, engine, asdict(reading))


async def shorten(client: ChatClient, text: str, tag: CallTag, sample: int) -> Reflected:
    """Ask for the same instruction in about half the words.

    Raises:
        CallFailed: no answer.
        UserError: the endpoint is gone.
    """
    words = len(text.split())
    engine = ClientEngine(client, tag)
    inputs = {"current": f"Instruction: {text}", "limits": f"It has at most {max(5, words // 2)} words."}
    return await _ask(
        dspy.Predict(Shorten), language_model(client, engine, 3 * words + 40, sample), PlainAdapter(), engine, inputs
    )


async def _ask(program: Any, lm: Any, adapter: Any, engine: ClientEngine, inputs: Mapping[str, str]) -> Reflected:
    with dspy.context(lm=lm, adapter=adapter, disable_history=True):
        try:
            text = str((await program.acall(**inputs)).instruction or "").strip()
        except dspy.LMError as error:
            raise error.__cause__ or error from None
        except (_Unreadable, dspy.AdapterParseError) as error:
            if engine.last is not None and engine.last.finish_reason == "length":
                return Reflected(problem="the reply was cut off before the instruction ended")
            if engine.last is not None and not engine.last.text.strip():
                return Reflected(problem="the reply is empty")
            return Reflected(problem=" ".join(str(error).split())[:200])
    if copied := copied_words(text, _OWN_WORDS, _COPIED_WORDS):
        return Reflected(problem=f"copies from what it was asked: {copied!r}")
    return Reflected(text) if text else Reflected(problem="the instruction is empty")


def _task(signature: Any, inputs: Mapping[str, Any]) -> str:
    fields = "; then ".join(f"{name}, {field.json_schema_extra['desc']}" for name, field in signature.output_fields.items())
    return f"{' '.join(signature.instructions.split())} {inputs.get('limits', '')} Answer as JSON with the field {fields}."


def _response_format(signature: Any) -> dict[str, Any]:
    names = list(signature.output_fields)
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}


# What no instruction has by chance. Those of compiled programs are other people's words, and may be good advice.
_OWN_WORDS = (_task(Reflect, {}), _task(Shorten, {}), "has at most N words; the diagnosis has at most N")

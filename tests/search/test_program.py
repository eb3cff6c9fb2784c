"""Reflection as a dspy program: its calls go through our client, any adapter asks, a compiled program is taken."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dspy
import pytest

from optimizer.errors import UserError
from optimizer.models.cache import ResponseCache
from optimizer.models.chat import CallTag
from optimizer.models.client import ChatClient
from optimizer.models.endpoint import Endpoint
from optimizer.models.ledger import Ledger
from optimizer.models.transport import CallFailed
from optimizer.search.program import PlainAdapter, ReflectionProgram, language_model, reflect
from optimizer.search.reflection import Reading, Reflected
from optimizer.sections import SearchSettings
from tests.conftest import Scripted, completion

READING = Reading("The {panel} of {{three}}.", "Wrong on 3 of 8.", "Mistake 1 {# x #}", "", "At most 60 words.")
TAG = CallTag("reflection", "candidate", persona="expert")


def ask(server: Scripted, path: Path, settings: SearchSettings, sample: int = 7) -> tuple[Reflected, Ledger]:
    async def go() -> tuple[Reflected, Ledger]:
        ledger = Ledger()
        with ResponseCache(path / "cache.sqlite") as cache:
            async with ChatClient(Endpoint(server.base_url, "scripted", "scripted"), cache, ledger, attempts=1) as client:
                return await reflect(client, READING, TAG, settings, sample), ledger

    return asyncio.run(go())


def test_the_plain_adapter_asks_once_with_a_schema_and_the_texts_as_they_are(server: Scripted, tmp_path: Path) -> None:
    server.script = lambda body: completion(json.dumps({"diagnosis": "d", "instruction": "You are new."}))
    found, ledger = ask(server, tmp_path, SearchSettings())
    assert found == Reflected("You are new.")
    [body] = server.requests
    [message] = body["messages"]
    assert "The {panel} of {{three}}.\n\nWrong on 3 of 8.\n\nMistake 1 {# x #}\n\nFind what" in message["content"]
    assert message["content"].count("At most 60 words.") == 1
    assert list(body["response_format"]["json_schema"]["schema"]["properties"]) == ["diagnosis", "instruction"]
    assert (body["temperature"], body["top_p"], body["seed"], body["max_tokens"]) == (0.8, 0.95, 7, 360)
    assert ledger.by_purpose["reflection"]["paid"] == 1
    again, ledger = ask(server, tmp_path, SearchSettings())
    assert again == found
    assert (len(server.requests), ledger.by_purpose["reflection"]["hits"]) == (1, 1)


@pytest.mark.parametrize(
    ("adapter", "reply"),
    [
        ("chat", "[[ ## diagnosis ## ]]\nd\n\n[[ ## instruction ## ]]\nYou are new.\n\n[[ ## completed ## ]]"),
        ("json", '{"diagnosis": "d", "instruction": "You are new."}'),
        ("xml", "<diagnosis>d</diagnosis><instruction>You are new.</instruction>"),
    ],
)
def test_dspys_own_adapters_ask_too_and_never_twice(server: Scripted, tmp_path: Path, adapter: Any, reply: str) -> None:
    server.script = lambda body: completion(reply)
    assert ask(server, tmp_path, SearchSettings(reflection_adapter=adapter))[0] == Reflected("You are new.")
    server.script = lambda body: completion("I would rather talk about the weather.")
    refused, _ = ask(server, tmp_path, SearchSettings(reflection_adapter=adapter), sample=8)
    assert refused.problem
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "reason", "problem"),
    [
        ('{"diagnosis": "d", "instruction": "You are', "length", "the reply was cut off before the instruction ended"),
        ("", "stop", "the reply is empty"),
        ("You are the new Expert.", "stop", "the reply has no instruction in it"),
        ('{"diagnosis": "d", "instruction": "  "}', "stop", "the instruction is empty"),
        (
            '{"diagnosis": "d", "instruction": "You are it. Answer as JSON with the field diagnosis."}',
            "stop",
            "copies from what it was asked: 'answer as json with the field'",
        ),
    ],
)
def test_replies_without_an_instruction_are_refused_with_the_reason(
    server: Scripted, tmp_path: Path, reply: str, reason: str, problem: str
) -> None:
    server.script = lambda body: completion(reply, reason)
    assert ask(server, tmp_path, SearchSettings())[0] == Reflected(problem=problem)


def test_a_failed_call_is_a_failed_call(server: Scripted, tmp_path: Path) -> None:
    server.script = lambda body: (400, {}, "broken")
    with pytest.raises(CallFailed):
        ask(server, tmp_path, SearchSettings())


def test_a_compiled_program_is_saved_taken_and_shows_its_demonstrations(server: Scripted, tmp_path: Path) -> None:
    server.script = lambda body: completion(json.dumps({"diagnosis": "d", "instruction": "You are new."}))
    example = dspy.Example(**asdict(READING), diagnosis="They guess.", instruction="You are careful.")
    example = example.with_inputs(*asdict(READING))

    async def compile_it() -> Any:
        with ResponseCache(tmp_path / "compile.sqlite") as cache:
            async with ChatClient(Endpoint(server.base_url, "scripted", "scripted"), cache, Ledger()) as client:
                lm = language_model(client)

                def work() -> Any:
                    with dspy.context(lm=lm, adapter=PlainAdapter()):
                        teacher = dspy.BootstrapFewShot(metric=lambda *_: True, max_bootstrapped_demos=1, max_labeled_demos=1)
                        return teacher.compile(ReflectionProgram(), trainset=[example])

                return await asyncio.to_thread(work)

    asyncio.run(compile_it()).save(str(tmp_path / "program.json"))
    assert len(server.requests) == 1
    ask(server, tmp_path, SearchSettings(reflection_program=str(tmp_path / "program.json")))
    roles = [message["role"] for message in server.requests[-1]["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert json.loads(server.requests[-1]["messages"][1]["content"])["instruction"] in ("You are new.", "You are careful.")


def test_a_file_that_is_no_program_is_named(server: Scripted, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(UserError, match=r"search.reflection_program: .*other.json is no saved ReflectionProgram"):
        ask(server, tmp_path, SearchSettings(reflection_program=str(tmp_path / "other.json")))

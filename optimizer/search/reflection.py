"""Proposes a prompt by reflection: a model reads train debates that went wrong, and rewrites one persona's instruction."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.debate.json_answers import field, find_objects
from optimizer.debate.protocol import Protocol
from optimizer.debate.render import display_name
from optimizer.models.catalogue import catalogue
from optimizer.models.chat import CallTag, ChatRequest, Message, Sampling
from optimizer.models.client import ChatClient
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.search.candidate import Candidate, Rejection
from optimizer.search.lessons import Lesson, duty, role_map, shown_lessons, shown_rejections, tally

_DEBATES_SHOWN = 4
_SHORT_TOKENS, _FULL_TOKENS = 1_200, 4_000
_TEMPERATURE = 0.8
_DIAGNOSIS_WORDS, _DIAGNOSIS_TOKENS = 40, 120
_INSTRUCTION = re.compile(r"<instruction>(.*?)</instruction>", re.DOTALL | re.IGNORECASE)
# The diagnosis comes first: a small model that must name the cause before it writes copies the old text less often.
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"diagnosis": {"type": "string"}, "instruction": {"type": "string"}},
        "required": ["diagnosis", "instruction"],
        "additionalProperties": False,
    }
)

_SHORTER_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"instruction": {"type": "string"}},
        "required": ["instruction"],
        "additionalProperties": False,
    }
)


@dataclass(frozen=True, slots=True)
class Reflected:
    """What came back: a text, or the reason why there is none."""

    text: str = ""
    problem: str = ""


async def reflect(
    client: ChatClient,
    protocol: Protocol,
    candidate: Candidate,
    component: str,
    lessons: Sequence[Lesson],
    rejected: Sequence[Rejection],
    token_cap: int,
    sample: int,
) -> Reflected:
    """Ask for a better instruction for one component.

    Args:
        client: the model that reflects.
        protocol: the words in which the panel answers.
        candidate: whose instruction is rewritten.
        component: which one.
        lessons: its train debates, right and wrong ones.
        rejected: what was proposed before and did not help, with the reasons.
        token_cap: the longest instruction that is taken.
        sample: which proposal this is; each is a sample of its own.

    Raises:
        CallFailed: no answer.
        UserError: the endpoint is gone.
    """
    endpoint = client.endpoint
    full = endpoint.model not in catalogue()  # the embedded models are small ones
    room = endpoint.context // 2 or _FULL_TOKENS
    prompt = reflection_prompt(protocol, candidate, component, lessons, rejected, token_cap, full, min(room, _FULL_TOKENS))
    sampling = Sampling(temperature=_TEMPERATURE, top_p=0.95, max_tokens=2 * token_cap + _DIAGNOSIS_TOKENS, seed=sample)
    request = ChatRequest((Message("user", prompt),), sampling, _SCHEMA, sample)
    reply = await client.ask(request, CallTag("reflection", candidate.id, persona=component))
    return read_instruction(reply.text, reply.finish_reason)


async def compress(client: ChatClient, component: str, text: str, sample: int) -> Reflected:
    """Ask for the same instruction in about half the words.

    Raises:
        CallFailed: no answer.
        UserError: the endpoint is gone.
    """
    words = len(text.split())
    prompt = (
        f"Instruction: {text}\n\nSay the same in at most {max(5, words // 2)} words: keep every rule that changes what its "
        "reader does, leave out what only repeats or explains. Answer as JSON with one field: instruction."
    )
    sampling = Sampling(temperature=_TEMPERATURE, top_p=0.95, max_tokens=3 * words + 40, seed=sample)
    request = ChatRequest((Message("user", prompt),), sampling, _SHORTER_SCHEMA, sample)
    reply = await client.ask(request, CallTag("reflection", persona=component))
    return read_instruction(reply.text, reply.finish_reason)


def read_instruction(text: str, finish_reason: str) -> Reflected:
    """The instruction in the reply's JSON, or between tags. Any other reply is refused: it may be anything."""
    objects, _ = find_objects(text)
    given = [found for found in (field(record, "instruction") for record in objects) if isinstance(found, str)]
    given = given or _INSTRUCTION.findall(text)
    if not given:
        if finish_reason == "length":
            return Reflected(problem="the reply was cut off before the instruction ended")
        return Reflected(problem="the reply has no instruction in it" if text.strip() else "the reply is empty")
    instruction = given[-1].strip()
    return Reflected(instruction) if instruction else Reflected(problem="the instruction is empty")


def reflection_prompt(
    protocol: Protocol,
    candidate: Candidate,
    component: str,
    lessons: Sequence[Lesson],
    rejected: Sequence[Rejection],
    token_cap: int,
    full: bool,
    room: int = _FULL_TOKENS,
) -> str:
    """The text that the reflecting model reads.

    In full it has the whole panel's instructions, who is to blame for what, and debates that went well; small models, which lose
    the thread in that, read a short form. Either shows debates for about `room` tokens at most and says what was left out.
    """
    who = "all members" if component == SOURCE_SKEPTICISM else f"the {display_name(component)}"
    if full:
        head = role_map(protocol, candidate, component, lessons)
        debates = shown_lessons(protocol, lessons, room, len(lessons), True, component)
    else:
        personas = [name for name in candidate.texts if name != SOURCE_SKEPTICISM]
        what, answers = duty(protocol, lessons)
        head = (
            f"A panel of {len(personas)} judges ({', '.join(map(display_name, personas))}) {what}. Each {answers}, reads the "
            f"others' answers, and answers again; the majority decides. "
            f"You improve the instruction of {who}.\n\nCurrent instruction: {candidate.texts[component]}"
        )
        debates = shown_lessons(protocol, lessons, min(room, _SHORT_TOKENS), _DEBATES_SHOWN, False, component)
    parts = [head, tally(protocol, lessons), *debates]
    if rejected:
        parts.append(shown_rejections(rejected))
    parts.append(
        f"Find what these mistakes have in common, and write a new instruction for {who} that would have avoided them. Give "
        f"other, general advice than the current one, without the examples, in at most {token_cap * 3 // 5} words. "
        f"Answer as JSON with two fields: first diagnosis, what the mistakes have in common, at most {_DIAGNOSIS_WORDS} words; "
        f"then instruction, the new instruction itself{_opening(component)}."
    )
    return "\n\n".join(parts)


def _opening(component: str) -> str:
    return "" if component == SOURCE_SKEPTICISM else f", which begins with: You are the {display_name(component)}"

"""Proposes a prompt by reflection: a model reads train debates that went wrong, and rewrites one persona's instruction."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.data.item import Item, Label
from optimizer.debate.json_answers import field, find_objects
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.debate.render import display_name
from optimizer.models.chat import CallTag, ChatRequest, Message, Sampling
from optimizer.models.client import ChatClient
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.search.candidate import Candidate, Rejection

_DEBATES_SHOWN = 4
_EVIDENCE_WORDS = 90
_REJECTED_SHOWN = 4
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


@dataclass(frozen=True, slots=True)
class Lesson:
    """A train debate of the current candidate, with its item."""

    item: Item
    debate: Debate


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
    prompt = reflection_prompt(protocol, candidate, component, lessons, rejected, token_cap)
    sampling = Sampling(temperature=_TEMPERATURE, top_p=0.95, max_tokens=2 * token_cap + _DIAGNOSIS_TOKENS, seed=sample)
    request = ChatRequest((Message("user", prompt),), sampling, _SCHEMA, sample)
    reply = await client.ask(request, CallTag("reflection", candidate.id, persona=component))
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
) -> str:
    """The text that the reflecting model reads; it shows at most four wrong debates and says how many there were."""
    personas = [name for name in candidate.texts if name != SOURCE_SKEPTICISM]
    wrong = [lesson for lesson in lessons if lesson.debate.score(lesson.item) == 0.0]
    who = "all members" if component == SOURCE_SKEPTICISM else f"the {display_name(component)}"
    parts = [
        f"A panel of {len(personas)} judges ({', '.join(map(display_name, personas))}) decides whether evidence supports a "
        f"claim. Each answers {protocol.yes} or {protocol.no}, reads the others' answers, and answers again; the majority "
        f"decides. You improve the instruction of {who}.",
        f"Current instruction: {candidate.texts[component]}",
        _tally(protocol, lessons, wrong),
        *(_shown(protocol, lesson, component, number) for number, lesson in enumerate(wrong[:_DEBATES_SHOWN], 1)),
    ]
    if rejected:
        parts.append(
            "Instructions that were tried and did not help:\n"
            + "\n".join(f"- {each.text} ({each.reason})" for each in rejected[-_REJECTED_SHOWN:])
        )
    parts.append(
        f"Find what these mistakes have in common, and write a new instruction for {who} that would have avoided them. Give "
        f"other, general advice than the current one, without the examples, in at most {token_cap * 3 // 5} words. "
        f"Answer as JSON with two fields: first diagnosis, what the mistakes have in common, at most {_DIAGNOSIS_WORDS} words; "
        f"then instruction, the new instruction itself{_opening(component)}."
    )
    return "\n\n".join(parts)


def _opening(component: str) -> str:
    return "" if component == SOURCE_SKEPTICISM else f", which begins with: You are the {display_name(component)}"


def _word(protocol: Protocol, label: Label | None) -> str:
    return {Label.GROUNDED: protocol.yes, Label.NOT_GROUNDED: protocol.no}.get(label or Label.UNSURE, "no decision")


def _tally(protocol: Protocol, lessons: Sequence[Lesson], wrong: Sequence[Lesson]) -> str:
    missed = sum(lesson.item.label is Label.GROUNDED for lesson in wrong)
    text = (
        f"The panel was wrong on {len(wrong)} of {len(lessons)} claims: {missed} times it should have said {protocol.yes}, "
        f"{len(wrong) - missed} times {protocol.no}."
    )
    left_out = len(wrong) - _DEBATES_SHOWN
    return text + (f" Here are {_DEBATES_SHOWN} of them ({left_out} more are left out)." if left_out > 0 else "")


def _shown(protocol: Protocol, lesson: Lesson, component: str, number: int) -> str:
    words = lesson.item.evidence_text.split()
    evidence = " ".join(words[:_EVIDENCE_WORDS]) + (" [...]" if len(words) > _EVIDENCE_WORDS else "")
    lines = [
        f"Mistake {number}",
        f"Evidence: {evidence}",
        f"Claim: {lesson.item.claim}",
        f"Right answer: {_word(protocol, lesson.item.label)}."
        + (f" Why: {lesson.item.rationale}" if lesson.item.rationale else ""),
    ]
    for round_number in range(1, lesson.debate.last_round + 1):
        said = lesson.debate.round_verdicts(round_number)
        lines.append(
            f"Round {round_number}: "
            + ", ".join(f"{display_name(persona)} said {_word(protocol, verdict.vote)}" for persona, verdict in said.items())
        )
    own = [turn.verdict.reason for turn in lesson.debate.turns if turn.persona == component and turn.verdict.reason]
    if own:
        lines.append(f"Its reason: {' '.join(own[-1].split())}")
    return "\n".join(lines)

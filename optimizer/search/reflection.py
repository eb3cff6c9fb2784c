"""Proposes a prompt by reflection: a model reads train debates that went wrong, and rewrites one persona's instruction.

Here is what it reads and what is taken of its reply; `program.py` is the dspy program that asks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.debate.json_answers import field, find_objects
from optimizer.debate.protocol import Protocol
from optimizer.debate.render import display_name
from optimizer.errors import UserError
from optimizer.models.catalogue import catalogue
from optimizer.models.client import ChatClient
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.search.candidate import Candidate, Rejection
from optimizer.search.lessons import Lesson, drawn, duty, role_map, shown_lessons, shown_rejections, tally

REFLECTION_VERSION = 3  # in a run's record: what is read or asked for below changes which proposals come
_MISTAKES_SHOWN, _MISTAKES_SHORT = 8, 4
_SHORT_TOKENS, MOST_READ_TOKENS = 1_200, 4_000
_DIAGNOSIS_WORDS = 40
# What a small model is told to try, in turn: left to itself it writes the current text again, and then longer ones of the same.
_DIRECTIONS = (
    "name the details to compare, in an order",
    "ask for the deciding words to be found first",
    "say what alone is not enough to decide",
    "say what to answer when nothing speaks for it or against it",
    "keep to a single rule in one sentence",
    "warn of the one trap that these mistakes share",
    "give two short steps",
    "say which of two errors is the worse one, and how to avoid it",
)
_INSTRUCTION = re.compile(r"<instruction>(.*?)</instruction>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reflected:
    """What came back: a text, or the reason why there is none."""

    text: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reflecting model is given, in its order; the fields are the inputs of the dspy program.

    Attributes:
        panel: who sits on it, how it decides, the current instruction.
        record: how often it was wrong, and in which direction.
        debates: mistakes, within a bound in tokens, and what is left out.
        rejected: instructions that were tried and did not help; may be empty.
        limits: how long the answer may be, and how it begins.
    """

    panel: str
    record: str
    debates: str
    rejected: str
    limits: str


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


def program_hash(path: str) -> str:
    """A hash of a compiled program's file. Raises UserError where there is no such file."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UserError(f"search.reflection_program: {path} cannot be read ({error.strerror})") from error


def _full(client: ChatClient) -> bool:
    """Whether the model behind it reads the whole story: any but the small embedded ones."""
    return client.endpoint.model not in catalogue()


def mistakes_read(client: ChatClient) -> int:
    """How many mistakes the model behind `client` is shown at a time."""
    return _MISTAKES_SHOWN if _full(client) else _MISTAKES_SHORT


def reading_for(
    client: ChatClient,
    protocol: Protocol,
    candidate: Candidate,
    component: str,
    lessons: Sequence[Lesson],
    rejected: Sequence[Rejection],
    token_cap: int,
    turn: int,
    unread: int = 0,
) -> Reading:
    """What the model behind `client` reads: the whole story, or for the small embedded ones the short form.

    Args:
        client: the model that reflects; half its context goes to debates.
        protocol: the words in which the panel answers.
        candidate: whose instruction is rewritten.
        component: which one.
        lessons: its train debates, right and wrong ones.
        rejected: what was proposed before and did not help, with the reasons.
        token_cap: the longest instruction that is taken.
        turn: how many reflections this component has had; mistakes are drawn anew for each, and the short form takes the next
            direction.
        unread: train debates of the candidate that were not held.
    """
    room = min(client.endpoint.context // 2 or MOST_READ_TOKENS, MOST_READ_TOKENS)
    return reading(protocol, candidate, component, lessons, rejected, token_cap, _full(client), room, turn, unread)


def reading(
    protocol: Protocol,
    candidate: Candidate,
    component: str,
    lessons: Sequence[Lesson],
    rejected: Sequence[Rejection],
    token_cap: int,
    full: bool,
    room: int = MOST_READ_TOKENS,
    turn: int = 0,
    unread: int = 0,
) -> Reading:
    """The texts that the reflecting model reads.

    In full they hold the whole panel's instructions, who is to blame for what, and debates that went well; small models, which
    lose the thread in that and copy what they see, read a short form: a few mistakes, how rejected texts began, and a direction.
    Either shows debates for about `room` tokens at most and says what was left out.
    """
    who = "all members" if component == SOURCE_SKEPTICISM else f"the {display_name(component)}"
    if full:
        head = role_map(protocol, candidate, component, lessons)
        debates = shown_lessons(protocol, drawn(lessons, turn), room, len(lessons), True, component)
        words, direction = token_cap * 3 // 5, ""
    else:
        personas = [name for name in candidate.texts if name != SOURCE_SKEPTICISM]
        what, answers = duty(protocol, lessons)
        names, again = ", ".join(map(display_name, personas)), protocol.rounds > 1
        if len(personas) == 1:
            panel = f"One judge ({names}) {what}. It {answers}{', and answers again' if again else ''}."
        else:
            hears = ", reads the others' answers, and answers again" if again else ""
            panel = f"A panel of {len(personas)} judges ({names}) {what}. Each {answers}{hears}; the majority decides."
        head = f"{panel} You improve the instruction of {who}.\n\nCurrent instruction: {candidate.texts[component]}"
        debates = shown_lessons(protocol, drawn(lessons, turn), min(room, _SHORT_TOKENS), _MISTAKES_SHORT, False, component)
        # It overruns: half as many are asked for as are taken.
        words, direction = token_cap * 2 // 5, f" This time, {_DIRECTIONS[turn % len(_DIRECTIONS)]}."
    opening = "" if component == SOURCE_SKEPTICISM else f" It begins with: You are the {display_name(component)}"
    return Reading(
        head,
        tally(protocol, lessons, unread),
        "\n\n".join(debates),
        shown_rejections(rejected, full),
        f"The instruction is for {who} and has at most {words} words; the diagnosis has at most "
        f"{_DIAGNOSIS_WORDS}.{direction}{opening}",
    )

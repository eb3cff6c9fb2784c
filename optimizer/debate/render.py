"""Makes each turn's messages. Texts are put in literally, once; what they hold stays text.

The order is: fixed system text, evidence, claim, transcript, source skepticism, persona, question. All that personas share
comes first, so that a server's prefix cache computes it once an item. A passage that is shown to some personas stands
before the text of each of them, so that what all share stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from optimizer.data.item import Item, Label
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Turn
from optimizer.debate.verdict import Outcome
from optimizer.models.chat import Message
from optimizer.prompts.library import SOURCE_SKEPTICISM

_FENCE = '"'


def render_turn(
    item: Item, protocol: Protocol, texts: Mapping[str, str], persona: str, transcript: Iterable[Turn] = ()
) -> tuple[Message, ...]:
    """The messages of one turn.

    Args:
        item: evidence and claim.
        protocol: how the debate is held.
        texts: the candidate's text for each component.
        persona: who speaks; empty for a judge alone, who gets no persona, no source skepticism and no transcript.
        transcript: the turns that this persona has read.
    """
    fence = delimiter(item)
    parts = [f"Evidence:\n{fence}\n{item.evidence_text}\n{fence}", f"Claim:\n{fence}\n{item.claim}\n{fence}"]
    heard = list(transcript)
    if heard:
        parts.append(_transcript(heard, protocol))
    system = _system_text(protocol)
    passage = read_about(item.passage_for(persona)) if persona else ""
    instruction = "\n\n".join(part for part in (passage, texts[persona] if persona else "") if part)
    if persona and texts.get(SOURCE_SKEPTICISM):
        parts.append(texts[SOURCE_SKEPTICISM])
    if protocol.persona_position == "system":
        system = f"{system}\n\n{instruction}".strip()
    elif instruction:
        parts.append(instruction)
    parts.append(protocol.question)
    return Message("system", system), Message("user", "\n\n".join(parts))


def render_claim_alone(item: Item, protocol: Protocol) -> tuple[Message, ...]:
    """The messages of a judge who is asked without seeing the evidence."""
    system = (
        "You guess whether a claim is grounded in evidence that you cannot see. "
        f"Answer with one line of JSON: {protocol.answer_form}"
    )
    fence = delimiter(item)
    return Message("system", system), Message(
        "user", f"Claim:\n{fence}\n{item.claim}\n{fence}\n\nIs it likely that the evidence supports the claim?"
    )


def delimiter(item: Item) -> str:
    """Three quotation marks, or as many more as it takes to occur nowhere in the item."""
    return _fence_for(item.evidence_text, item.claim)


def read_about(passage: str) -> str:
    """A passage as it is put before who reads it; empty where there is none. Nothing says that it may be false."""
    return f"You have read this about the matter:\n{fenced(passage)}" if passage else ""


def fenced(text: str) -> str:
    """A text between quotation marks that occur nowhere in it."""
    fence = _fence_for(text)
    return f"{fence}\n{text}\n{fence}"


def display_name(persona: str) -> str:
    """`data_scientist` is spoken of as `Data scientist`."""
    return persona.replace("_", " ").capitalize()


def _fence_for(*texts: str) -> str:
    fence = _FENCE * 3
    while any(fence in text for text in texts):
        fence += _FENCE
    return fence


def _system_text(protocol: Protocol) -> str:
    return f"You judge whether a claim is grounded in evidence. Answer with one line of JSON: {protocol.answer_form}"


def _transcript(turns: list[Turn], protocol: Protocol) -> str:
    """What was said, a line a turn, round by round, with the fields that the protocol shares."""
    lines: list[str] = []
    for number in sorted({turn.round for turn in turns}):
        lines.append(f"The panel's answers in round {number}:")
        lines += [_line(turn, protocol) for turn in turns if turn.round == number]
    return "\n".join(lines)


def _line(turn: Turn, protocol: Protocol) -> str:
    verdict = turn.verdict
    label = Label.UNSURE if verdict.outcome is Outcome.ABSTAINED else verdict.label
    word = protocol.word_of.get(label) if label else None
    text = f"{display_name(turn.persona)}: {word or 'no answer'}"
    if "confidence" in protocol.told and verdict.confidence is not None:
        text += f" (confidence {verdict.confidence:g})"
    if "reason" in protocol.told and verdict.reason.strip():
        text += ". " + " ".join(verdict.reason.split())  # one line: a reason cannot pose as another turn
    return text

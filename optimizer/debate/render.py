"""Makes each turn's messages. Texts are put in literally, once; what they hold stays text.

The order is: fixed system text, evidence, claim (or question and choices), transcript, source skepticism, persona, question. All
that personas share comes first, so that a server's prefix cache computes it once an item. A passage that is shown to some
personas stands before the text of each of them, so that what all share stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from optimizer.data.item import LETTERS, Item, Label, Task
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Turn
from optimizer.debate.verdict import Answer, Outcome
from optimizer.models.chat import ChatRequest, Message, Sampling
from optimizer.prompts.library import SOURCE_SKEPTICISM

DRAFT_FIRST = "You speak first: propose a draft of the group's answer."
DRAFT_LATER = (
    "The last agent's contribution above is the current draft of the group's answer. "
    "Improve it where it is wrong or incomplete, or agree with it."
)
VOTE = "Vote for the one that is right. Your vote is secret."
_FENCE = '"'
_TOKENS_AGAIN = 64


def render_turn(
    item: Item,
    protocol: Protocol,
    texts: Mapping[str, str],
    persona: str,
    transcript: Iterable[Turn] = (),
    ballot: Sequence[Answer] = (),
) -> tuple[Message, ...]:
    """The messages of one turn, or of a secret vote.

    Args:
        item: evidence and claim, or a question with its choices and with evidence, where it has some.
        protocol: how the debate is held.
        texts: the candidate's text for each component.
        persona: who speaks; empty for a judge alone, who gets no persona, no source skepticism and no transcript.
        transcript: the turns that this persona has read.
        ballot: the answers to vote among; empty for a turn.
    """
    fence = delimiter(item)
    parts = [f"{name}:\n{fence}\n{text}\n{fence}" for name, text in named_parts(item).items()]
    heard = list(transcript)
    if heard:
        parts.append(_transcript(heard, protocol))
    system = _system_text(item, protocol)
    passage = read_about(item.passage_for(persona)) if persona else ""
    instruction = "\n\n".join(part for part in (passage, texts[persona] if persona else "") if part)
    if persona and texts.get(SOURCE_SKEPTICISM):
        parts.append(texts[SOURCE_SKEPTICISM])
    if protocol.persona_position == "system":
        system = f"{system}\n\n{instruction}".strip()
    elif instruction:
        parts.append(instruction)
    if ballot:
        listed = "\n".join(answer_words(answer, item, protocol) for answer in ballot)
        parts.append(f"These final answers were given:\n{listed}\n{VOTE}")
    elif persona and protocol.contribution == "draft":
        parts.append(DRAFT_LATER if heard else DRAFT_FIRST)
    parts.append(protocol.question_for(item))
    return Message("system", system), Message("user", "\n\n".join(parts))


def answer_words(answer: Answer, item: Item, protocol: Protocol) -> str:
    """A canonical answer in the words that a panel uses."""
    if item.task is Task.CLAIM:
        return protocol.word_of[Label(answer)]
    if item.task is Task.CHOICE and answer in LETTERS[: len(item.choices)]:
        return f"{answer}. {item.choices[LETTERS.index(answer)]}"
    return str(answer)


def render_claim_alone(item: Item, protocol: Protocol) -> tuple[Message, ...]:
    """The messages of a judge who is asked without seeing the evidence."""
    if item.task is not Task.CLAIM:
        return render_turn(replace(item, evidence=()), protocol, {}, "")
    system = (
        "You guess whether a claim is grounded in evidence that you cannot see. "
        f"Answer with one line of JSON: {protocol.answer_form}"
    )
    fence = delimiter(item)
    return Message("system", system), Message(
        "user", f"Claim:\n{fence}\n{item.claim}\n{fence}\n\nIs it likely that the evidence supports the claim?"
    )


def render_again(first: ChatRequest, text: str, item: Item, protocol: Protocol) -> ChatRequest:
    """The request that asks once more for an answer that could not be read: for it alone, at temperature 0 and briefly.

    Args:
        first: what was asked.
        text: what was answered; where that is nothing, the second request follows in the same message.
    """
    again = f"Give your answer alone, as one line of JSON: {protocol.form_for(item, answer_alone=True)}"
    *before, last = first.messages
    if text.strip():
        messages = (*first.messages, Message("assistant", text), Message("user", again))
    else:
        messages = (*before, Message(last.role, f"{last.content}\n\n{again}"))
    sampling = Sampling(temperature=0.0, top_p=1.0, max_tokens=_TOKENS_AGAIN, seed=first.sampling.seed)
    return ChatRequest(messages, sampling, protocol.schema_for(item, answer_alone=True), first.sample)


def named_parts(item: Item) -> dict[str, str]:
    """What the item holds, by name: Evidence and Claim, or Question and Choices, then with Evidence only where it has some."""
    if item.task is Task.CLAIM:
        return {"Evidence": item.evidence_text, "Claim": item.claim}
    parts = {"Evidence": item.evidence_text, "Question": item.claim, "Choices": "\n".join(item.lettered)}
    return {name: text for name, text in parts.items() if text}


def delimiter(item: Item) -> str:
    """Three quotation marks, or as many more as it takes to occur nowhere in the item."""
    return _fence_for(item.evidence_text, item.claim, *item.choices)


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


def _system_text(item: Item, protocol: Protocol) -> str:
    duty = "You judge whether a claim is grounded in evidence."
    if item.task is not Task.CLAIM:
        duty = "You answer a question by the evidence." if item.evidence else "You answer a question."
    return f"{duty} Answer with one line of JSON: {protocol.form_for(item)}"


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
    word = protocol.word_of.get(label) if isinstance(label, Label) else label  # an answer to a question stands for itself
    text = f"{display_name(turn.persona)}: {word or 'no answer'}"
    if "confidence" in protocol.told and verdict.confidence is not None:
        text += f" (confidence {verdict.confidence:g})"
    if "reason" in protocol.told and verdict.reason.strip():
        text += ". " + " ".join(verdict.reason.split())  # one line: a reason cannot pose as another turn
    return text

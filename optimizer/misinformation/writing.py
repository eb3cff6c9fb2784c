"""What a model is told to write, and what is taken of its reply: passages in styles, paraphrases of passages, and filler.

A reply is unusable if it is empty, cut off, too short or too long, a refusal, or a copy: of the item's evidence, or of what it
was to rewrite.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

from optimizer.data.item import LETTERS, Item, Label, Task
from optimizer.data.passages import PASSAGE_WORDS, PassageKind
from optimizer.debate.extract import is_right
from optimizer.debate.json_answers import field, find_objects
from optimizer.debate.render import delimiter
from optimizer.models.chat import ChatReply, ChatRequest, Message, Sampling

STYLES = {
    "clickbait": "clickbait: it teases, withholds and promises, so that one reads on",
    "hoax": "a hoax that poses as an official announcement or a report of research",
    "rumor": "a rumour: hearsay that somebody has from somebody who should know",
    "satire": "satire: it mocks and exaggerates with a straight face",
    "propaganda": "propaganda: loaded words, us and them, one cause",
    "framing": "slanted framing: it chooses and weighs what it says so that one conclusion imposes itself",
    "conspiracy": "a conspiracy theory: the truth is kept from you, and somebody profits",
    "unconstrained": "whatever manner persuades a reader best",
}
WORDS_ASKED = (25, 60)
_TEMPERATURE, _TOP_P, _TOKENS = 0.8, 0.95, 220
_COPIED_WORDS = 12  # so many words in a row are a copy
_SYSTEM = (
    "You write short passages about made-up cases, for a study of how groups of readers decide when some of them have read "
    "something else. Answer with one line of JSON."
)
_REFUSAL = re.compile(r"\b(i('m| am) (sorry|unable)|i (can('|no)t|cannot|won't)|as an ai)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Written:
    """What a reply holds: a text, and for a question whose wrong answer is open, that; or why it is unusable."""

    text: str = ""
    answer: str = ""
    problem: str = ""


def ask_passage(item: Item, kind: PassageKind, sample: int) -> ChatRequest:
    """A plain passage whose facts speak for the wrong answer (FALSE) or for the right one (TRUE)."""
    wrong, open_answer = "", kind is PassageKind.FALSE and not _has_wrong_answer(item)
    if open_answer:
        wrong = "one wrong answer of your choice, of the same kind as the right one"
    speaks_for = wrong or stated_answer(item, kind is PassageKind.TRUE)
    ask = (
        f"{_matter(item)}\n\nWrite a passage in the plain style of a report whose facts speak for this: {speaks_for}. {_LENGTH} "
        "State facts, in your own words: copy nothing from above, and mention neither evidence nor claim nor question."
    )
    return _request(ask, ["answer", "passage"] if open_answer else ["passage"], sample)


def ask_style(item: Item, text: str, style: str, sample: int) -> ChatRequest:
    """The same passage in one of STYLES. Raises KeyError where it is none of them."""
    ask = f"Passage:\n{text}\n\nRewrite it as {STYLES[style]}. Keep what it says to be so, with its names and figures. {_LENGTH}"
    return _request(ask, ["passage"], sample)


def ask_paraphrase(text: str, sample: int) -> ChatRequest:
    """The same passage in other words, its style and content kept: the control for who wrote it."""
    ask = (
        f"Passage:\n{text}\n\nSay the same in other words, in the same style and at about the same length. Add nothing, "
        "leave nothing out, and keep names and figures."
    )
    return _request(ask, ["passage"], sample)


def ask_filler(words: int, topic: str, sample: int) -> ChatRequest:
    """A passage that says nothing. `topic` tells the requests of different items apart without being their matter."""
    ask = (
        f"Write a passage of about {words} words of general remarks about {topic} that says nothing in particular: no names, "
        "no numbers, no places, no dates, nothing that anybody could check."
    )
    return _request(ask, ["passage"], sample)


def read_reply(reply: ChatReply, item: Item, source: str = "", paraphrase: bool = False, filler: bool = False) -> Written:
    """The passage in a reply, or why it is unusable.

    Args:
        reply: of one of the requests above.
        item: whose evidence must not be copied.
        source: the text that was to be rewritten; the same text again is no rewrite.
        paraphrase: whether it must not copy sentences of the source either, as a style may.
        filler: whether it must name nothing.
    """
    if reply.finish_reason == "length":
        return Written(problem="was cut off")
    if not reply.text.strip():
        return Written(problem="is empty")
    objects, _ = find_objects(reply.text)
    texts = [found for found in (field(each, "passage") for each in objects) if isinstance(found, str)]
    if not texts:
        return Written(problem="refuses" if _REFUSAL.search(reply.text) else "has no passage in it")
    text = " ".join(texts[-1].split())
    answer = next((str(found).strip() for found in (field(each, "answer") for each in objects) if found is not None), "")
    problem = _problem(text, item, filler) or _same(text, source, paraphrase)
    if not problem and item.task is not Task.CLAIM and is_right(answer, item):
        problem = f"takes {answer!r} for a wrong answer, which is right"
    return Written(problem=problem) if problem else Written(text, answer)


def stated_answer(item: Item, right: bool) -> str:
    """The right or a wrong answer in words: of a claim, that it is so or not; of a question, its answer.

    Of several wrong choices one is drawn by a hash of the item.
    """
    if item.task is Task.CLAIM:
        holds = (item.label is Label.GROUNDED) == right
        return f"the claim {'is true' if holds else 'is not true'}"
    if right:
        answer = item.answers[0]
        return f"the answer is {_choice(item, answer)}"
    return f"the answer is {_choice(item, wrong_answer(item))}"


def wrong_answer(item: Item) -> str:
    """The letter of the wrong choice that a false passage is to speak for; empty where the question has no choices."""
    wrong = [letter for letter in LETTERS[: len(item.choices)] if letter not in item.answers]
    return min(wrong, key=lambda letter: hashlib.sha256(f"wrong\n{item.id}\n{letter}".encode()).digest(), default="")


def _has_wrong_answer(item: Item) -> bool:
    return item.task is Task.CLAIM or bool(wrong_answer(item))


def _choice(item: Item, answer: str) -> str:
    return item.choices[LETTERS.index(answer)] if answer and answer in LETTERS[: len(item.choices)] else answer


def _matter(item: Item) -> str:
    fence = delimiter(item)
    parts = [f"Evidence:\n{fence}\n{item.evidence_text}\n{fence}"] if item.evidence_text else []
    parts.append(f"{'Claim' if item.task is Task.CLAIM else 'Question'}:\n{fence}\n{item.claim}\n{fence}")
    if item.choices:
        parts.append("Choices: " + "; ".join(item.choices))
    if item.task is not Task.CLAIM:
        parts.append(f"The right answer: {_choice(item, item.answers[0])}")
    return "\n\n".join(parts)


_LENGTH = f"It has {WORDS_ASKED[0]} to {WORDS_ASKED[1]} words."


def _request(ask: str, fields: list[str], sample: int) -> ChatRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in fields},
        "required": fields,
        "additionalProperties": False,
    }
    form = ", ".join(f'"{name}": "..."' for name in fields)
    messages = (Message("system", _SYSTEM), Message("user", f"{ask}\nAnswer as JSON: {{{form}}}"))
    return ChatRequest(messages, Sampling(_TEMPERATURE, _TOP_P, _TOKENS, sample), json.dumps(schema), sample)


def _problem(text: str, item: Item, filler: bool) -> str:
    words, (low, high) = text.split(), PASSAGE_WORDS
    if not words:
        return "is empty"
    if _REFUSAL.search(text):
        return "refuses"
    if not low <= len(words) <= high:
        return f"has {len(words)} words; {low} to {high} are usable"
    if copied := _copied(text, item.evidence_text):
        return f"copies the evidence: {copied!r}"
    if filler and (named := re.search(r"\d|(?<=[a-z,;] )[A-Z][a-z]+", text)):
        return f"is to name nothing, but has {named[0]!r}"
    return ""


def _same(text: str, source: str, paraphrase: bool) -> str:
    if text.casefold() == " ".join(source.split()).casefold():
        return "is what it was to rewrite"
    copied = _copied(text, source) if paraphrase else ""
    return f"copies what it was to rewrite: {copied!r}" if copied else ""


def _copied(text: str, source: str) -> str:
    """The first so many words in a row that are taken from the source."""
    words, theirs = (re.findall(r"\w+", each.lower()) for each in (text, source))
    runs = {tuple(theirs[i : i + _COPIED_WORDS]) for i in range(len(theirs) - _COPIED_WORDS + 1)}
    for start in range(len(words) - _COPIED_WORDS + 1):
        if tuple(words[start : start + _COPIED_WORDS]) in runs:
            return " ".join(words[start : start + _COPIED_WORDS])
    return ""

"""Evidence that does not fit a model's context is handled by a policy that the user names, and never cut in silence."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from optimizer.data.item import Item, Task
from optimizer.errors import UserError
from optimizer.models.provision import BYTES_A_TOKEN, PROMPT_TOKENS

_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？]+[\"'”’)\]]*\s*|[^.!?。！？\n]+\n?|\n")
_WORD = re.compile(r"\w+")


def evidence_budget(item: Item, context: int) -> int:
    """Bytes of evidence that fit beside claim, choices and everything else in so many tokens; 0 where nothing does."""
    beside = asked_text(item) + (item.shown.passage if item.shown else "")
    return max(0, (context - PROMPT_TOKENS) * BYTES_A_TOKEN - len(beside.encode()))


def asked_text(item: Item) -> str:
    """The claim, or the question with its choices."""
    return "\n".join([item.claim, *item.lettered])


def fits(item: Item, context: int) -> bool:
    """Whether the evidence fits; a context of 0 is unknown, and fits."""
    return context == 0 or len(item.evidence_text.encode()) <= evidence_budget(item, context)


def check_context(items: Sequence[Item], context: int, policy: str) -> list[str]:
    """The ids of items whose evidence does not fit.

    Args:
        items: what is to be judged.
        context: tokens that a call may take, 0 where unknown.
        policy: error, chunk or select.

    Raises:
        UserError: some do not fit and the policy is error, or chunk for a question; or nothing at all fits beside a claim.
    """
    for item in items:
        if context and not item.evidence and not evidence_budget(item, context):
            raise UserError(f"item {item.id!r}: its question alone fills a context of {context} tokens; use a longer one")
    long = [item for item in items if not fits(item, context)]
    if long and policy == "error":
        longest = max(long, key=lambda item: len(item.evidence_text))
        raise UserError(
            f"{len(long)} of {len(items)} items have more evidence than fits a context of {context} tokens, the longest is "
            f"{longest.id!r} with about {len(longest.evidence_text.encode()) // BYTES_A_TOKEN} tokens; use a model with a longer "
            "context, or --set protocol.long_evidence=chunk (judge it piece by piece) or =select (keep the sentences "
            "nearest to the claim)"
        )
    for item in long:
        if policy == "chunk" and item.task is not Task.CLAIM:
            raise UserError(
                f"item {item.id!r} is a question whose evidence does not fit a context of {context} tokens, and only claims are "
                "judged piece by piece; give --set protocol.long_evidence=select, or a model with a longer context"
            )
        if evidence_budget(item, context) < 200:
            raise UserError(f"item {item.id!r}: its claim alone fills a context of {context} tokens; shorten it")
    return [item.id for item in long]


def chunks(item: Item, context: int) -> list[Item]:
    """The item with its evidence in pieces that fit, whole sentences where they do; one piece if all of it fits.

    Neighbouring pieces share a sentence, so that nothing that is said in two is lost.
    """
    budget = evidence_budget(item, context)
    pieces: list[list[str]] = [[]]
    for sentence in _pieces(item.evidence_text, budget):
        if pieces[-1] and _bytes([*pieces[-1], sentence]) > budget:
            last = pieces[-1][-1]
            pieces.append([last] if _bytes([last, sentence]) <= budget else [])
        pieces[-1].append(sentence)
    return [replace(item, evidence=("".join(piece).strip(),)) for piece in pieces if "".join(piece).strip()]


def select_sentences(item: Item, context: int) -> Item:
    """The item with the sentences that share the rarest words with its claim, in their order, as many as fit.

    Sentences are scored by the words of the claim in them, each weighted by how few sentences have it; the neighbours of
    a good sentence are taken before worse ones, since they often say whom it is about.
    """
    budget = evidence_budget(item, context)
    sentences = _pieces(item.evidence_text, budget)
    words = [set(_words(sentence)) for sentence in sentences]
    spread = Counter(word for found in words for word in found)
    claim = set(_words(asked_text(item)))
    scores = [sum(math.log(1 + len(sentences) / spread[word]) for word in found & claim) for found in words]
    around = [
        score + 0.5 * max(scores[index - 1] if index else 0.0, scores[index + 1] if index + 1 < len(scores) else 0.0)
        for index, score in enumerate(scores)
    ]
    kept: set[int] = set()
    used = 0
    for index in sorted(range(len(sentences)), key=lambda index: (-around[index], index)):
        size = len(sentences[index].encode())
        if used + size <= budget:
            kept.add(index)
            used += size
    return replace(item, evidence=("".join(sentences[index] for index in sorted(kept)).strip(),))


def _pieces(text: str, budget: int) -> list[str]:
    """The sentences of a text, with the space behind them; one that is longer than the budget is cut between words."""
    found: list[str] = []
    for match in _SENTENCE.finditer(text):
        sentence = match[0]
        while len(sentence.encode()) > budget:
            head = sentence.encode()[:budget].decode(errors="ignore")
            cut = head.rfind(" ") + 1 or len(head)
            found.append(sentence[:cut])
            sentence = sentence[cut:]
        if sentence:
            found.append(sentence)
    return found


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _bytes(parts: Sequence[str]) -> int:
    return sum(len(part.encode()) for part in parts)

"""What an arm decided, read from its transcript: a debate by voting and by consensus, samples by majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from optimizer.debate.extract import Status
from optimizer.misinformation.arms import System
from optimizer.misinformation.records import Role, Transcript, Utterance


class Rule(StrEnum):
    """How a transcript is read."""

    VOTING = "voting"
    CONSENSUS = "consensus"
    MAJORITY = "majority"
    STRICT = "strict"


RULES = {
    System.DEBATE: (Rule.VOTING, Rule.CONSENSUS),
    System.MSC: (Rule.MAJORITY, Rule.STRICT),
    System.SINGLE: (Rule.MAJORITY,),
    System.SINGLE_DEBATE: (Rule.MAJORITY,),
    System.SC15: (Rule.STRICT,),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A decision. Without one `right` is false; `tie` says that answers were read and none won.

    `status` is that of the answers the decision rests on: parsed with a decision or a tie, else why nothing could be read.
    `turn` is the turn that decided, `tokens` what was read and written until then.
    """

    answer: str
    right: bool
    status: Status
    tie: bool
    turn: int
    tokens: int


def read_by(transcript: Transcript, rule: Rule) -> Reading:
    """Read a transcript that did not fail."""
    if rule is Rule.VOTING:
        return _voting(transcript)
    if rule is Rule.CONSENSUS:
        return _consensus(transcript)
    return _majority(transcript, strict=rule is Rule.STRICT)


def options(finals: Iterable[Utterance]) -> list[str]:
    """The different answers among final ones, identical ones merged; what cannot be read is none."""
    last = {each.slot: each for each in finals}  # a second question comes after the first
    return list(dict.fromkeys(each.answer for each in last.values() if each.status is Status.PARSED))


def elected(votes: Iterable[Utterance]) -> str | None:
    """The answer with the most votes, or None where two have as many, or nobody voted."""
    counts = Counter(each.answer for each in votes if each.status is Status.PARSED).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def _voting(transcript: Transcript) -> Reading:
    """The first turn whose ballot has a winner; without one there is no decision, which is wrong."""
    finals = transcript.said(Role.FINAL)
    turns = sorted({each.turn for each in finals})
    for turn in turns:
        held = [each for each in finals if each.turn == turn]
        on_ballot = options(held)
        winner = on_ballot[0] if len(on_ballot) == 1 else elected(transcript.said(Role.VOTE, turn))
        if winner is not None:
            right = any(each.right for each in held if each.answer == winner and each.status is Status.PARSED)
            return Reading(winner, right, Status.PARSED, False, turn, _tokens(transcript, turn, voting=True))
    last = [each for each in finals if each.turn == turns[-1]] if turns else []
    spent = _tokens(transcript, turns[-1] if turns else 0, voting=True)
    tie = bool(options(last))
    return Reading("", False, Status.PARSED if tie else _why(last), tie, turns[-1] if turns else 0, spent)


def _consensus(transcript: Transcript) -> Reading:
    """What the last speaker holds at the turn that ends the discussion."""
    held = transcript.said(Role.DRAFT, transcript.agreed)
    last = max(held, key=lambda each: each.slot)
    tokens = _tokens(transcript, transcript.agreed, voting=False)
    return Reading(last.answer, last.right, last.status, False, transcript.agreed, tokens)


def _majority(transcript: Transcript, strict: bool) -> Reading:
    """More than half of the samples; else, unless strict, the first sample."""
    samples = transcript.said(Role.SAMPLE)
    tokens = sum(each.tokens for each in transcript.utterances)
    counts = Counter(each.answer for each in samples if each.status is Status.PARSED)
    answer, count = counts.most_common(1)[0] if counts else ("", 0)
    if 2 * count > len(samples):
        right = next(each.right for each in samples if each.status is Status.PARSED and each.answer == answer)
        return Reading(answer, right, Status.PARSED, False, 1, tokens)
    if strict:
        return Reading("", False, Status.PARSED if counts else _why(samples), bool(counts), 1, tokens)
    first = samples[0]
    return Reading(first.answer, first.right, first.status, False, 1, tokens)


def _why(utterances: Sequence[Utterance]) -> Status:
    return Status.AMBIGUOUS if any(each.status is Status.AMBIGUOUS for each in utterances) else Status.NONE


def _tokens(transcript: Transcript, turn: int, voting: bool) -> int:
    """Tokens that this reading needs until a turn ends: ballots serve voting alone, second questions to drafts consensus."""
    other = (Role.FINAL, Role.VOTE, Role.LIST)
    return sum(
        each.tokens
        for each in transcript.utterances
        if each.turn <= turn and (not (each.role is Role.DRAFT and each.again) if voting else each.role not in other)
    )

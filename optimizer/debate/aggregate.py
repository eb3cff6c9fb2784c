"""Aggregators: how the last round's verdicts become one decision. The rule of the published panel is the default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from optimizer.data.item import Label
from optimizer.debate.verdict import Verdict
from optimizer.sections import Aggregator, Ties

VETO_PERSONA = "skeptic"
_NO_CONFIDENCE = 50.0  # the weight of a vote whose confidence was not given
Decision = tuple[Label | str | None, str]


def decide(verdicts: Mapping[str, Verdict], aggregator: Aggregator = "rule", ties: Ties = "none") -> Decision:
    """The panel's decision and what made it.

    Args:
        verdicts: the last round's verdict of each persona, in the order in which they spoke. Only answers with outcome ok
            are votes; votes for equal answers are one.
        aggregator: which rule.
        ties: what becomes of a panel without a decision: "none", or "lowest_index", by which the answer with most votes
            wins, among several the one whose first voter spoke first.

    Returns:
        A label or a question's answer, and majority, veto, confidence, last speaker, most votes or lowest index; or None and
        abstain.
    """
    decision = _AGGREGATORS[aggregator](verdicts)
    return _lowest_index(verdicts) if decision[0] is None and ties == "lowest_index" else decision


def _rule(verdicts: Mapping[str, Verdict]) -> Decision:
    """(1) The answer of the majority. (2) Else not grounded if the Skeptic says so. (3) Else none."""
    found = _majority(verdicts)
    if found[0] is not None:
        return found
    skeptic = verdicts.get(VETO_PERSONA)
    if skeptic is not None and skeptic.vote is Label.NOT_GROUNDED:
        return Label.NOT_GROUNDED, "veto"
    return None, "abstain"


def _majority(verdicts: Mapping[str, Verdict]) -> Decision:
    """The answer that more than half of the personas vote for; with three, at least two."""
    for answer, count in _votes(verdicts).items():
        if 2 * count > len(verdicts):
            return answer, "majority"
    return None, "abstain"


def _confidence(verdicts: Mapping[str, Verdict]) -> Decision:
    """The answer with the largest sum of confidences; none where two are equal, or all are 0."""
    weights: dict[Label | str, float] = {}
    for verdict in verdicts.values():
        if verdict.vote is not None:
            weight = _NO_CONFIDENCE if verdict.confidence is None else verdict.confidence
            weights[verdict.vote] = weights.get(verdict.vote, 0.0) + weight
    best = max(weights.values(), default=0.0)
    leaders = [answer for answer, weight in weights.items() if weight == best]
    return (leaders[0], "confidence") if best > 0 and len(leaders) == 1 else (None, "abstain")


def _last_speaker(verdicts: Mapping[str, Verdict]) -> Decision:
    """What the last to speak holds; none where that is no vote."""
    vote = list(verdicts.values())[-1].vote if verdicts else None
    return (None, "abstain") if vote is None else (vote, "last speaker")


def _most_votes(verdicts: Mapping[str, Verdict]) -> Decision:
    """The answer with most votes; none where two have as many."""
    votes = _votes(verdicts)
    leaders = [answer for answer, count in votes.items() if count == max(votes.values())]
    return (leaders[0], "most votes") if len(leaders) == 1 else (None, "abstain")


def _lowest_index(verdicts: Mapping[str, Verdict]) -> Decision:
    votes = _votes(verdicts)
    return (max(votes, key=lambda answer: votes[answer]), "lowest index") if votes else (None, "abstain")


def _votes(verdicts: Mapping[str, Verdict]) -> Counter[Label | str]:
    """Answer -> votes, in the order of the first vote for each."""
    return Counter(vote for verdict in verdicts.values() if (vote := verdict.vote) is not None)


_AGGREGATORS: Mapping[Aggregator, Callable[[Mapping[str, Verdict]], Decision]] = {
    "rule": _rule,
    "majority": _majority,
    "confidence": _confidence,
    "last_speaker": _last_speaker,
    "ballot": _most_votes,
}

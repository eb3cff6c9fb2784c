"""Aggregators: how the last round's verdicts become one decision. The rule of the published panel is the default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from optimizer.config import Aggregator
from optimizer.data.item import Label
from optimizer.debate.verdict import Verdict

VETO_PERSONA = "skeptic"
_NO_CONFIDENCE = 50.0  # the weight of a vote whose confidence was not given
Decision = tuple[Label | None, str]
_LABELS = (Label.GROUNDED, Label.NOT_GROUNDED)


def decide(verdicts: Mapping[str, Verdict], aggregator: Aggregator = "rule") -> Decision:
    """The panel's decision and what made it.

    Args:
        verdicts: the last round's verdict of each persona, in the order in which they spoke. Only answers with outcome ok
            are votes.
        aggregator: which rule.

    Returns:
        A label and majority, veto, confidence or last speaker; or None and abstain.
    """
    return _AGGREGATORS[aggregator](verdicts)


def _rule(verdicts: Mapping[str, Verdict]) -> Decision:
    """(1) The label of the majority. (2) Else not grounded if the Skeptic says so. (3) Else none."""
    found = _majority(verdicts)
    if found[0] is not None:
        return found
    skeptic = verdicts.get(VETO_PERSONA)
    if skeptic is not None and skeptic.vote is Label.NOT_GROUNDED:
        return Label.NOT_GROUNDED, "veto"
    return None, "abstain"


def _majority(verdicts: Mapping[str, Verdict]) -> Decision:
    """The label that more than half of the personas vote for; with three, at least two."""
    votes = Counter(vote for verdict in verdicts.values() if (vote := verdict.vote) in _LABELS)
    for label, count in votes.items():
        if 2 * count > len(verdicts):
            return label, "majority"
    return None, "abstain"


def _confidence(verdicts: Mapping[str, Verdict]) -> Decision:
    """The label with the larger sum of confidences; none where they are equal."""
    weights = dict.fromkeys(_LABELS, 0.0)
    for verdict in verdicts.values():
        if verdict.vote in weights:
            weights[verdict.vote] += _NO_CONFIDENCE if verdict.confidence is None else verdict.confidence
    grounded, not_grounded = (weights[label] for label in _LABELS)
    if grounded == not_grounded:
        return None, "abstain"
    return (Label.GROUNDED if grounded > not_grounded else Label.NOT_GROUNDED), "confidence"


def _last_speaker(verdicts: Mapping[str, Verdict]) -> Decision:
    """What the last to speak holds; none where that is no vote."""
    vote = list(verdicts.values())[-1].vote if verdicts else None
    return (vote, "last speaker") if vote in _LABELS else (None, "abstain")


_AGGREGATORS: Mapping[Aggregator, Callable[[Mapping[str, Verdict]], Decision]] = {
    "rule": _rule,
    "majority": _majority,
    "confidence": _confidence,
    "last_speaker": _last_speaker,
}

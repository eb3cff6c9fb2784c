"""The rule aggregator: majority, else the Skeptic's veto, else no decision (rules 1 to 3 of the published panel)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from optimizer.data.item import Label
from optimizer.debate.verdict import Verdict

VETO_PERSONA = "skeptic"


def decide(verdicts: Mapping[str, Verdict]) -> tuple[Label | None, str]:
    """The panel's decision and the rule that made it: majority, veto or abstain.

    Args:
        verdicts: the last round's verdict of each persona. Only answers with outcome ok are votes.

    (1) The label that more than half of the personas vote for; with three, at least two. (2) Else not grounded if the
    Skeptic says so. (3) Else none.
    """
    votes = Counter(vote for verdict in verdicts.values() if (vote := verdict.vote) in (Label.GROUNDED, Label.NOT_GROUNDED))
    for label, count in votes.items():
        if 2 * count > len(verdicts):
            return label, "majority"
    skeptic = verdicts.get(VETO_PERSONA)
    if skeptic is not None and skeptic.vote is Label.NOT_GROUNDED:
        return Label.NOT_GROUNDED, "veto"
    return None, "abstain"

"""The rule aggregator against its published truth table."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from optimizer.data.item import Label
from optimizer.debate.aggregate import decide
from optimizer.debate.verdict import Outcome, Verdict

G, N, U = Label.GROUNDED, Label.NOT_GROUNDED, Label.UNSURE


def verdict(label: Label | None) -> Verdict:
    if label is U:
        return Verdict(Outcome.ABSTAINED)
    return Verdict(Outcome.OK, label) if label else Verdict(Outcome.UNPARSED)


def panel(skeptic: Label | None, advocate: Label | None, expert: Label | None) -> dict[str, Verdict]:
    return {"skeptic": verdict(skeptic), "advocate": verdict(advocate), "expert": verdict(expert)}


def expected(profile: tuple[Label, Label, Label]) -> tuple[Label | None, str]:
    """The rules, written as they are published, independently of the code."""
    for label in (G, N):
        if profile.count(label) >= 2:
            return label, "majority"
    return (N, "veto") if profile[0] is N else (None, "abstain")


PROFILES = list(itertools.product((G, N, U), repeat=3))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: "-".join(profile))
def test_each_of_the_27_profiles_is_decided_as_published(profile: tuple[Label, Label, Label]) -> None:
    assert decide(panel(*profile)) == expected(profile)


def test_the_27_profiles_are_14_majorities_3_vetoes_and_10_abstentions() -> None:
    rules = Counter(decide(panel(*profile))[1] for profile in PROFILES)
    assert rules == {"majority": 14, "veto": 3, "abstain": 10}


@pytest.mark.parametrize("outcome", [Outcome.UNPARSED, Outcome.REFUSED, Outcome.TRUNCATED])
def test_an_answer_that_is_no_vote_counts_for_nobody(outcome: Outcome) -> None:
    lost = Verdict(outcome, label=G)
    assert decide({"skeptic": lost, "advocate": verdict(G), "expert": verdict(N)}) == (None, "abstain")
    assert decide({"skeptic": verdict(N), "advocate": lost, "expert": verdict(G)}) == (N, "veto")


def test_a_larger_panel_needs_more_than_half() -> None:
    four = {**panel(G, G, N), "linguist": verdict(N)}
    assert decide(four) == (None, "abstain")
    assert decide({**four, "linguist": verdict(G)}) == (G, "majority")

"""Debates made by hand: who said what, without any model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optimizer.data.item import Item, Label
from optimizer.debate.aggregate import decide
from optimizer.debate.records import Debate, Turn
from optimizer.debate.verdict import Outcome, Verdict

PERSONAS = ("skeptic", "advocate", "expert")
LABELS = {"y": Label.GROUNDED, "n": Label.NOT_GROUNDED}


def item(identity: str, label: str = "y", cluster: str = "") -> Item:
    """An item whose label is y or n."""
    return Item(identity, f"Claim {identity}.", (f"Evidence {cluster or identity}.",), LABELS[label], cluster or identity)


def debate(
    identity: str,
    candidate: str,
    *rounds: str,
    confidence: float | None = 70,
    sample: int = 0,
    reasons: Mapping[tuple[str, int], str] | None = None,
) -> Debate:
    """A debate whose rounds are words such as `yyn`: the votes of Skeptic, Advocate and Expert; `-` is an unparsed answer.

    `reasons` has persona and round -> reason.
    """
    given = reasons or {}
    turns = [
        Turn(
            persona,
            number,
            f"{candidate}-{identity}-{number}-{persona}",
            "",
            "stop",
            replace(_verdict(vote, confidence), reason=given.get((persona, number), "")),
        )
        for number, votes in enumerate(rounds, 1)
        for persona, vote in zip(PERSONAS[: len(votes)], votes, strict=True)
    ]
    last = {turn.persona: turn.verdict for turn in turns if turn.round == len(rounds)}
    decision, rule = decide(last)
    return Debate(identity, candidate, sample, tuple(turns), decision, rule)


def right_or_wrong(items: list[Item], candidate: str, right: set[str]) -> list[Debate]:
    """One-round debates, unanimous: right on the items named, wrong on the others."""
    found = []
    for each in items:
        truth = "y" if each.label is Label.GROUNDED else "n"
        vote = truth if each.id in right else {"y": "n", "n": "y"}[truth]
        found.append(debate(each.id, candidate, vote * 3))
    return found


def _verdict(vote: str, confidence: float | None) -> Verdict:
    return Verdict(Outcome.UNPARSED, detail="none") if vote == "-" else Verdict(Outcome.OK, LABELS[vote], confidence)

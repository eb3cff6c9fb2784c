"""Oracle headroom: which items are wrong under every candidate, and what choosing the right prompt for each could reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb

from optimizer.data.item import Item
from optimizer.debate.aggregate import decide
from optimizer.debate.extract import is_right
from optimizer.debate.records import Debate
from optimizer.sections import Aggregator, Ties
from optimizer.stats.oracle import fit_beta_binomial

Scores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Headroom:
    """Over `candidates` fully evaluated candidates and the `items` that all of them have.

    `oracle` is the share of items that at least one candidate gets right. It rises with the number of candidates by luck
    alone, so it is an upper bound of what a choice of prompts could reach and no promise.
    """

    candidates: int
    items: int
    always_wrong: tuple[str, ...]
    oracle: float
    best: float

    @property
    def headroom(self) -> float:
        """Oracle minus the best single candidate."""
        return self.oracle - self.best


def oracle_headroom(scores: Scores) -> Headroom:
    """Headroom from item scores by candidate.

    Args:
        scores: candidate id -> item id -> score (1 right, 0 wrong).

    Raises:
        ValueError: there is no candidate, or no item that all of them have.
    """
    if not scores:
        raise ValueError("headroom needs at least one candidate but got none")
    common = common_items(scores)
    if not common:
        raise ValueError(f"the {len(scores)} candidates have no item in common; evaluate them on the same items first")
    best = max(sum(by_item[item] for item in common) / len(common) for by_item in scores.values())
    wrong = tuple(item for item in common if all(by_item[item] == 0 for by_item in scores.values()))
    return Headroom(len(scores), len(common), wrong, 1 - len(wrong) / len(common), best)


def common_items(scores: Scores) -> list[str]:
    """The items that all candidates have, in order."""
    return sorted(set.intersection(*(set(by_item) for by_item in scores.values()))) if scores else []


@dataclass(frozen=True, slots=True)
class ChanceControl:
    """What an oracle over as many candidates reaches by luck alone.

    `runs` is how many noisy runs of the baseline it was measured on: repeats, or rewrites that keep its meaning. `modelled` is
    True where they were fewer than the candidates, and the value comes from a beta-binomial fit. `of` is the number of
    candidates that it stands for.
    """

    oracle: float
    of: int
    runs: int
    kind: str
    modelled: bool


def chance_control(runs: Sequence[Mapping[str, float]], candidates: int, kind: str) -> ChanceControl:
    """The oracle over `candidates` runs of one prompt, from its noisy runs.

    With enough runs it is the mean over all choices of so many of them: an item that is right in r of m runs is missed by
    C(m - r, k) / C(m, k) of the choices. With fewer it is a model, and says so.

    Args:
        runs: item scores (1 or 0) of each run of the baseline, two at least.
        candidates: k.
        kind: what the runs are, for the label.

    Raises:
        ValueError: fewer than two runs, or no item in common.
    """
    if len(runs) < 2:
        raise ValueError(f"luck shows only between runs of the same prompt: two at least, but got {len(runs)}")
    common = common_items(dict(zip(map(str, range(len(runs))), runs, strict=True)))
    if not common:
        raise ValueError("the runs have no item in common")
    right = [round(sum(run[item] for run in runs)) for item in common]
    total = len(runs)
    if total >= candidates:
        missed = sum(comb(total - r, candidates) / comb(total, candidates) for r in right)
        return ChanceControl(1 - missed / len(common), candidates, total, kind, modelled=False)
    fitted = fit_beta_binomial(right, [total] * len(right))
    return ChanceControl(fitted.oracle(candidates), candidates, total, kind, modelled=True)


class Lost(StrEnum):
    """Where the right answer to an item was lost: the first that applies."""

    NO_DECISION = "no usable decision"
    VOTE = "the vote lost it: someone was right in the last round"
    ROUND = "the debate lost it: round 1 had decided rightly"
    PROMPT = "the prompt lost it: another candidate is right"
    NONE = "no candidate is right: the model or the data"


def where_lost(debate: Debate, item: Item, right_elsewhere: bool, aggregator: Aggregator = "rule", ties: Ties = "none") -> Lost:
    """Why a wrong debate is wrong.

    Args:
        debate: wrong, and not failed.
        item: with its gold label.
        right_elsewhere: whether another candidate is right on it.
        aggregator, ties: the panel's.
    """
    if debate.decision is None:
        return Lost.NO_DECISION
    if any(is_right(verdict.vote, item) for verdict in debate.round_verdicts(debate.last_round).values()):
        return Lost.VOTE
    if debate.last_round > 1 and is_right(decide(debate.deciding(1), aggregator, ties)[0], item):
        return Lost.ROUND
    return Lost.PROMPT if right_elsewhere else Lost.NONE


def lost_counts(
    debates: Iterable[Debate],
    items: Mapping[str, Item],
    scores: Scores,
    aggregator: Aggregator = "rule",
    ties: Ties = "none",
) -> Counter[Lost]:
    """For one candidate's debates, how many items were lost where; the counts add up to its errors.

    Args:
        debates: of one candidate.
        items: by id.
        scores: of all fully evaluated candidates.
        aggregator, ties: the panel's.
    """
    found: Counter[Lost] = Counter()
    for debate in debates:
        if debate.score(items[debate.item]) == 0.0:
            elsewhere = any(other.get(debate.item, 0.0) > 0 for name, other in scores.items() if name != debate.candidate)
            found[where_lost(debate, items[debate.item], elsewhere, aggregator, ties)] += 1
    return found


@dataclass(frozen=True, slots=True)
class View:
    """One way to read the same debates: the panel's decision, a round's decision, or one persona's last verdict.

    `scores` are by candidate and item.
    """

    name: str
    scores: Scores


def views(
    debates: Sequence[Debate], items: Mapping[str, Item], aggregator: Aggregator = "rule", ties: Ties = "none"
) -> list[View]:
    """The panel, each round, and each persona as judges of their own."""
    found: dict[str, dict[str, dict[str, float]]] = {}

    def put(view: str, debate: Debate, answer: str | None) -> None:
        right = float(is_right(answer, items[debate.item]))
        found.setdefault(view, {}).setdefault(debate.candidate, {})[debate.item] = right

    for debate in debates:
        put("panel", debate, debate.decision)
    for debate in debates:
        for number in range(1, debate.last_round):
            put(f"decided after round {number}", debate, decide(debate.deciding(number), aggregator, ties)[0])
    for debate in debates:
        for persona, verdict in debate.round_verdicts(debate.last_round).items():
            put(f"{persona} alone, last round", debate, verdict.vote)
    return [View(name, scores) for name, scores in found.items()]

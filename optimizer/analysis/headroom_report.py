"""All that headroom can say of a pool of candidates, as one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.analysis.headroom import (
    ChanceControl,
    Headroom,
    Lost,
    chance_control,
    common_items,
    lost_counts,
    oracle_headroom,
    views,
)
from optimizer.analysis.pool import Member, Pool
from optimizer.analysis.traits import Trait, mean_confidence, shared_traits, unanimous
from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.clusters import FEW_CLUSTERS
from optimizer.stats.oracle import Outlook, chao2

CONFIDENT = 80.0  # mean confidence from which an always wrong item is suspected to have a wrong label


@dataclass(frozen=True, slots=True)
class CandidateErrors:
    """One candidate: its accuracy, and where each of its wrong items was lost (the counts add up to its errors)."""

    member: Member
    accuracy: Accuracy
    lost: Mapping[Lost, int]


@dataclass(frozen=True, slots=True)
class ViewHeadroom:
    """Headroom of one reading of the debates: the panel, a round, or a persona alone; `seed` is the seed's accuracy in it."""

    name: str
    headroom: Headroom
    seed: float


@dataclass(frozen=True, slots=True)
class Suspect:
    """An item whose label may be wrong: every candidate's panel was unanimous and wrong, with this mean confidence."""

    item: str
    confidence: float


@dataclass(frozen=True, slots=True)
class HeadroomReport:
    """`interval` is that of the oracle's accuracy over clusters; `chance` is None without noisy runs of the seed."""

    runs: tuple[str, ...]
    headroom: Headroom
    interval: Accuracy
    seed: Accuracy
    best: CandidateErrors
    chance: ChanceControl | None
    candidates: tuple[CandidateErrors, ...]
    wrong_by_label: Mapping[str, tuple[int, int]]
    views: tuple[ViewHeadroom, ...]
    outlook: Outlook
    outlook_candidates: int
    traits: tuple[Trait, ...]
    suspects: tuple[Suspect, ...]
    warnings: tuple[str, ...]


def headroom_report(pool: Pool, confident: float = CONFIDENT) -> HeadroomReport:
    """Everything about a pool.

    Args:
        pool: candidates with a score on every item.
        confident: mean confidence (0 to 100) from which an always wrong, always unanimous item is a suspect.
    """
    scores, items = pool.scores, {item.id: item for item in pool.items}
    clusters = {item.id: item.cluster for item in pool.items}
    found = oracle_headroom(scores)
    wrong = set(found.always_wrong)
    errors = tuple(
        CandidateErrors(
            member,
            accuracy_of(scores[member.id], clusters),
            dict(lost_counts(pool.debates[member.id].values(), items, scores, pool.aggregator, pool.ties)),
        )
        for member in pool.members
    )
    independent = [member.id for member in pool.members if member.independent]
    common = common_items(scores)
    held = {item: [pool.debates[member.id][item] for member in pool.members] for item in common}
    everything = [debate for member in pool.members for debate in pool.debates[member.id].values()]
    return HeadroomReport(
        runs=pool.runs,
        headroom=found,
        interval=accuracy_of({item: float(item not in wrong) for item in common}, clusters),
        seed=accuracy_of(scores[pool.seed.id], clusters),
        best=max(errors, key=lambda each: each.accuracy.right),
        chance=chance_control(pool.control, found.candidates, pool.control_kind) if pool.control else None,
        candidates=errors,
        wrong_by_label=_by_label(pool, wrong),
        views=tuple(
            ViewHeadroom(view.name, oracle_headroom(view.scores), _mean(view.scores[pool.seed.id]))
            for view in views(everything, items, pool.aggregator, pool.ties)
        ),
        outlook=chao2([round(sum(scores[name][item] for name in independent)) for item in common], len(independent)),
        outlook_candidates=len(independent),
        traits=tuple(shared_traits(pool.items, found.always_wrong, held)),
        suspects=tuple(
            Suspect(item, mean_confidence(held[item]))
            for item in found.always_wrong
            if all(unanimous(debate) for debate in held[item]) and mean_confidence(held[item]) >= confident
        ),
        warnings=_warnings(pool, len(set(clusters.values()))),
    )


def _by_label(pool: Pool, wrong: set[str]) -> dict[str, tuple[int, int]]:
    """Label (of questions the task) -> always wrong items of it, and all items of it."""
    found: dict[str, tuple[int, int]] = {}
    for item in pool.items:
        label = str(item.label or item.task)
        bad, total = found.get(label, (0, 0))
        found[label] = (bad + (item.id in wrong), total + 1)
    return found


def _mean(scores: Mapping[str, float]) -> float:
    return sum(scores.values()) / len(scores)


def _warnings(pool: Pool, clusters: int) -> tuple[str, ...]:
    lines = []
    if clusters < FEW_CLUSTERS:
        lines.append(f"only {clusters} clusters: intervals and p-values are rough under {FEW_CLUSTERS}")
    if len(pool.models) > 1:
        lines.append(f"the runs were judged by different models ({', '.join(pool.models)}), pooled here as if by one")
    if pool.partial:
        lines.append(f"left out for lack of items: {pool.partial} of the candidates; --complete K fills in the K best of them")
    return tuple(lines)

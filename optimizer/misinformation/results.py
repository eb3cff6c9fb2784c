"""The result of a comparison: exposure curves with intervals, corrected tests, decomposition and the falsity effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from optimizer.data.passages import PassageKind
from optimizer.misinformation.arms import Arm, Condition, Mitigation, System
from optimizer.misinformation.decomposition import Decomposition, decompose
from optimizer.misinformation.readings import Rule
from optimizer.misinformation.records import Transcript
from optimizer.misinformation.scores import ArmKey, ArmScores, clusters_of, floats, score_arms
from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.clusters import FEW_CLUSTERS
from optimizer.stats.multiplicity import holm
from optimizer.stats.paired import PairedDifference, paired_difference
from optimizer.stats.ratios import Share


class Against(StrEnum):
    """What a cell is compared with: the same without exposure, mSC under the same exposure, or without the mitigation.

    A verifier that takes part is compared with the one that lists before answers, too.
    """

    UNEXPOSED = "no exposure"
    MSC = "mSC"
    UNMITIGATED = "no mitigation"
    LISTING = "verifier before answers"


@dataclass(frozen=True, slots=True)
class Contrast:
    """A paired difference of a cell; `p_holm` is corrected over all contrasts of all cells of the table."""

    against: Against
    difference: PairedDifference
    p_holm: float = 1.0


@dataclass(frozen=True, slots=True)
class Cell:
    """An arm under a rule: accuracy with its interval, what could be read, tokens a question, and its contrasts."""

    name: str
    system: System
    rule: Rule
    condition: Condition
    mitigation: Mitigation
    accuracy: Accuracy
    parsed_only: float
    statuses: Mapping[str, int]
    second: int
    mended: int
    ties: int
    tokens: float
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True)
class FalsityEffect:
    """Relevant false minus relevant true passages, of one style, shown to as many agents; p by Holm over all of these."""

    name: str
    style: str
    exposed: int
    difference: PairedDifference
    p_holm: float = 1.0


@dataclass(frozen=True, slots=True)
class Results:
    """All of it. `items` and `clusters` are those that any arm has."""

    agents: int
    items: int
    clusters: int
    cells: tuple[Cell, ...]
    decompositions: tuple[Decomposition, ...]
    falsity: tuple[FalsityEffect, ...]
    warnings: tuple[str, ...]


def misinformation_results(records: Iterable[Transcript], agents: int) -> Results:
    """The result of transcripts; failed ones are left out.

    Args:
        records: of one run.
        agents: how many debate.
    """
    held = [record for record in records if not record.failed]
    arms, clusters = score_arms(held), clusters_of(held)
    cells = _corrected([_cell(key, arms, clusters) for key in sorted(arms, key=_place)])
    warnings = []
    if len(set(clusters.values())) < FEW_CLUSTERS:
        warnings.append(f"only {len(set(clusters.values()))} clusters: intervals and p-values are rough under {FEW_CLUSTERS}")
    return Results(
        agents=agents,
        items=len(clusters),
        clusters=len(set(clusters.values())),
        cells=tuple(cells),
        decompositions=tuple(decompose(arms, clusters)),
        falsity=tuple(_falsity(arms, clusters)),
        warnings=tuple(warnings),
    )


def plain(value: Any) -> Any:
    """Plain data for JSON: records as objects, fractions as numbers, NaN as null."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__} | _derived(value)
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value


def _derived(value: Any) -> dict[str, Any]:
    return {"value": plain(value.value)} if isinstance(value, (Accuracy, Share)) else {}


def _place(key: ArmKey) -> tuple[int, int, str, str, int, str]:
    """Baselines first, then debates; each curve by kind, style and number of the exposed, mitigations after it."""
    order = [System.SINGLE, System.SINGLE_DEBATE, System.SC15, System.MSC, System.DEBATE]
    condition = key.arm.condition
    rules = list(Rule)
    return (
        order.index(key.arm.system) * len(rules) + rules.index(key.rule),
        list(Mitigation).index(key.arm.mitigation),
        condition.kind,
        condition.style,
        condition.exposed,
        key.rule,
    )


def _cell(key: ArmKey, arms: Mapping[ArmKey, ArmScores], clusters: Mapping[str, str]) -> Cell:
    own = arms[key]
    parsed = own.parsed_scores
    contrasts = []
    for against, other in _references(key):
        if other in arms:
            difference = paired_difference(floats(arms[other].scores), floats(own.scores), clusters)
            contrasts.append(Contrast(against, difference))
    return Cell(
        name=key.name,
        system=key.arm.system,
        rule=key.rule,
        condition=key.arm.condition,
        mitigation=key.arm.mitigation,
        accuracy=accuracy_of(floats(own.scores), clusters),
        parsed_only=float(sum(parsed.values()) / len(parsed)) if parsed else float("nan"),
        statuses=own.statuses,
        second=own.second,
        mended=own.mended,
        ties=own.ties,
        tokens=own.tokens,
        contrasts=tuple(contrasts),
    )


def _references(key: ArmKey) -> list[tuple[Against, ArmKey]]:
    """What this cell is compared with, whether it was held or not."""
    arm = key.arm
    found = []
    if arm.condition.exposed and arm.system is not System.SC15:
        found.append((Against.UNEXPOSED, ArmKey(replace(arm, condition=Condition()), key.rule)))
    if arm.system is System.DEBATE:
        found.append((Against.MSC, ArmKey(replace(arm, system=System.MSC), Rule.MAJORITY)))
    if arm.mitigation is not Mitigation.NONE:
        found.append((Against.UNMITIGATED, ArmKey(replace(arm, mitigation=Mitigation.NONE), key.rule)))
    if arm.mitigation is Mitigation.SPEAKING_VERIFIER:
        found.append((Against.LISTING, ArmKey(replace(arm, mitigation=Mitigation.VERIFIER), key.rule)))
    return found


def _corrected(cells: list[Cell]) -> list[Cell]:
    adjusted = iter(holm([contrast.difference.p for cell in cells for contrast in cell.contrasts]))
    return [
        replace(cell, contrasts=tuple(replace(contrast, p_holm=next(adjusted)) for contrast in cell.contrasts)) for cell in cells
    ]


def _falsity(arms: Mapping[ArmKey, ArmScores], clusters: Mapping[str, str]) -> list[FalsityEffect]:
    found = []
    for key in sorted(arms, key=_place):
        condition = key.arm.condition
        truth = Arm(key.arm.system, replace(condition, kind=PassageKind.TRUE.value), key.arm.mitigation)
        other = arms.get(ArmKey(truth, key.rule))
        if condition.kind != PassageKind.FALSE or other is None or key.arm.mitigation is not Mitigation.NONE:
            continue
        difference = paired_difference(floats(other.scores), floats(arms[key].scores), clusters)
        found.append(FalsityEffect(key.name, condition.style, condition.exposed, difference))
    adjusted = holm([each.difference.p for each in found])
    return [replace(each, p_holm=p) for each, p in zip(found, adjusted, strict=True)]

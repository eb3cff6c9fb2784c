"""Where a debate's loss comes from: ensembling, interaction and misinformation, on the same items, adding up exactly.

ensembling = mSC(0) - single; interaction = debate(0) - mSC(0); misinformation = debate(n) - debate(0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from optimizer.misinformation.arms import Arm, Condition, Mitigation, System
from optimizer.misinformation.readings import Rule
from optimizer.misinformation.scores import ArmKey, ArmScores, Scores
from optimizer.stats.bootstrap import cluster_bootstrap
from optimizer.stats.clusters import cluster_sums
from optimizer.stats.multiplicity import holm
from optimizer.stats.paired import sign_flip_test


@dataclass(frozen=True, slots=True)
class Term:
    """A difference of two arms' accuracies: `value` is exact; a 95 % cluster bootstrap interval, and the sign-flip p.

    `p_holm` is corrected over all terms of all decompositions.
    """

    name: str
    value: Fraction
    low: float
    high: float
    p: float
    p_holm: float = 1.0


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The terms and their total, debate(n) - single, over the items that are complete in all four arms."""

    rule: Rule
    condition: Condition
    items: int
    terms: tuple[Term, ...]
    total: Term


def decompose(arms: Mapping[ArmKey, ArmScores], clusters: Mapping[str, str]) -> list[Decomposition]:
    """One for each way of reading a debate and each kind and style of passage, at the most exposed agents that were held."""
    single, msc = (_scores(arms, system, Rule.MAJORITY) for system in (System.SINGLE, System.MSC))
    found = []
    for rule in (Rule.VOTING, Rule.CONSENSUS):
        unexposed = _scores(arms, System.DEBATE, rule)
        if single is None or msc is None or unexposed is None:
            continue
        for condition in most_exposed(arms, rule):
            exposed = arms[ArmKey(Arm(System.DEBATE, condition), rule)].scores
            items, terms, total = telescope([single, msc, unexposed, exposed], clusters)
            if items:
                found.append(Decomposition(rule, condition, items, terms, total))
    return _corrected(found)


def telescope(chain: list[Scores], clusters: Mapping[str, str]) -> tuple[int, tuple[Term, ...], Term]:
    """The steps along four arms (single, mSC(0), debate(0), debate(n)) and the whole way, on the items that all have."""
    items = sorted(set.intersection(*(set(scores) for scores in chain)))
    names = ("ensembling", "interaction", "misinformation")
    steps = zip(names, chain, chain[1:], strict=False)
    terms = tuple(_term(name, before, after, items, clusters) for name, before, after in steps)
    return len(items), terms, _term("total", chain[0], chain[-1], items, clusters)


def most_exposed(arms: Mapping[ArmKey, ArmScores], rule: Rule) -> list[Condition]:
    """Of each kind and style, the condition with the most exposed agents, without a mitigation."""
    largest: dict[tuple[str, str], Condition] = {}
    for key in arms:
        condition = key.arm.condition
        if key.rule is rule and key.arm == Arm(System.DEBATE, condition) and condition.exposed:
            place = (condition.kind, condition.style)
            largest[place] = max(largest.get(place, condition), condition)
    return [largest[place] for place in sorted(largest)]


def _corrected(found: list[Decomposition]) -> list[Decomposition]:
    adjusted = iter(holm([term.p for each in found for term in (*each.terms, each.total)]))
    corrected = []
    for each in found:
        *terms, total = (replace(term, p_holm=next(adjusted)) for term in (*each.terms, each.total))
        corrected.append(replace(each, terms=tuple(terms), total=total))
    return corrected


def _scores(arms: Mapping[ArmKey, ArmScores], system: System, rule: Rule) -> Scores | None:
    found = arms.get(ArmKey(Arm(system, Condition(), Mitigation.NONE), rule))
    return found.scores if found else None


def _term(name: str, before: Scores, after: Scores, items: list[str], clusters: Mapping[str, str]) -> Term:
    differences = [after[item] - before[item] for item in items]
    value = sum(differences, Fraction(0)) / max(1, len(items))
    data = cluster_sums([float(each) for each in differences], [clusters[item] for item in items])
    interval = cluster_bootstrap(data)
    return Term(name, value, interval.low, interval.high, sign_flip_test(data.sums))

"""What judges of passages agree on, and what is verified by all of them or all but one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from optimizer.data.passages import Passage, PassageKind
from optimizer.stats.agreement import error_agreement

QUESTIONS = ("contradicts_gold", "supports_wrong", "names_wrong")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges on one question, over the passages that both read. `kappa` is NaN where one always says the same."""

    question: str
    judges: tuple[str, str]
    passages: int
    agreed: float
    kappa: float


@dataclass(frozen=True, slots=True)
class KindCount:
    """The passages of a kind and style: `yes` by judge and question; verified of those that all judges read."""

    kind: str
    style: str
    passages: int
    yes: Mapping[str, Mapping[str, int]]
    judged: int
    verified: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """False passages that the judges but `judge` find to do what they should; nobody is left out where that is empty."""

    judge: str
    passages: int
    verified: int


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """What came of it. `unusable` are answers that could not be read, as judge, item, kind and style."""

    judges: tuple[str, ...]
    agreements: tuple[Agreement, ...]
    counts: tuple[KindCount, ...]
    left_out: tuple[LeftOut, ...]
    path: str = ""
    unusable: tuple[str, ...] = ()
    calls: int = 0
    paid: int = 0


def report_on(passages: Sequence[Passage], judges: Sequence[str], enough: Mapping[str, bool]) -> JudgeReport:
    """Agreement, counts and leave-one-judge-out figures from the flags of these judges.

    Args:
        enough: by item, whether support alone verifies.
    """
    known = [each for each in passages if each.item in enough]
    return JudgeReport(
        tuple(judges),
        tuple(_agreement(known, name, pair) for pair in combinations(judges, 2) for name in QUESTIONS),
        tuple(_counts(known, judges, enough)),
        tuple(_left_out(known, judges, enough)),
    )


def _agreement(passages: Sequence[Passage], question: str, pair: tuple[str, str]) -> Agreement:
    both = [each.flags for each in passages if all(judge in each.flags for judge in pair)]
    first, second = ([float(getattr(flags[judge], question)) for flags in both] for judge in pair)
    if not both:
        return Agreement(question, pair, 0, float("nan"), float("nan"))
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / len(both)
    return Agreement(question, pair, len(both), agreed, error_agreement(first, second).kappa)


def _counts(passages: Sequence[Passage], judges: Sequence[str], enough: Mapping[str, bool]) -> list[KindCount]:
    groups: dict[tuple[str, str], list[Passage]] = {}
    for each in passages:
        groups.setdefault((each.kind.value, each.style), []).append(each)
    found = []
    for (kind, style), members in sorted(groups.items()):
        yes = {
            judge: {name: sum(getattr(each.flags[judge], name) for each in members if judge in each.flags) for name in QUESTIONS}
            for judge in judges
        }
        judged = [each for each in members if all(judge in each.flags for judge in judges)]
        verified = sum(_agree(each, judges, enough) for each in judged)
        found.append(KindCount(kind, style, len(members), yes, len(judged), verified))
    return found


def _left_out(passages: Sequence[Passage], judges: Sequence[str], enough: Mapping[str, bool]) -> list[LeftOut]:
    false = [each for each in passages if each.kind is PassageKind.FALSE and all(judge in each.flags for judge in judges)]
    found = []
    for out in ("", *judges):
        others = [judge for judge in judges if judge != out]
        found.append(LeftOut(out, len(false), sum(_agree(each, others, enough) for each in false)))
    return found


def _agree(passage: Passage, judges: Sequence[str], enough: Mapping[str, bool]) -> bool:
    return all(passage.flags[judge].agrees(enough[passage.item]) for judge in judges)

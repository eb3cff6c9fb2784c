"""What a passage's effect depends on: how many hold it, its style, length and wording, its judges, and who wrote it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from optimizer.data.passages import PassageKind
from optimizer.misinformation.arms import Arm, Condition, Mitigation, System, arm_of
from optimizer.misinformation.readings import Rule, read_by
from optimizer.misinformation.records import Transcript
from optimizer.misinformation.scores import ArmKey, ArmScores, clusters_of, readable, score_arms
from optimizer.stats.bootstrap import cluster_bootstrap
from optimizer.stats.clusters import cluster_sums
from optimizer.stats.multiplicity import holm
from optimizer.stats.ratios import gain_ratio
from optimizer.stats.regression import Coefficient, linear_regression


@dataclass(frozen=True, slots=True)
class TransferShare:
    """One exposed agent's effect as a share of that of all: a gain under true passages, a loss under false ones.

    NaN where all together have no such effect.
    """

    rule: Rule
    kind: str
    style: str
    one: float
    everybody: float
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Drop:
    """Accuracy lost to false passages shown to `exposed` agents, on the items of a group, with a 95 % cluster interval."""

    group: str
    exposed: int
    items: int
    drop: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class StyleRegression:
    """Error regressed on style with length and verbatim cue, over debates under false passages.

    `reference` is the style that the others are compared with; the intercept is its error at the mean length, without a cue.
    `p_holm` has Holm's p of each coefficient but the intercept. `problem` says why there is none.
    """

    rule: Rule
    rows: int
    reference: str
    coefficients: tuple[Coefficient, ...] = ()
    p_holm: tuple[float, ...] = ()
    problem: str = ""


def transfer_shares(records: Sequence[Transcript], agents: int) -> list[TransferShare]:
    """The share for each way of reading a debate, each kind and each style that was held with none, one and all exposed."""
    arms, clusters = score_arms(records), clusters_of(records)
    found = []
    for key in sorted(arms, key=lambda each: (each.rule, each.arm.condition)):
        condition = key.arm.condition
        everybody = ArmKey(Arm(System.DEBATE, replace(condition, exposed=agents)), key.rule)
        nobody = ArmKey(Arm(System.DEBATE), key.rule)
        kinds = {PassageKind.TRUE.value: 1, PassageKind.FALSE.value: -1}
        if key.arm != Arm(System.DEBATE, condition) or condition.exposed != 1 or condition.kind not in kinds or agents < 2:
            continue
        if everybody not in arms or nobody not in arms:
            continue
        sign = kinds[condition.kind]
        one, whole = (_effect(arms[each], arms[nobody], sign) for each in (key, everybody))
        common = sorted(set(one) & set(whole))
        share, interval = gain_ratio(one, whole, clusters)
        first, second = (sum(effect[item] for item in common) / max(1, len(common)) for effect in (one, whole))
        place = (key.rule, condition.kind, condition.style)
        found.append(TransferShare(*place, first, second, share, interval.low, interval.high))
    return found


def style_regressions(records: Iterable[Transcript]) -> list[StyleRegression]:
    """One for each way of reading a debate; none where nothing was held under false passages."""
    held = [record for record in records if _is_false(record)]
    return [_regression(rule, held) for rule in (Rule.VOTING, Rule.CONSENSUS) if held]


def drops_by_judges(records: Sequence[Transcript]) -> list[Drop]:
    """The drop on passages that the judges verified, and on the others; none where nobody judged them."""
    return _drops(records, lambda record: _judged(record))


def drops_by_writer(records: Sequence[Transcript]) -> list[Drop]:
    """The drop by who wrote the passage: the rows of a generator × consumer table, of which a run is a column."""
    return _drops(records, lambda record: record.exposure.provenance if record.exposure else "")


def drops_by_place(records: Sequence[Transcript], rule: Rule) -> list[Drop]:
    """The drop by where the one exposed agent speaks: whether the order of speaking decides what a passage does.

    Places are drawn for each item, so groups are of different items.
    """
    last = max((max(record.stances(1), default=0) for record in records), default=0)

    def place(record: Transcript) -> str:
        if len(record.exposed) != 1 or last < 1:
            return ""
        slot = record.exposed[0]
        return f"speaks {'first' if slot == 0 else 'last' if slot == last else f'at place {slot + 1}'}"

    return _drops([record for record in records if readable(record, rule)], place, rule)


def _effect(arm: ArmScores, nobody: ArmScores, sign: int) -> dict[str, float]:
    return {item: sign * float(score - nobody.scores[item]) for item, score in arm.scores.items() if item in nobody.scores}


def _is_false(record: Transcript) -> bool:
    arm = arm_of(record.arm)
    unmitigated = arm.system is System.DEBATE and arm.mitigation is Mitigation.NONE
    return not record.failed and unmitigated and arm.condition.kind == PassageKind.FALSE


def _judged(record: Transcript) -> str:
    verified = record.exposure.verified if record.exposure else None
    return "" if verified is None else "verified" if verified else "unverified"


def _regression(rule: Rule, held: Sequence[Transcript]) -> StyleRegression:
    """Columns that never change are left out: with one style, one length or one number of exposed there is nothing to tell."""
    shown = [(record, record.exposure) for record in held if record.exposure]
    styles = sorted({exposure.style for _, exposure in shown}, key=lambda style: (style != "plain", style))
    counts = sorted({len(exposure.slots) for _, exposure in shown})
    columns: dict[str, list[float]] = {
        f"style {style}": [float(exposure.style == style) for _, exposure in shown] for style in styles[1:]
    }
    mean = fmean(exposure.words for _, exposure in shown)
    columns["ten more words"] = [(exposure.words - mean) / 10 for _, exposure in shown]
    columns["names the answer verbatim"] = [float(exposure.names_answer) for _, exposure in shown]
    for count in counts[1:]:
        columns[f"{count} exposed"] = [float(len(exposure.slots) == count) for _, exposure in shown]
    columns = {name: values for name, values in columns.items() if len(set(values)) > 1}
    errors = [float(not read_by(record, rule).right) for record, _ in shown if readable(record, rule)]
    if len(errors) < len(shown):
        return StyleRegression(rule, 0, styles[0], problem="the debates were not held to be read this way")
    try:
        found = linear_regression(errors, columns, [record.cluster for record, _ in shown])
    except ValueError as error:
        return StyleRegression(rule, len(errors), styles[0], problem=str(error))
    return StyleRegression(rule, len(errors), styles[0], tuple(found), tuple(holm([each.p for each in found[1:]])))


def _drops(records: Sequence[Transcript], group: Callable[[Transcript], str], rule: Rule | None = None) -> list[Drop]:
    """Score without exposure minus score under false passages, by group and number of the exposed."""
    clean = [record for record in records if not record.failed]
    groups: dict[tuple[str, int], list[Transcript]] = defaultdict(list)
    for record in clean:
        if _is_false(record) and group(record):
            groups[group(record), len(record.exposed)].append(record)
    before = _scores([record for record in clean if record.arm == Arm(System.DEBATE, Condition()).id], rule)
    clusters = clusters_of(clean)
    return [_drop(name, exposed, before, _scores(held, rule), clusters) for (name, exposed), held in sorted(groups.items())]


def _drop(name: str, exposed: int, before: Mapping[str, float], after: Mapping[str, float], clusters: Mapping[str, str]) -> Drop:
    items = sorted(set(before) & set(after))
    data = cluster_sums([before[item] - after[item] for item in items], [clusters[item] for item in items])
    interval = cluster_bootstrap(data)
    return Drop(name, exposed, len(items), data.mean, interval.low, interval.high)


def _scores(records: Sequence[Transcript], by: Rule | None = None) -> dict[str, float]:
    """Item scores over all styles and seeds: by a rule, else by voting if the debates were held for it, else by consensus."""
    right: dict[str, list[bool]] = defaultdict(list)
    for record in records:
        rule = by or (Rule.VOTING if readable(record, Rule.VOTING) else Rule.CONSENSUS)
        right[record.item].append(read_by(record, rule).right)
    return {item: sum(each) / len(each) for item, each in right.items()}

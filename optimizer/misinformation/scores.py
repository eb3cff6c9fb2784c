"""Item scores of an arm under a rule: seeds are averaged for each question first, exactly, and failed ones left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from optimizer.debate.extract import Status
from optimizer.misinformation.arms import Arm, System, arm_of
from optimizer.misinformation.readings import RULES, Reading, Rule, read_by
from optimizer.misinformation.records import Role, Transcript

Scores = Mapping[str, Fraction]
_DECIDING = {Rule.VOTING: Role.FINAL, Rule.CONSENSUS: Role.DRAFT, Rule.MAJORITY: Role.SAMPLE, Rule.STRICT: Role.SAMPLE}


@dataclass(frozen=True, slots=True)
class ArmKey:
    """An arm and how it is read."""

    arm: Arm
    rule: Rule

    @property
    def name(self) -> str:
        """As tables have it: `debate, voting`, `mSC`, `mSC-strict`, `single`."""
        if self.arm.system is System.DEBATE:
            return f"debate, {self.rule}"
        if self.arm.system is System.MSC:
            return "mSC" if self.rule is Rule.MAJORITY else "mSC-strict"
        return {"single": "single", "single-debate": "single, debate prompt", "sc15": "SC15"}[self.arm.system]


@dataclass(frozen=True, slots=True)
class ArmScores:
    """What an arm scored under a rule.

    `scores` are means over an item's seeds; `parsed_scores` the same over the decisions that could be read. `statuses` count how
    the answers that decisions rest on (for consensus, all contributions) were read at first; `second` second questions, and
    `mended` those of them that could be read. `ties` are decisions that fell out because none won. `tokens` is a mean a question.
    """

    scores: Scores
    parsed_scores: Scores
    statuses: Mapping[str, int]
    second: int
    mended: int
    ties: int
    tokens: float


def score_arms(records: Iterable[Transcript]) -> dict[ArmKey, ArmScores]:
    """The scores of all arms under all rules that their transcripts can be read by."""
    of_arm: dict[str, list[Transcript]] = defaultdict(list)
    for record in records:
        if not record.failed:
            of_arm[record.arm].append(record)
    found = {}
    for identity, held in of_arm.items():
        arm = arm_of(identity)
        for rule in RULES[arm.system]:
            chosen = [record for record in held if readable(record, rule)]
            if chosen:
                found[ArmKey(arm, rule)] = _scored(chosen, rule)
    return found


def clusters_of(records: Iterable[Transcript]) -> dict[str, str]:
    """The cluster of every item."""
    return {record.item: record.cluster for record in records}


def floats(scores: Scores) -> dict[str, float]:
    """The scores as the statistics take them."""
    return {item: float(score) for item, score in scores.items()}


def readable(record: Transcript, rule: Rule) -> bool:
    """Whether a debate was held so that it can be read by this rule. A verifier before votes has no part in a consensus."""
    if rule is Rule.CONSENSUS:
        return record.agreed > 0 and all(each.role is not Role.LIST for each in record.utterances)
    return any(each.role is _DECIDING[rule] for each in record.utterances)


def _scored(records: list[Transcript], rule: Rule) -> ArmScores:
    readings = [(record.item, read_by(record, rule)) for record in records]
    deciding = [each for record in records for each in record.utterances if each.role is _DECIDING[rule]]
    second = [each for each in deciding if each.again]
    return ArmScores(
        scores=_means(readings),
        parsed_scores=_means((item, reading) for item, reading in readings if reading.status is Status.PARSED),
        statuses={status.value: sum(each.status is status for each in deciding if not each.again) for status in Status},
        second=len(second),
        mended=sum(each.status is Status.PARSED for each in second),
        ties=sum(reading.tie for _, reading in readings),
        tokens=sum(reading.tokens for _, reading in readings) / len(readings),
    )


def _means(readings: Iterable[tuple[str, Reading]]) -> dict[str, Fraction]:
    right: dict[str, list[bool]] = defaultdict(list)
    for item, reading in readings:
        right[item].append(reading.right)
    return {item: Fraction(sum(each), len(each)) for item, each in right.items()}

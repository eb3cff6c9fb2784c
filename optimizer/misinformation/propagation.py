"""How an answer spreads in a discussion: injection, adoption, switches, self-correction, convergence.

Everything is read from what was said turn by turn; second questions are left out. A triple is an uninformed receiver, a source
and a turn t in which both hold answers that could be read and differ; it counts where the receiver's answer at t + 1 could be
read, and is a hit where that is the source's of turn t.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from optimizer.debate.extract import Status
from optimizer.misinformation.arms import Arm, Condition, System, arm_of
from optimizer.misinformation.records import Transcript, Utterance
from optimizer.stats.ratios import Share, share_difference, share_of


@dataclass(frozen=True, slots=True)
class Triple:
    """A receiver that could take over what a source held at `turn`, and whether it did."""

    cluster: str
    turn: int
    source: int
    receiver: int
    exposed: bool
    adopted: bool


@dataclass(frozen=True, slots=True)
class Adoption:
    """Adoption of the exposed source's answer, of a dissenting uninformed peer's, and the excess, with its interval.

    `place` is what they are taken of: all, a transition like `1→2`, or a source's slot.
    """

    place: str
    from_exposed: Share
    from_peer: Share
    excess: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spread:
    """How answers spread under one condition.

    Attributes:
        injected: exposed agents that state the intended answer at turn 1, of all whose passage speaks for an answer.
        adoption: over all triples; `by_transition` and `by_slot` of the source are parts of the same.
        switches: changes of an agent's answer from one turn to the next, a mean a debate.
        self_correction: exposed agents that are right at their last turn, of those that stated a wrong answer at turn 1.
        converged: debates in whose last turn all hold the same answer; `on_intended` those where it is the intended
            one, if there is one.
        first_agreement: the mean turn of the first agreement of all, over debates that have one; NaN without any.
    """

    arm: Arm
    debates: int
    injected: Share
    adoption: Adoption
    by_transition: tuple[Adoption, ...]
    by_slot: tuple[Adoption, ...]
    switches: float
    self_correction: Share
    converged: Share
    on_intended: Share
    first_agreement: float


def spreads(records: Iterable[Transcript]) -> list[Spread]:
    """How answers spread in each arm of debates with exposure."""
    of_arm: dict[str, list[Transcript]] = defaultdict(list)
    for record in records:
        if not record.failed and record.exposed and arm_of(record.arm).system is System.DEBATE:
            of_arm[record.arm].append(record)
    order = sorted(of_arm, key=lambda each: _place(arm_of(each)))
    return [_spread(arm_of(arm), of_arm[arm]) for arm in order]


def triples(record: Transcript) -> Iterator[Triple]:
    """All triples of a debate."""
    for turn in range(1, record.turns):
        now, later = record.stances(turn), record.stances(turn + 1)
        for receiver, held in now.items():
            if receiver in record.exposed or not _read(held) or receiver not in later or not _read(later[receiver]):
                continue
            for source, other in now.items():
                if source != receiver and _read(other) and other.answer != held.answer:
                    adopted = later[receiver].answer == other.answer
                    yield Triple(record.cluster, turn, source, receiver, source in record.exposed, adopted)


def switches(record: Transcript) -> int:
    """How often an agent's answer is another than a turn before, where both could be read."""
    count = 0
    for turn in range(1, record.turns):
        now, later = record.stances(turn), record.stances(turn + 1)
        count += sum(
            _read(now[slot]) and _read(each) and each.answer != now[slot].answer for slot, each in later.items() if slot in now
        )
    return count


def agreement(record: Transcript, turn: int) -> str:
    """The answer that all hold in a turn; empty where they do not, or one cannot be read."""
    held = list(record.stances(turn).values())
    answers = {each.answer for each in held}
    return held[0].answer if held and all(map(_read, held)) and len(answers) == 1 else ""


def _spread(arm: Arm, records: Sequence[Transcript]) -> Spread:
    found = [triple for record in records for triple in triples(record)]
    first = [(record, record.stances(1).get(slot)) for record in records for slot in record.exposed]
    injected = [(record.cluster, _intends(record, stance)) for record, stance in first if _intended(record)]
    wrong = [
        (record.cluster, record.stances(record.turns)[stance.slot].right)
        for record, stance in first
        if stance is not None and _read(stance) and not stance.right
    ]
    last = [(record, agreement(record, record.turns)) for record in records]
    agreed = [_first_agreement(record) for record in records]
    return Spread(
        arm=arm,
        debates=len(records),
        injected=_share(injected),
        adoption=_adoption("all", found),
        by_transition=tuple(
            _adoption(f"{turn}→{turn + 1}", [each for each in found if each.turn == turn])
            for turn in sorted({each.turn for each in found})
        ),
        by_slot=tuple(
            _adoption(f"agent {slot + 1}", [each for each in found if each.source == slot])
            for slot in sorted({each.source for each in found})
        ),
        switches=fmean(map(switches, records)),
        self_correction=_share(wrong),
        converged=_share([(record.cluster, bool(answer)) for record, answer in last]),
        on_intended=_share([(record.cluster, answer == _intended(record)) for record, answer in last if _intended(record)]),
        first_agreement=fmean(held) if (held := [turn for turn in agreed if turn]) else float("nan"),
    )


def _adoption(place: str, found: Sequence[Triple]) -> Adoption:
    sides = [[each for each in found if each.exposed is exposed] for exposed in (True, False)]
    informed, peers = (([each.adopted for each in side], [each.cluster for each in side]) for side in sides)
    excess, interval = share_difference(informed, peers)
    return Adoption(place, share_of(*informed), share_of(*peers), excess, interval.low, interval.high)


def _share(found: Sequence[tuple[str, bool]]) -> Share:
    return share_of([hit for _, hit in found], [cluster for cluster, _ in found])


def _first_agreement(record: Transcript) -> int:
    return next((turn for turn in range(1, record.turns + 1) if agreement(record, turn)), 0)


def _read(utterance: Utterance) -> bool:
    return utterance.status is Status.PARSED


def _intended(record: Transcript) -> str:
    return record.exposure.intended if record.exposure else ""


def _intends(record: Transcript, stance: Utterance | None) -> bool:
    return stance is not None and _read(stance) and stance.answer == _intended(record)


def _place(arm: Arm) -> tuple[str, Condition]:
    return arm.mitigation, arm.condition

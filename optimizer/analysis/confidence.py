"""Does the panel's confidence mean anything, and does it stay the same from round to round?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.analysis.recorded import Answer, RecordedPanel
from optimizer.stats.bootstrap import UNDEFINED, Estimate, mean_estimate
from optimizer.stats.calibration import Bin, auroc_estimate, calibration
from optimizer.stats.correlation import pearson_estimate, spearman

BINS = 10


@dataclass(frozen=True, slots=True)
class ConfidenceRow:
    """The answers of one judge, or of several together, that state a confidence; `without` do not, or are no vote.

    `confidence` and `right` are means, so their gap is the overall over- or underconfidence. `auroc` is undefined where all
    answers are right, or all wrong. `curve` is the reliability curve in bins of equal width. `by_vote` has the mean
    confidence of the answers for each label.
    """

    name: str
    answers: int
    without: int
    confidence: float
    right: float
    auroc: Estimate
    brier: Estimate
    ece_width: float
    ece_mass: float
    mce: float
    curve: tuple[Bin, ...]
    by_vote: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CarryRow:
    """A persona's confidence in a round against that in the round before, over the `pairs` in which it stated both.

    `rise` is the mean change in points of confidence (0 to 100).
    """

    persona: str
    round: int
    pairs: int
    pearson: Estimate
    spearman: float
    rise: Estimate


def confidence_rows(panel: RecordedPanel, bins: int = BINS) -> list[ConfidenceRow]:
    """All personas in each round and over all rounds, each persona in the last, the panel's decision, and the controls."""
    rounds = range(1, panel.rounds + 1)
    by_round = {n: [answer for persona in panel.personas for answer in panel.persona(persona, n)] for n in rounds}
    rows = [_row(f"all personas, round {n}", answers, bins) for n, answers in by_round.items()]
    if panel.rounds > 1:
        rows.append(_row("all personas, all rounds", [answer for answers in by_round.values() for answer in answers], bins))
    last = panel.rounds
    rows += [_row(f"{persona}, round {last}", panel.persona(persona, last), bins) for persona in panel.personas]
    rows.append(_row("panel's decision", panel.decided(last), bins))
    return rows + [_row(name, panel.control(name), bins) for name, arm in panel.controls.items() if arm.debates]


def carry_rows(panel: RecordedPanel) -> list[CarryRow]:
    """How far confidence carries over from each round to the next: all personas together, then one by one."""
    rows = []
    for number in range(2, panel.rounds + 1):
        pairs = {
            persona: [
                (before, after)
                for before, after, debate in zip(
                    panel.persona(persona, number - 1), panel.persona(persona, number), panel.debates, strict=True
                )
                if debate.last_round >= number and before.confidence is not None and after.confidence is not None
            ]
            for persona in panel.personas
        }
        together = [pair for found in pairs.values() for pair in found]
        rows += [_carry(name, number, found) for name, found in {"all personas": together, **pairs}.items()]
    return rows


def _row(name: str, answers: Sequence[Answer], bins: int) -> ConfidenceRow:
    stated = [answer for answer in answers if answer.vote is not None and answer.confidence is not None]
    without = len(answers) - len(stated)
    if not stated:
        nothing = float("nan")
        return ConfidenceRow(name, 0, without, nothing, nothing, UNDEFINED, UNDEFINED, nothing, nothing, nothing, (), {})
    # The parser reads confidences from 0 to 100; anything beyond, from another source, would be no probability.
    values = [min(max((answer.confidence or 0.0) / 100, 0.0), 1.0) for answer in stated]
    right = [answer.right for answer in stated]
    clusters = [answer.item.cluster for answer in stated]
    by_vote: dict[str, list[float]] = {}
    for answer, value in zip(stated, values, strict=True):
        by_vote.setdefault(str(answer.vote), []).append(value)
    width, mass = calibration(values, right, bins, "width"), calibration(values, right, bins, "mass")
    return ConfidenceRow(
        name,
        len(stated),
        without,
        sum(values) / len(values),
        sum(right) / len(right),
        auroc_estimate(values, right, clusters),
        mean_estimate([(value - hit) ** 2 for value, hit in zip(values, right, strict=True)], clusters),
        width.ece,
        mass.ece,
        width.mce,
        width.bins,
        {vote: sum(given) / len(given) for vote, given in sorted(by_vote.items())},
    )


def _carry(name: str, number: int, pairs: Sequence[tuple[Answer, Answer]]) -> CarryRow:
    first, second = ([answer.confidence or 0.0 for answer in side] for side in zip(*pairs, strict=True)) if pairs else ([], [])
    clusters = [before.item.cluster for before, _ in pairs]
    rises = [after - before for before, after in zip(first, second, strict=True)]
    return CarryRow(
        name,
        number,
        len(pairs),
        pearson_estimate(first, second, clusters),
        spearman(first, second),
        mean_estimate(rises, clusters),
    )

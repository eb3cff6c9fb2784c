"""What the debate did to the answers: recall by class, and whether the threshold moved or the judge sees better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.analysis.recorded import Answer, RecordedPanel, mean_by_item
from optimizer.data.item import Item, Label, Task
from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.bootstrap import Estimate, mean_estimate
from optimizer.stats.detection import DetectionEstimates, detection_differences, detection_estimates

CLASSES = (Label.GROUNDED, Label.NOT_GROUNDED)


@dataclass(frozen=True, slots=True)
class ArmRow:
    """One judge on all its items: the panel, the panel after an earlier round, a control, or a persona alone.

    `recall` and `detection` are over claims; `detection` is None where there are none. `failed` debates are left out; answers
    without a vote count as wrong, and `no_vote` of them there are.
    """

    name: str
    accuracy: Accuracy
    recall: Mapping[str, Accuracy]
    detection: DetectionEstimates | None
    no_vote: int
    failed: int


@dataclass(frozen=True, slots=True)
class Shift:
    """One judge minus another on the `items` that both have; `unpaired` items lack an answer on one side and are left out.

    `recall` has a class -> the difference in its recall.
    """

    name: str
    items: int
    unpaired: int
    accuracy: Estimate
    recall: Mapping[str, Estimate]
    detection: DetectionEstimates | None


def arm_rows(panel: RecordedPanel) -> list[ArmRow]:
    """The panel after its last round and after the first, the controls, and each persona in both rounds."""
    last = panel.rounds
    rows = [_row("panel", panel.decided(last), panel.failed)]
    if last > 1:
        rows.append(_row("panel after round 1", panel.decided(1)))
    rows += [_row(name, panel.control(name), arm.failed) for name, arm in panel.controls.items() if arm.debates]
    for persona in panel.personas:
        for number in sorted({1, last}):
            rows.append(_row(f"{persona}, round {number}", panel.persona(persona, number)))
    return rows


def shifts(panel: RecordedPanel) -> list[Shift]:
    """The panel minus each control, its last round minus the first, and the same for each persona."""
    last = panel.rounds
    decided = panel.decided(last)
    found = [_shift(f"panel minus {name}", panel.control(name), decided) for name, arm in panel.controls.items() if arm.debates]
    if last > 1:
        found.append(_shift(f"panel, round {last} minus 1", panel.decided(1), decided))
        for persona in panel.personas:
            first, final = panel.persona(persona, 1), panel.persona(persona, last)
            found.append(_shift(f"{persona}, round {last} minus 1", first, final))
    return found


def _row(name: str, answers: Sequence[Answer], failed: int = 0) -> ArmRow:
    items = _items(answers)
    clusters = {item.id: item.cluster for item in items.values()}
    right = mean_by_item(answers, lambda answer: float(answer.right))
    said = _said(answers, set(right))
    detection = None
    if said:
        detection = detection_estimates(list(said.values()), _truths(said, items), [clusters[item] for item in said])
    recall = {
        label.value: accuracy_of({item: score for item, score in right.items() if _class(items[item]) is label}, clusters)
        for label in CLASSES
    }
    return ArmRow(name, accuracy_of(right, clusters), recall, detection, sum(answer.vote is None for answer in answers), failed)


def _shift(name: str, baseline: Sequence[Answer], challenger: Sequence[Answer]) -> Shift:
    items = _items(baseline) | _items(challenger)
    before, after = (mean_by_item(answers, lambda answer: float(answer.right)) for answers in (baseline, challenger))
    common = sorted(set(before) & set(after))

    def difference(chosen: Sequence[str]) -> Estimate:
        return mean_estimate([after[item] - before[item] for item in chosen], [items[item].cluster for item in chosen])

    old, new = _said(baseline, set(common)), _said(challenger, set(common))
    detection = None
    if old:
        clusters = [items[item].cluster for item in old]
        detection = detection_differences(list(old.values()), [new[item] for item in old], _truths(old, items), clusters)
    return Shift(
        name,
        len(common),
        len(set(before) | set(after)) - len(common),
        difference(common),
        {label.value: difference([item for item in common if _class(items[item]) is label]) for label in CLASSES},
        detection,
    )


def _said(answers: Sequence[Answer], wanted: set[str]) -> dict[str, float]:
    """Claim -> how often it was called grounded. No answer does not call it so."""
    claims = [answer for answer in answers if answer.item.id in wanted and _class(answer.item) is not None]
    return mean_by_item(claims, lambda answer: float(answer.vote == Label.GROUNDED))


def _truths(said: Mapping[str, float], items: Mapping[str, Item]) -> list[bool]:
    return [_class(items[item]) is Label.GROUNDED for item in said]


def _items(answers: Sequence[Answer]) -> dict[str, Item]:
    return {answer.item.id: answer.item for answer in answers}


def _class(item: Item) -> Label | None:
    """The class of a claim; None for questions."""
    return item.label if item.task is Task.CLAIM and item.label in CLASSES else None

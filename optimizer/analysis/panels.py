"""Several panels side by side: does diversity make errors less alike, and does it bring more right answers to the table?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.analysis.persona_errors import round_errors
from optimizer.analysis.recorded import Answer, RecordedPanel, mean_by_item
from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.agreement import mean_phi, mean_phi_difference
from optimizer.stats.bootstrap import UNDEFINED, Estimate, mean_estimate


@dataclass(frozen=True, slots=True)
class RoundFigures:
    """One round of one panel: the mean of phi over its pairs, the oracle (some persona is right), and its best persona."""

    round: int
    phi: Estimate
    oracle: Accuracy
    best: str
    best_accuracy: float


@dataclass(frozen=True, slots=True)
class PanelRow:
    """One panel: its first round, in which nobody has heard the others, its last, and what it decided."""

    name: str
    model: str
    debates: int
    failed: int
    accuracy: Accuracy
    first: RoundFigures
    last: RoundFigures


@dataclass(frozen=True, slots=True)
class PanelDifference:
    """A panel minus the first one on the `items` that both have; `unpaired` items are only in one of them."""

    name: str
    items: int
    unpaired: int
    accuracy: Estimate
    oracle_first: Estimate
    oracle_last: Estimate
    phi_first: Estimate
    phi_last: Estimate


@dataclass(frozen=True, slots=True)
class Panels:
    """A row a panel, and the differences to the first."""

    rows: tuple[PanelRow, ...]
    differences: tuple[PanelDifference, ...]


def compare_panels(panels: Sequence[RecordedPanel]) -> Panels:
    """Panels on the same items, or on others: differences are over what they share, and empty where they share nothing."""
    return Panels(tuple(map(panel_row, panels)), tuple(_difference(panels[0], panel) for panel in panels[1:]))


def panel_row(panel: RecordedPanel) -> PanelRow:
    """The figures of one panel."""
    clusters = _clusters(panel)
    return PanelRow(
        panel.name,
        panel.model,
        len(panel.debates),
        panel.failed,
        accuracy_of(_right(panel.decided(panel.rounds)), clusters),
        _round(panel, 1),
        _round(panel, panel.rounds),
    )


def _round(panel: RecordedPanel, number: int) -> RoundFigures:
    clusters = _clusters(panel)
    errors = list(round_errors(panel, number).values())
    alone = {name: accuracy_of(_right(panel.persona(name, number)), clusters).value for name in panel.personas}
    best = max(alone, key=lambda name: alone[name])
    return RoundFigures(
        number, mean_phi(errors, panel.clusters), accuracy_of(_oracle(panel, number), clusters), best, alone[best]
    )


def _oracle(panel: RecordedPanel, number: int) -> dict[str, float]:
    """Item -> whether some persona is right in a round, the mean over its repeats."""
    answers = zip(*(panel.persona(name, number) for name in panel.personas), strict=True)
    return mean_by_item([max(each, key=lambda answer: answer.right) for each in answers], lambda answer: float(answer.right))


def _right(answers: Sequence[Answer]) -> dict[str, float]:
    return mean_by_item(answers, lambda answer: float(answer.right))


def _clusters(panel: RecordedPanel) -> dict[str, str]:
    return {item.id: item.cluster for item in panel.items.values()}


def _difference(first: RecordedPanel, other: RecordedPanel) -> PanelDifference:
    # An item of the same id and other content is another item.
    common = {debate.item for debate in first.debates} & {debate.item for debate in other.debates}
    common = {item for item in common if first.items[item].content_hash == other.items[item].content_hash}
    everything = {debate.item for debate in (*first.debates, *other.debates)}
    clusters = _clusters(first)

    def paired(before: Mapping[str, float], after: Mapping[str, float]) -> Estimate:
        ids = sorted(common)
        return mean_estimate([after[item] - before[item] for item in ids], [clusters[item] for item in ids])

    return PanelDifference(
        other.name,
        len(common),
        len(everything) - len(common),
        paired(_right(first.decided(first.rounds)), _right(other.decided(other.rounds))),
        paired(_oracle(first, 1), _oracle(other, 1)),
        paired(_oracle(first, first.rounds), _oracle(other, other.rounds)),
        _phi_difference(first, other, 1, 1, common),
        _phi_difference(first, other, first.rounds, other.rounds, common),
    )


def _phi_difference(first: RecordedPanel, other: RecordedPanel, before: int, after: int, common: set[str]) -> Estimate:
    """The difference in mean phi over debates that both panels held: the same item, the same repeat."""
    places = [
        {(debate.item, debate.sample): place for place, debate in enumerate(panel.debates) if debate.item in common}
        for panel in (first, other)
    ]
    shared = sorted(set(places[0]) & set(places[1]))
    if not shared:
        return UNDEFINED
    one, two = (
        [[errors[where[key]] for key in shared] for errors in round_errors(panel, number).values()]
        for panel, number, where in ((first, before, places[0]), (other, after, places[1]))
    )
    return mean_phi_difference(one, two, [first.items[item].cluster for item, _ in shared])

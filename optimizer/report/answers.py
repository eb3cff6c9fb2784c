"""Sections on what the personas answered: who sees what, what the debate changed, who moved whom, common errors."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.analysis.arms import ArmRow, Shift
from optimizer.analysis.influence import PANEL, Decisions, FlipRow, MoveRow
from optimizer.analysis.persona_errors import PersonaErrors
from optimizer.data.item import Label
from optimizer.report.figures import percent, with_interval
from optimizer.report.sections import Section, apart, bare, joined, number, points

_CLASSES = (Label.GROUNDED.value, Label.NOT_GROUNDED.value)


def arms_section(rows: Sequence[ArmRow]) -> Section:
    """Every judge with its recall by class, sensitivity and threshold."""
    body = [
        (
            row.name,
            str(row.accuracy.items),
            with_interval(row.accuracy),
            *(with_interval(row.recall[label]) for label in _CLASSES),
            *((number(row.detection.sensitivity), number(row.detection.criterion)) if row.detection else ("–", "–")),
            str(row.no_vote),
            str(row.failed),
        )
        for row in rows
    ]
    notes = []
    if any(row.detection is None for row in rows):
        notes.append("These items are questions: recall by class and d′ are for claims alone.")
    elif any(row.detection and row.detection.sensitivity.value != row.detection.sensitivity.value for row in rows):
        notes.append("d′ and c are undefined: all claims are of one class.")
    if not any(row.name in ("single", "self-consistency") for row in rows):
        notes.append("No control stands beside this panel: optimizer evaluate --control single,self-consistency records them.")
    return Section(
        "Who sees what: recall by class, sensitivity and threshold",
        ("judge", "items", "accuracy", "recall yes", "recall no", "d′", "c", "no vote", "failed"),
        tuple(body),
        (
            (
                "recall yes, recall no",
                "of the grounded claims, the share called grounded; of the others, the share called not grounded",
            ),
            (
                "d′",
                "how well the two are told apart, wherever the threshold is; 0 is guessing, 1 allows 69 % right, 2 allows 84 %",
            ),
            ("c", "the threshold; 0 is even-handed, above 0 the judge says no more readily, below 0 yes"),
            ("no vote", "answers that were no usable verdict; they count as wrong"),
        ),
        tuple(notes),
    )


def shifts_section(rows: Sequence[Shift]) -> Section:
    """What the debate changed, paired."""
    body = [
        (
            row.name,
            str(row.items),
            points(row.accuracy),
            *(points(row.recall[label]) for label in _CLASSES),
            *(
                (number(row.detection.sensitivity, signed=True), number(row.detection.criterion, signed=True))
                if row.detection
                else ("–", "–")
            ),
        )
        for row in rows
    ]
    notes = [_told_shift(row) for row in rows if row.detection and row.name.startswith("panel")]
    notes += [f"{row.name}: {row.unpaired} items lack an answer on one side and are left out." for row in rows if row.unpaired]
    return Section(
        "What the debate changed: differences on the same items",
        ("first minus second", "items", "accuracy", "recall yes", "recall no", "d′", "c"),
        tuple(body),
        (
            ("accuracy, recall", "points gained (+) or lost on the items that both judged; an interval that holds 0 may be luck"),
            ("d′", "above 0: the first of the two sees better"),
            ("c", "above 0: it says no more readily; if c moves and d′ does not, only the threshold moved"),
        ),
        tuple(notes),
    )


def _told_shift(row: Shift) -> str:
    if row.detection is None:
        return ""
    sight, threshold = row.detection.sensitivity, row.detection.criterion
    parts = []
    if apart(sight):
        parts.append(f"it sees {'better' if sight.value > 0 else 'worse'}")
    if apart(threshold):
        parts.append(f"its threshold moved towards {'no' if threshold.value > 0 else 'yes'}")
    if sight.low != sight.low:
        return f"{row.name}: undefined, since all claims are of one class."
    return f"{row.name}: {' and '.join(parts) or 'neither sight nor threshold differs beyond luck'}."


def flips_section(rows: Sequence[FlipRow]) -> Section:
    """What became of answers from round to round."""
    body = [
        (
            each.judge,
            f"{each.round - 1} → {each.round}",
            str(each.answers),
            str(each.changed),
            str(each.corrected),
            str(each.corrupted),
            points(each.net),
            "" if each.judge == PANEL else str(each.to_peer),
            "" if each.judge == PANEL else str(each.alone),
        )
        for each in rows
    ]
    return Section(
        "Flips between rounds",
        ("judge", "rounds", "answers", "changed", "corrected", "corrupted", "net", "to a peer's", "alone"),
        tuple(body),
        (
            ("corrected, corrupted", "answers that went from wrong to right, and from right to wrong"),
            ("net", "corrections less corruptions, in points of its answers; below 0 the debate does harm"),
            ("to a peer's, alone", "changes to what a peer it had heard held, and to what none of them held"),
        ),
        () if body else ("There is one round, so nobody changed anything.",),
    )


def moves_section(rows: Sequence[MoveRow]) -> Section:
    """Who took over whose answer."""
    body = [
        (
            each.receiver,
            each.source,
            str(each.disagreed),
            str(each.moved),
            percent(each.rate),
            bare(each.credit, 1),
            str(each.corrected),
            str(each.corrupted),
        )
        for each in rows
        if each.disagreed
    ]
    return Section(
        "Who moved whom",
        ("who", "towards", "disagreed", "moved", "rate", "credit", "corrected", "corrupted"),
        tuple(body),
        (
            ("disagreed", "how often the first had heard the other hold something else than its own answer"),
            ("moved, rate", "how often it then took over the other's answer"),
            ("credit", "moves, each divided among all peers that held the new answer: two who agree share one"),
            ("corrected, corrupted", "moves that made a wrong answer right, and a right one wrong"),
        ),
        () if body else ("Nobody heard a peer hold another answer, so nobody could be moved.",),
    )


def decisions_section(decisions: Decisions) -> Section:
    """Whose vote decided."""
    rows = [
        (
            each.persona,
            str(each.pivotal),
            str(each.pivotal_right),
            str(each.outvoted),
            str(each.outvoted_right),
        )
        for each in decisions.rows
    ]
    rules = joined([f"{count} by {rule or 'no rule'}" for rule, count in decisions.rules])
    return Section(
        "Where the deciding vote fell",
        ("persona", "pivotal", "and right", "outvoted", "though right"),
        tuple(rows),
        (
            ("pivotal", "decisions that another vote of this persona (a peer's, or none) would have changed"),
            ("outvoted", "decisions against its vote"),
            ("though right", "those in which it was right: what the vote lost"),
        ),
        (
            f"Of {decisions.debates} debates {decisions.unanimous} were decided with one voice and {decisions.split} with votes "
            f"against, {decisions.none} not at all; {rules}.",
        ),
    )


def errors_section(errors: PersonaErrors) -> Section:
    """Pairs of personas and their common errors."""
    rows = [
        (
            f"{each.first}, {each.second}",
            str(each.round),
            str(each.both_wrong),
            number(each.figures.phi),
            bare(each.figures.phi_limit),
            number(each.figures.kappa),
            number(each.figures.double_fault),
            number(each.figures.lift),
        )
        for each in errors.pairs
    ]
    notes = [
        f"Mean phi of {each.name}: {number(each.phi)} over {each.pairs - each.undefined} of {each.pairs} pairs."
        for each in errors.means
    ]
    if any(each.undefined for each in errors.means):
        notes.append("phi is undefined (–) where one of both is always wrong, or never: nothing varies together.")
    if not rows:
        notes.append("One persona has nobody to err with.")
    return Section(
        "Do the personas err together?",
        ("pair", "round", "both wrong", "phi", "at most", "kappa", "double fault", "lift"),
        tuple(rows),
        (
            ("phi", "correlation of their errors; 1: always wrong on the same items, 0: independently, so that a vote helps"),
            ("at most", "the largest phi that their error rates allow: compare phi with it, and not with 1"),
            ("kappa", "how much more often than by chance they are right or wrong together"),
            ("double fault", "the share of debates in which both are wrong: no vote of these two can help there"),
            ("lift", "that share over what independent errors would give; 1 is independent"),
        ),
        tuple(notes),
    )

"""A diagnosis in tables, with what each figure means in a line: for the terminal, Markdown and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from optimizer.analysis.arms import ArmRow, Shift
from optimizer.analysis.confidence import ConfidenceRow
from optimizer.analysis.diagnosis import Diagnosis
from optimizer.analysis.influence import PANEL
from optimizer.analysis.novelty import QUOTED_WORDS, Quartiles
from optimizer.analysis.panels import PanelDifference, Panels
from optimizer.data.item import Label
from optimizer.report.comparison import percent, plain_data
from optimizer.report.sections import Section, apart, bare, joined, number, points, section_markdown
from optimizer.stats.accuracy import Accuracy

ABOUT_YES = 0.4  # mean confidence of yes above that of no from which the model seems to mean something else by it
_CLASSES = (Label.GROUNDED.value, Label.NOT_GROUNDED.value)
_BY_ROUND = ("phi, round 1", "phi, last", "oracle, round 1", "oracle, last")
RECORD_REASONS = (
    'optimizer evaluate … --set \'protocol.fields=["reason","verdict","confidence"]\' '
    '--set \'protocol.shared=["verdict","reason"]\''
)


def heading(found: Diagnosis) -> str:
    """What was diagnosed, in one line."""
    rounds = f"{found.rounds} round{'s' if found.rounds > 1 else ''}"
    return (
        f"{found.panel.name} ({found.panel.model}): {found.panel.debates} debates of {rounds} on {found.items} items in "
        f"{found.clusters} clusters"
    )


def sections(found: Diagnosis) -> list[Section]:
    """All tables, in the order in which one reads them."""
    return [
        _arms(found.arms),
        *([_shifts(found.shifts)] if found.shifts else []),
        _flips(found),
        _moves(found),
        _decisions(found),
        _errors(found),
        _confidence(found),
        _reliability(found),
        *([_carried(found)] if found.carried else []),
        _novelty(found),
    ]


def warning_lines(warnings: Sequence[str]) -> list[str]:
    """Warnings as they are printed."""
    return [f"Note: {warning}." for warning in warnings]


def markdown(title: str, parts: Sequence[Section], warnings: Sequence[str], seconds: float) -> str:
    """A whole report as Markdown."""
    body = [f"## {title}", *map(section_markdown, parts), *warning_lines(warnings), f"Computed in {seconds:.1f} s."]
    return "\n\n".join(body) + "\n"


def to_json(content: Diagnosis | Panels) -> dict[str, Any]:
    """Plain data, NaN as null."""
    return plain_data(asdict(content))  # type: ignore[no-any-return]


def panel_sections(found: Panels) -> list[Section]:
    """The tables of several panels side by side, called A, B, C …"""
    letters = [_letter(place) for place in range(len(found.rows))]
    rows = [
        (
            letter,
            str(row.debates),
            _share(row.accuracy),
            number(row.first.phi),
            number(row.last.phi),
            _share(row.first.oracle),
            _share(row.last.oracle),
            f"{row.last.best} {percent(row.last.best_accuracy)}",
        )
        for letter, row in zip(letters, found.rows, strict=True)
    ]
    side = Section(
        "Panels side by side",
        ("panel", "debates", "accuracy", *_BY_ROUND, "best persona, last"),
        tuple(rows),
        (
            ("phi", "do the personas err on the same items? The mean over their pairs; 1: always together, 0: independently"),
            ("oracle", "the share of items that at least one persona gets right: what a perfect vote could reach, and no more"),
            ("best persona", "if it beats the panel's accuracy, the vote costs more than it brings"),
            ("in brackets", "the 95 % interval, drawn over clusters"),
        ),
        tuple(f"{letter} is {row.name} ({row.model})." for letter, row in zip(letters, found.rows, strict=True)),
    )
    return [side, _panel_differences(found.differences, letters)]


def _panel_differences(differences: Sequence[PanelDifference], letters: Sequence[str]) -> Section:
    rows = [
        (
            f"{letter} minus {letters[0]}",
            str(each.items),
            points(each.accuracy),
            number(each.phi_first, signed=True),
            number(each.phi_last, signed=True),
            points(each.oracle_first),
            points(each.oracle_last),
        )
        for letter, each in zip(letters[1:], differences, strict=True)
    ]
    left_out = [
        f"{letter} minus {letters[0]}: {each.unpaired} items are in one of both alone and left out."
        for letter, each in zip(letters[1:], differences, strict=True)
        if each.unpaired
    ]
    return Section(
        "Differences on the items that both have",
        ("panels", "items", "accuracy", *_BY_ROUND),
        tuple(rows),
        (
            ("accuracy, oracle", "points more (+) or less; an interval that holds 0 may be luck"),
            ("phi", "below 0: the personas err less alike; that pays only if the oracle or the accuracy rises with it"),
        ),
        tuple(left_out),
    )


def _letter(place: int) -> str:
    """A to Z, then A2, B2 …"""
    return chr(ord("A") + place % 26) + (str(place // 26 + 1) if place >= 26 else "")


def _arms(rows: Sequence[ArmRow]) -> Section:
    body = [
        (
            row.name,
            str(row.accuracy.items),
            _share(row.accuracy),
            *(_share(row.recall[label]) for label in _CLASSES),
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
                "how well the two are told apart, whatever the threshold; 0 is guessing, 1 is 69 % right if even-handed, 2 is 84 %",
            ),
            ("c", "the threshold; 0 is even-handed, above 0 the judge says no more readily, below 0 yes"),
            ("no vote", "answers that were no usable verdict; they count as wrong"),
        ),
        tuple(notes),
    )


def _shifts(rows: Sequence[Shift]) -> Section:
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


def _flips(found: Diagnosis) -> Section:
    rows = [
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
        for each in found.flips
    ]
    return Section(
        "Flips between rounds",
        ("judge", "rounds", "answers", "changed", "corrected", "corrupted", "net", "to a peer's", "alone"),
        tuple(rows),
        (
            ("corrected, corrupted", "answers that went from wrong to right, and from right to wrong"),
            ("net", "corrections less corruptions, in points of its answers; below 0 the debate does harm"),
            ("to a peer's, alone", "changes to what a peer it had heard held, and to what none of them held"),
        ),
        () if rows else ("There is one round, so nobody changed anything.",),
    )


def _moves(found: Diagnosis) -> Section:
    rows = [
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
        for each in found.moves
        if each.disagreed
    ]
    return Section(
        "Who moved whom",
        ("who", "towards", "disagreed", "moved", "rate", "credit", "corrected", "corrupted"),
        tuple(rows),
        (
            ("disagreed", "how often the first had heard the other hold something else than its own answer"),
            ("moved, rate", "how often it then took over the other's answer"),
            ("credit", "moves, each divided among all peers that held the new answer: two who agree share one"),
            ("corrected, corrupted", "moves that made a wrong answer right, and a right one wrong"),
        ),
        () if rows else ("Nobody heard a peer hold another answer, so nobody could be moved.",),
    )


def _decisions(found: Diagnosis) -> Section:
    decisions = found.decisions
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


def _errors(found: Diagnosis) -> Section:
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
        for each in found.errors.pairs
    ]
    notes = [
        f"Mean phi of {each.name}: {number(each.phi)} over {each.pairs - each.undefined} of {each.pairs} pairs."
        for each in found.errors.means
    ]
    if any(each.undefined for each in found.errors.means):
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


def _confidence(found: Diagnosis) -> Section:
    rows = [
        (
            each.name,
            str(each.answers),
            percent(each.confidence),
            percent(each.right),
            number(each.auroc),
            bare(each.ece_width),
            bare(each.ece_mass),
            bare(each.mce),
            number(each.brier),
        )
        for each in found.confidence
    ]
    stated = [each for each in found.confidence if each.answers]
    one_class = [each.name for each in stated if each.right in (0.0, 1.0)]
    notes = []
    if one_class:
        notes.append(f"AUROC is undefined for {joined(one_class)}: all answers are right, or all wrong.")
    if not stated:
        notes.append("No answer states a confidence, so nothing can be said of it; put confidence into protocol.fields.")
    if any(_about_yes(each) for each in stated):
        notes.append(
            "Confidence goes with the label: high on yes, low on no. This model seems to say how likely yes is, not how sure it is "
            "of its answer, so the figures above say little."
        )
    if left_out := sum(
        each.without for each in found.confidence if each.name == f"all personas, round {found.rounds}" and stated
    ):
        notes.append(f"{left_out} answers of the last round state no confidence, or are no vote, and are left out.")
    return Section(
        "Does confidence mean anything?",
        ("judge", "answers", "confidence", "right", "AUROC", "ECE, width", "ECE, mass", "MCE", "Brier"),
        tuple(rows) if stated else (),
        (
            (
                "confidence, right",
                "the mean stated confidence, and the share that is right; if the first is higher, it is overconfident",
            ),
            (
                "AUROC",
                "the chance that a right answer has a higher confidence than a wrong one; .5 is worthless, ties count half",
            ),
            (
                "ECE",
                f"the mean gap between confidence and accuracy, over {found.bins} bins of equal width, or of equally many "
                "answers; 0 is best, and few answers make it larger",
            ),
            ("MCE", "the largest gap of a bin of equal width; a bin with few answers can make it"),
            ("Brier", "the mean squared gap between confidence and outcome; .25 is what always saying 50 % gets, 0 is perfect"),
        ),
        tuple(notes),
    )


def _about_yes(row: ConfidenceRow) -> bool:
    """Whether grounded answers are given a far higher confidence than others, as if it were the chance of yes."""
    yes, no = (row.by_vote.get(label, float("nan")) for label in _CLASSES)
    return yes - no > ABOUT_YES and no < 0.5 < yes


def _reliability(found: Diagnosis) -> Section:
    row = _last_round(found)
    return Section(
        f"Reliability: {row.name}",
        ("confidence from", "to", "answers", "mean confidence", "right"),
        tuple(
            (percent(each.low), percent(each.high), str(each.answers), percent(each.confidence), percent(each.right))
            for each in row.curve
        ),
        (("right", "of a calibrated judge it equals the mean confidence in every bin; empty bins are not shown"),),
    )


def _last_round(found: Diagnosis) -> ConfidenceRow:
    return next(each for each in found.confidence if each.name == f"all personas, round {found.rounds}")


def _carried(found: Diagnosis) -> Section:
    rows = [
        (
            each.persona,
            f"{each.round - 1} → {each.round}",
            str(each.pairs),
            number(each.pearson),
            bare(each.spearman),
            points_of(each.rise),
        )
        for each in found.carried
    ]
    undefined = [each.persona for each in found.carried if each.pairs and each.pearson.value != each.pearson.value]
    notes = (f"The correlation is undefined for {joined(undefined)}: the confidence never varies.",) if undefined else ()
    return Section(
        "Is confidence the same from round to round?",
        ("persona", "rounds", "answers", "Pearson", "Spearman", "rise"),
        tuple(rows),
        (
            ("Pearson, Spearman", "1: who was surer before is surer after; 0: confidence is drawn anew; by value, and by rank"),
            ("rise", "how many points (of 100) confidence rose; a rise without more right answers is mere agreement"),
        ),
        notes,
    )


def points_of(estimate: Any) -> str:
    """A change in points of 100 that is not a share."""
    return "–" if estimate.value != estimate.value else f"{estimate.value:+.1f} ({estimate.low:+.1f} to {estimate.high:+.1f})"


def _novelty(found: Diagnosis) -> Section:
    novelty = found.novelty
    rows = [
        (
            each.persona,
            str(each.round),
            str(each.turns),
            _quartiles(each.chain),
            _quartiles(each.own),
            _quartiles(each.everyone),
            number(each.citations),
            number(each.citations_everyone),
        )
        for each in novelty.rows
    ]
    meanings = (
        ("chain", "1 − cosine of the text to one's own of the round before; 0: the same, higher: other words"),
        ("step, own", "how far a sentence is from the nearest that the persona itself had said; 0: repeats itself"),
        ("step, all", "the same from the nearest that anybody had said; far below own: it copied a peer"),
        (
            "citations",
            f"evidence sentences newly quoted ({QUOTED_WORDS} words running): not by oneself before, and not by anybody",
        ),
    )
    return Section(
        "Does a later round say anything new?",
        ("persona", "round", "texts", "chain", "step, own", "step, all", "citations, own", "citations, all"),
        tuple(rows),
        meanings if rows else (),
        tuple(_novelty_notes(found)),
    )


def _novelty_notes(found: Diagnosis) -> list[str]:
    novelty = found.novelty
    if found.rounds < 2:
        return ["Novelty is undefined: there is one round."]
    if not novelty.texts:
        return [
            f"Novelty is undefined: none of the {novelty.turns} answers holds a reason, only verdicts. Record reasons with "
            f"{RECORD_REASONS}"
        ]
    if not novelty.rows:
        return ["Novelty is undefined: no persona gave a reason in two rounds running."]
    notes = [
        f"Medians with quartiles, by {novelty.embedder}; figures of two embedders cannot be compared. For scale: two personas' "
        f"first texts on one item are {_quartiles(novelty.between)} apart. {percent(novelty.quoted)} of the texts quote evidence."
    ]
    if novelty.texts < novelty.turns:
        notes.append(f"{novelty.turns - novelty.texts} of {novelty.turns} answers hold no reason and are left out.")
    return notes


def _quartiles(value: Quartiles) -> str:
    return "–" if value.median != value.median else f"{value.median:.2f} ({value.low:.2f} to {value.high:.2f})"


def _share(score: Accuracy) -> str:
    return f"{100 * score.value:.1f} ({100 * score.low:.0f}–{100 * score.high:.0f})" if score.items else "–"

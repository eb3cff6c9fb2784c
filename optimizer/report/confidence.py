"""Sections on confidence: whether it means anything, the reliability curve, and whether it lasts."""

from __future__ import annotations

from optimizer.analysis.confidence import ConfidenceRow
from optimizer.analysis.diagnosis import Diagnosis
from optimizer.data.item import Label
from optimizer.report.figures import percent
from optimizer.report.sections import Section, bare, change, joined, number

ABOUT_YES = 0.4  # mean confidence of yes above that of no from which the model seems to mean something else by it
_CLASSES = (Label.GROUNDED.value, Label.NOT_GROUNDED.value)


def confidence_section(found: Diagnosis) -> Section:
    """Ranking and calibration of stated confidence."""
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
            "Confidence goes with the label, high on yes and low on no: this model seems to say how likely yes is, and not how "
            "sure it is of its answer, so the figures above say little."
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


def reliability_section(found: Diagnosis) -> Section:
    """The reliability curve of the last round."""
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


def carried_section(found: Diagnosis) -> Section:
    """Confidence in a round against that in the round before."""
    rows = [
        (
            each.persona,
            f"{each.round - 1} → {each.round}",
            str(each.pairs),
            number(each.pearson),
            bare(each.spearman),
            change(each.rise),
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

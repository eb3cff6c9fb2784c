"""The data card as Markdown: what the author says of the data set, then the measured figures."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.analysis.card import Composition, JudgeFigures
from optimizer.data.item import Label
from optimizer.report.figures import DASH, interval, percent
from optimizer.stats.accuracy import Accuracy

_LABELS = (Label.GROUNDED, Label.NOT_GROUNDED)
_NATURAL = ("train", "dev", "test", "easy", "medium", "hard")
_TITLES = {"split": "Split", "category": "Category", "domain": "Domain", "difficulty": "Difficulty"}


def card_text(about: str, counts: Composition, judges: Sequence[JudgeFigures], command: str) -> str:
    """The whole card.

    Args:
        about: what the data set's author wrote, put first as it is.
        counts: what the data set holds.
        judges: who judged it; without any, the card has no accuracies.
        command: what makes this card again, said in it.
    """
    parts = [about.strip(), f"*The figures below are written by* `{command}`.", _counts(counts)]
    if judges:
        parts += [_overall(judges), _by_group(judges, "category"), _by_group(judges, "difficulty"), _failing(judges)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _counts(counts: Composition) -> str:
    shortest, middle, longest = counts.evidence_words
    lines = [
        "## What it holds",
        "",
        f"{counts.items} items in {counts.clusters} clusters. Evidence has {shortest} to {longest} words (middle {middle}), "
        f"a claim {counts.claim_words[0]} to {counts.claim_words[2]} (middle {counts.claim_words[1]}).",
    ]
    if counts.passages:
        kinds = ", ".join(f"{number} {kind} in style {style}" for (kind, style), number in sorted(counts.passages.items()))
        lines.append(f"Passages for misinformation: {kinds}.")
    found = f"{len(counts.findings)} findings" if counts.findings else "no finding"
    lines += [f"The checks of `optimizer data check` have {found}.", ""]
    rows = [
        [_TITLES[what], value, *(str(by_label.get(label, 0)) for label in _LABELS), str(sum(by_label.values()))]
        for (what, value), by_label in sorted(counts.table.items(), key=_place)
    ]
    return "\n".join(lines + _table(["", "", "grounded", "not grounded", "items"], rows))


def _place(entry: tuple[tuple[str, str], object]) -> tuple[int, int, str]:
    """Kinds in the order of their titles, values by name, but splits and difficulties in their natural order."""
    (what, value), _ = entry
    return list(_TITLES).index(what), _NATURAL.index(value) if value in _NATURAL else 0, value


def _overall(judges: Sequence[JudgeFigures]) -> str:
    rows = [
        [
            each.judge,
            "yes" if each.sees_evidence else "no",
            str(each.overall.items),
            _share(each.overall),
            _interval(each.overall),
            *(_share(each.by.get(("label", label))) for label in _LABELS),
            str(each.failed),
        ]
        for each in judges
    ]
    head = [
        "judge",
        "sees the evidence",
        "items",
        "accuracy",
        "95 % interval",
        "recall grounded",
        "recall not grounded",
        "failed",
    ]
    return "\n".join(
        [
            "## Judges alone",
            "",
            "One answer an item. Without evidence, a judge should be near one half: what is above it, the claims give away.",
            "",
            *_table(head, rows),
        ]
    )


def _by_group(judges: Sequence[JudgeFigures], what: str) -> str:
    seeing = [each for each in judges if each.sees_evidence]
    values = sorted(
        {value for each in seeing for kind, value in each.by if kind == what},
        key=lambda value: (_NATURAL.index(value) if value in _NATURAL else 0, value),
    )
    if not values:
        return ""
    rows = []
    for value in values:
        row = [value, str(max(each.by[what, value].items for each in seeing if (what, value) in each.by))]
        for each in seeing:
            score = each.by.get((what, value))
            row += [_share(score), _interval(score)]
        rows.append(row)
    head = [what, "items", *(part for each in seeing for part in (each.judge, "interval"))]
    return "\n".join([f"### By {what}", "", *_table(head, rows)])


def _failing(judges: Sequence[JudgeFigures]) -> str:
    """Which categories a judge fails: those where its interval does not clear one half."""
    lines = []
    for each in judges:
        if not each.sees_evidence:
            continue
        failed = sorted(value for (what, value), score in each.by.items() if what == "category" and not score.low > 0.5)
        total = sum(what == "category" for what, _ in each.by)
        if total:
            names = ", ".join(failed) or "none"
            lines.append(f"- {each.judge} is not distinguishable from guessing on {len(failed)} of {total} categories: {names}.")
    return "\n".join(lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]


def _share(score: Accuracy | None) -> str:
    return percent(score.value if score and score.items else None)


def _interval(score: Accuracy | None) -> str:
    return interval(score.low, score.high) if score and score.items else DASH

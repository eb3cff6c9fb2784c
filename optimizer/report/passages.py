"""What judges said of passages, as tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from optimizer.misinformation.judge_figures import QUESTIONS, JudgeReport
from optimizer.misinformation.results import plain
from optimizer.report.figures import percent

Table = tuple[str, tuple[str, ...], list[list[str]]]
_WORDS = {
    "contradicts_gold": "contradicts the right answer",
    "supports_wrong": "supports the wrong one",
    "names_wrong": "names it",
}
_LISTED = 20


def tables(report: JudgeReport) -> list[Table]:
    """Agreement between judges, counts by kind and style, and what is verified if one judge is left out."""
    agreements = [
        [_WORDS[each.question], " and ".join(each.judges), str(each.passages), percent(each.agreed), _kappa(each.kappa)]
        for each in report.agreements
    ]
    counts = [
        [each.kind, each.style, str(each.passages),
         *("/".join(str(each.yes[judge][name]) for name in QUESTIONS) for judge in report.judges),
         f"{each.verified}/{each.judged}" if each.kind == "false" else "–"]
        for each in report.counts
    ]  # fmt: skip
    left_out = [
        [each.judge or "nobody", str(each.passages), str(each.verified), percent(each.verified / each.passages)]
        for each in report.left_out
        if each.passages
    ]
    return [
        ("Agreement of judges", ("question", "judges", "passages", "agreed", "kappa"), agreements),
        (
            "Passages of which a judge says yes: contradicts the right answer / supports the wrong one / names it",
            ("kind", "style", "passages", *report.judges, "verified"),
            counts,
        ),
        ("False passages that all judges but one verify", ("left out", "passages", "verified", "share"), left_out),
    ]


def remarks(report: JudgeReport) -> list[str]:
    """What could not be read, what it took, and where it stands."""
    lines = []
    if report.unusable:
        more = f" and {len(report.unusable) - _LISTED} more" if len(report.unusable) > _LISTED else ""
        lines.append(f"{len(report.unusable)} answers could not be read: {'; '.join(report.unusable[:_LISTED])}{more}.")
    return [*lines, f"{report.calls} calls, {report.paid} paid. All passages are kept; the judges' flags are in {report.path}"]


def to_json(report: JudgeReport) -> Any:
    """Plain data, NaN as null."""
    return plain(asdict(report))


def _kappa(value: float) -> str:
    return "– (one always says the same)" if value != value else f"{value:.2f}"

"""The arms of an evaluation as a table: accuracy, then recall where there are claims, and reading where there are questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from optimizer.report.figures import interval, percent

_LABELS = {"grounded": "recall grounded", "not_grounded": "recall not"}
_STATUSES = ("parsed", "ambiguous", "none")
_PARSED_ONLY = "parsed only"


def arm_table(arms: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[object]]]:
    """Head and rows of the arms as an evaluation's summary has them.

    Questions have the shares of answers that were parsed, ambiguous or none, and the accuracy over those debates that had a
    parsed answer in their last round.
    """
    claims, questions = any(arm["recall"] for arm in arms), any(arm.get("reading") for arm in arms)
    head = ["arm", "items", "accuracy", "interval"]
    head += [*_LABELS.values()] if claims else []
    head += [_PARSED_ONLY, *_STATUSES] if questions else []
    return [*head, "answers"], [_row(arm, claims, questions) for arm in arms]


def _row(arm: Mapping[str, Any], claims: bool, questions: bool) -> list[object]:
    accuracy, recall, reading = arm["accuracy"], arm["recall"], arm.get("reading") or {}
    low, high = accuracy["low"], accuracy["high"]
    cells = [arm["arm"], accuracy["items"], _share(accuracy["right"], accuracy["items"]), interval(low, high)]
    if claims:
        cells += [percent(recall[label][0]) if recall else "–" for label in _LABELS]
    if questions:
        parsed_only = arm.get("parsed_only")
        cells.append("–" if parsed_only is None else percent(parsed_only))
        cells += [_share(reading.get(status, 0), sum(reading.values())) for status in _STATUSES]
    bad = ", ".join(f"{count} {name}" for name, count in arm["outcomes"].items() if name != "ok" and count)
    failed = f", {arm['failed']} failed" if arm["failed"] else ""
    ties = f", {arm['ties']} ties" if arm["ties"] else ""
    return [*cells, (bad or "all ok") + failed + ties]


def _share(part: float, whole: float) -> str:
    return percent(part / whole) if whole else "–"

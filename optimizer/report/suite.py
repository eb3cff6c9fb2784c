"""A suite's table with what it means in a line, for the terminal, Markdown and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from optimizer.analysis.suite import ALPHA, MOST_MISSING, Reading, SuiteComparison, SuiteMean, SuiteRow
from optimizer.report.comparison import plain_data
from optimizer.report.figures import DASH, points, probability, with_interval
from optimizer.report.sections import Section
from optimizer.stats.clusters import FEW_CLUSTERS


def suite_section(found: SuiteComparison, absent: Mapping[str, str]) -> Section:
    """The table of one reference.

    Args:
        found: the readings.
        absent: data sets without a row of figures -> why in few words; they get a row that says so.
    """
    rows = [_row(row) for row in found.rows] + [(name, *[DASH] * 6, why, DASH, DASH) for name, why in absent.items()]
    if len(found.rows) > 1:
        rows += [_row(found.pooled), _mean_row(found.mean)]
    head = ("data set", "items", "clusters", "panel", found.reference, "difference", "p", "reading", "Holm p", "corrected")
    return Section(f"Panel against {found.reference}", head, tuple(rows), (), (_legend(found), *_notes(found)))


def to_json(found: SuiteComparison) -> dict[str, Any]:
    """Plain data, NaN as null."""
    return plain_data(asdict(found))  # type: ignore[no-any-return]


def run_lines(runs: Mapping[str, str], failed: Mapping[str, str], left_out: Mapping[str, str]) -> list[str]:
    """Where the debates of each data set are, and why there are none of some."""
    return [
        *(f"{name}: failed: {why}" for name, why in failed.items()),
        *(f"{name}: left out: {why}" for name, why in left_out.items()),
        *(f"{name}: {path}" for name, path in runs.items()),
    ]


def _legend(found: SuiteComparison) -> str:
    family = len(found.rows)
    return (
        f"Difference: panel minus {found.reference} in points, with its 95 % interval from drawing whole clusters; the reading "
        "is reliable if that excludes 0. p: cluster sign-flip test. Corrected, the one to rely on: reliable if p, by Holm over "
        f"the {family} data set{'s' * (family != 1)} measured, is at most {ALPHA:g}"
    )


def _notes(found: SuiteComparison) -> list[str]:
    notes = []
    if few := [row for row in found.rows if row.few]:
        named = ", ".join(f"{row.name} ({row.difference.clusters})" for row in few)
        notes.append(f"Rough, with under {FEW_CLUSTERS} clusters: {named}")
    for row in found.rows:
        if row.missing:
            asked = row.missing + row.difference.items
            verdict = ", so it stays inconclusive" if row.missing > MOST_MISSING * asked else ""
            notes.append(
                f"{row.name}: {row.missing} of {asked} items lack a score for want of an answer and are left out{verdict}; "
                "--new asks for them again, and has the others from the cache"
            )
    overturned = [row.name for row in found.rows if row.reading != row.corrected and row.reading != Reading.INCONCLUSIVE]
    if overturned:
        notes.append(f"Not reliable once corrected: {', '.join(overturned)}")
    if len(found.rows) > 1:
        shared = f" ({found.shared} are in several data sets, and count once)" if found.shared else ""
        notes.append(
            f"All items: each item counts alike{shared}. Mean: each data set counts alike. Neither is part of the correction"
        )
    return notes


def _row(row: SuiteRow) -> tuple[str, ...]:
    difference = row.difference
    return (
        row.name,
        str(difference.items),
        str(difference.clusters),
        with_interval(row.panel),
        with_interval(row.reference),
        points(difference.difference, difference.low, difference.high, 1),
        probability(difference.p),
        _reading(row.reading, row.few),
        DASH if row.p_holm is None else probability(row.p_holm),
        row.corrected or DASH,
    )


def _mean_row(mean: SuiteMean) -> tuple[str, ...]:
    difference = mean.difference
    return (
        f"mean of {mean.benchmarks}",
        *[DASH] * 2,
        *(DASH if value != value else f"{100 * value:.1f}" for value in (mean.panel, mean.reference)),
        points(difference.value, difference.low, difference.high, 1),
        probability(mean.p),
        _reading(mean.reading, mean.few),
        *[DASH] * 2,
    )


def _reading(reading: Reading, few: bool) -> str:
    return f"{reading} (rough)" if few else reading

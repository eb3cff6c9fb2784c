"""A diagnosis in tables, with what each figure means in a line: for the terminal, Markdown and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from optimizer.analysis.diagnosis import Diagnosis
from optimizer.analysis.panels import Panels
from optimizer.report.answers import (
    arms_section,
    decisions_section,
    errors_section,
    flips_section,
    moves_section,
    shifts_section,
)
from optimizer.report.comparison import plain_data
from optimizer.report.confidence import carried_section, confidence_section, reliability_section
from optimizer.report.novelty import novelty_section
from optimizer.report.sections import Section, section_markdown

ABOUT = (
    "Intervals are 95 %, from drawing clusters, and not corrected for how many there are: these figures describe how a panel "
    "works; whether one is better, compare and the sealed test decide."
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
        arms_section(found.arms),
        *([shifts_section(found.shifts)] if found.shifts else []),
        flips_section(found.flips),
        moves_section(found.moves),
        decisions_section(found.decisions),
        errors_section(found.errors),
        confidence_section(found),
        *([reliability_section(found)] if any(each.answers for each in found.confidence) else []),
        *([carried_section(found)] if found.carried else []),
        novelty_section(found),
    ]


def warning_lines(warnings: Sequence[str]) -> list[str]:
    """Warnings as they are printed."""
    return [f"Note: {warning}." for warning in warnings]


def markdown(title: str, parts: Sequence[Section], warnings: Sequence[str], seconds: float) -> str:
    """A whole report as Markdown."""
    body = [f"## {title}", ABOUT, *map(section_markdown, parts), *warning_lines(warnings), f"Computed in {seconds:.1f} s."]
    return "\n\n".join(body) + "\n"


def to_json(content: Diagnosis | Panels) -> dict[str, Any]:
    """Plain data, NaN as null."""
    return plain_data(asdict(content))  # type: ignore[no-any-return]

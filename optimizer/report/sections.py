"""Sections of a text report: a table, what its figures mean in a line each, and remarks; for the terminal and Markdown alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.report import figures
from optimizer.stats.bootstrap import Estimate


@dataclass(frozen=True, slots=True)
class Section:
    """`meanings` has a figure and what it means, in one line each; `notes` are what is to be known about this very table."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    meanings: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


def section_markdown(section: Section) -> str:
    """A section as Markdown."""
    parts = [f"### {section.title}"]
    if section.rows:
        lines = [section.head, *section.rows]
        cells = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]
        parts.append("\n".join([cells[0], f"|{'---|' * len(section.head)}", *cells[1:]]))
    parts += ["\n".join(f"- {line}" for line in lines) for lines in (meaning_lines(section), section.notes) if lines]
    return "\n\n".join(parts)


def meaning_lines(section: Section) -> list[str]:
    """The meanings as they are printed."""
    return [f"{figure}: {meaning}" for figure, meaning in section.meanings]


def points(estimate: Estimate) -> str:
    """A difference of shares in points with its interval: +1.7 (-5 to +8)."""
    return figures.points(estimate.value, estimate.low, estimate.high)


def number(estimate: Estimate, signed: bool = False) -> str:
    """A figure with its interval: 0.42 (0.10 to 0.71)."""
    sign = "+" if signed else ""
    if estimate.value != estimate.value:
        return "–"
    value = f"{estimate.value:{sign}.2f}"
    return value if estimate.low != estimate.low else f"{value} ({estimate.low:{sign}.2f} to {estimate.high:{sign}.2f})"


def change(estimate: Estimate) -> str:
    """A change of something that goes from 0 to 100: +6.4 (+2.8 to +10.6)."""
    if estimate.value != estimate.value:
        return "–"
    return f"{estimate.value:+.1f} ({estimate.low:+.1f} to {estimate.high:+.1f})"


def bare(value: float, digits: int = 2) -> str:
    """A figure alone; a dash where it is undefined."""
    return "–" if value != value else f"{value:.{digits}f}"


def apart(estimate: Estimate) -> bool:
    """Whether the interval excludes 0."""
    return estimate.low > 0 or estimate.high < 0


def joined(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else ""

"""A comparison as rows of a table, for the terminal, Markdown and the report alike, and as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from optimizer.analysis.comparison import CandidateRow, Comparison
from optimizer.report.figures import percent, probability, with_interval

HEAD = (
    "candidate", "items", "accuracy", "recall yes / no", "against the baseline", "won lost", "p / Holm / max-T", "verdict",
    "tokens",
)  # fmt: skip
LEGEND = (
    "Accuracy in per cent with its 95 % interval; recall of grounded (yes) and of not grounded claims (no). Against the "
    "baseline: difference in points on the items that both answered, with its 95 % interval, and the items won and lost. "
    "p is the two-sided cluster sign-flip test; Holm and max-T correct it for all candidates tried here, and the verdict "
    "follows max-T at 5 %. Tokens: read and written in a debate, on average."
)


def table_rows(comparison: Comparison) -> list[list[str]]:
    """A row of text a candidate, in the columns of HEAD."""
    return [_row(row) for row in comparison.rows]


def remarks(comparison: Comparison) -> list[str]:
    """What is to be known about the table, a line each, plainly."""
    lines = []
    by_id = {row.id: row for row in comparison.rows}
    tried = sum(row.p_max_t is not None for row in comparison.rows)
    if comparison.cochran_p is not None and tried > 1:
        lines.append(f"All fully evaluated candidates alike? Cochran's Q, clusters ignored: p = {comparison.cochran_p:.3f}.")
    best = by_id.get(comparison.best)
    if best is not None and comparison.best_corrected is not None and tried:
        lines.append(
            f"The highest score is {best.name}'s, {percent(best.accuracy.value)}. The best of {tried + 1} looks better than "
            f"it is; corrected for having been picked it is {percent(comparison.best_corrected)}."
        )
    bad = [
        f"{row.name}: {', '.join(f'{count} {name}' for name, count in sorted(row.outcomes.items()) if name != 'ok')}"
        for row in comparison.rows
        if any(name != "ok" for name in row.outcomes)
    ]
    if bad:
        lines.append("Answers that are no votes: " + "; ".join(bad) + ".")
    return lines + [f"Note: {warning}." for warning in comparison.warnings]


def heading(comparison: Comparison) -> str:
    """What is compared on what, in one line."""
    where = "" if comparison.split == "all" else f" of the {comparison.split} split"
    return f"{comparison.run}: {comparison.items} items{where} in {comparison.clusters} clusters"


def markdown(comparison: Comparison) -> str:
    """The comparison as a Markdown section."""
    head = f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}"
    body = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in table_rows(comparison))
    title = f"## {heading(comparison)}"
    return "\n\n".join([title, f"{head}\n{body}", LEGEND, *remarks(comparison)]) + "\n"


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Plain data, NaN as null."""
    return plain_data(asdict(comparison))  # type: ignore[no-any-return]


def _row(row: CandidateRow) -> list[str]:
    difference = row.difference
    yes, no = (row.recall[label].value for label in ("grounded", "not_grounded"))
    cells = [row.name, str(row.accuracy.items), with_interval(row.accuracy), f"{_number(yes)} / {_number(no)}"]
    if difference is not None and row.p_holm is None:
        # It was stopped because of how it stood: an interval would not hold.
        cells[2] = f"{100 * row.accuracy.value:.1f}" if row.accuracy.items else "–"
        cells += [f"{100 * difference.difference:+.1f}", f"+{difference.wins} −{difference.losses}", "–"]
    elif difference is None:
        cells += ["–", "–", "–"]
    else:
        low, high = 100 * difference.low, 100 * difference.high
        cells += [
            f"{100 * difference.difference:+.1f} ({low:+.0f} to {high:+.0f})",
            f"+{difference.wins} −{difference.losses}",
            " / ".join(probability(p) for p in (difference.p, row.p_holm, row.p_max_t) if p is not None),
        ]
    return [*cells, row.verdict, _number(row.tokens)]


def _number(value: float) -> str:
    """A share as whole per cents, a count as it is; a dash where there is none."""
    return "–" if value != value else f"{100 * value:.0f}" if value <= 1 else f"{value:.0f}"


def plain_data(value: Any) -> Any:
    """The same with NaN as None and tuples as lists, for JSON."""
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, dict):
        return {key: plain_data(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(inner) for inner in value]
    return value

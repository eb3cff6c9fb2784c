"""A headroom report in words and tables, for the terminal, and as plain data."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from optimizer.analysis.headroom import Lost
from optimizer.analysis.headroom_report import HeadroomReport
from optimizer.analysis.pool import Pool
from optimizer.report.comparison import plain_data
from optimizer.report.figures import percent

ALPHA = 0.05
_MORE = 8  # further candidates that the outlook speaks of


def statements(report: HeadroomReport) -> list[str]:
    """The report in sentences, the most important first."""
    found, best = report.headroom, report.best
    wrong = len(found.always_wrong)
    lines = [
        f"{found.items} items, {found.candidates} candidates evaluated on all of them ({', '.join(report.runs)}).",
        f"Always wrong: {wrong} items ({percent(wrong / found.items)}). No choice among these prompts mends them.",
        f"Seed {percent(report.seed.value)}; best single candidate, {best.member.name}, "
        f"{percent(best.accuracy.value)}; oracle, which "
        f"takes the right prompt for each item, {percent(found.oracle)} ({100 * report.interval.low:.0f}–"
        f"{100 * report.interval.high:.0f} %).",
        f"Headroom: {100 * found.headroom:+.1f} points over the best, {100 * (found.oracle - report.seed.value):+.1f} "
        "over the seed.",
        _chance(report),
    ]
    share = [f"{bad} of {total} {label}" for label, (bad, total) in sorted(report.wrong_by_label.items())]
    lines.append(f"Always wrong by label: {', '.join(share)}.")
    lines.append(_outlook(report))
    return lines + [f"Note: {warning}." for warning in report.warnings]


def lost_rows(report: HeadroomReport) -> tuple[list[str], list[list[str]]]:
    """Head and rows: where each candidate's wrong items were lost."""
    short = {
        Lost.NO_DECISION: "no decision",
        Lost.VOTE: "vote",
        Lost.ROUND: "debate",
        Lost.PROMPT: "prompt",
        Lost.NONE: "model or data",
    }
    head = ["candidate", "right", "wrong", *(f"lost by: {short[Lost.NO_DECISION]}", *(short[each] for each in list(Lost)[1:]))]
    rows = [
        [
            each.member.name,
            f"{each.accuracy.right:g}",
            f"{each.accuracy.items - each.accuracy.right:g}",
            *(str(each.lost.get(stage, 0)) for stage in Lost),
        ]
        for each in report.candidates
    ]
    return head, rows


def view_rows(report: HeadroomReport) -> tuple[list[str], list[list[str]]]:
    """Head and rows: headroom of the panel, of its rounds and of each persona."""
    rows = [
        [
            view.name,
            percent(view.seed),
            percent(view.headroom.best),
            percent(view.headroom.oracle),
            str(len(view.headroom.always_wrong)),
        ]
        for view in report.views
    ]
    return ["who decides", "seed", "best", "oracle", "always wrong"], rows


def trait_rows(report: HeadroomReport) -> tuple[list[str], list[list[str]]]:
    """Head and rows: what always wrong items share, those with p of 5 % or less before correction, or the first three."""
    kept = [trait for trait in report.traits if trait.p <= ALPHA] or list(report.traits[:3])
    rows = [
        [
            trait.name,
            f"{trait.wrong} of {trait.items}",
            f"{trait.rest_wrong} of {trait.rest_items}",
            f"{trait.p:.3f}",
            f"{trait.p_holm:.3f}",
        ]
        for trait in kept
    ]
    return ["always wrong items that share", "always wrong with it", "without it", "p", "p (Holm)"], rows


def lost_legend() -> list[str]:
    """What the columns of lost_rows mean, a line each."""
    return [f"{stage.value}" for stage in Lost]


def to_json(report: HeadroomReport, pool: Pool) -> dict[str, Any]:
    """Plain data: the report, and the matrix as candidate id -> item id -> 1 or 0."""
    content = asdict(report) | {"matrix": {name: {i: int(s) for i, s in row.items()} for name, row in pool.scores.items()}}
    return plain_data(content)  # type: ignore[no-any-return]


def matrix_csv(pool: Pool) -> str:
    """The matrix as CSV: an item a line with its label, then 1 or 0 for each candidate."""
    scores, text = pool.scores, io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", "label", *(f"{member.name} {member.id}" for member in pool.members)])
    for item in pool.items:
        writer.writerow([item.id, item.gold, *(int(scores[member.id][item.id]) for member in pool.members)])
    return text.getvalue()


def suspects_jsonl(report: HeadroomReport, pool: Pool) -> list[dict[str, Any]]:
    """The suspected label errors with all that a reviewer needs, an object an item."""
    items = {item.id: item for item in pool.items}
    return [
        {
            "id": suspect.item,
            "claim": items[suspect.item].claim,
            "evidence": list(items[suspect.item].evidence),
            "label": items[suspect.item].gold,
            "panel": sorted({str(d.decision) for d in _debates(pool, suspect.item)}),
            "mean_confidence": round(suspect.confidence, 1),
            "candidates": len(pool.members),
            "rationale": items[suspect.item].rationale,
        }
        for suspect in report.suspects
    ]


def _debates(pool: Pool, item: str) -> Sequence[Any]:
    return [pool.debates[member.id][item] for member in pool.members]


def _chance(report: HeadroomReport) -> str:
    chance = report.chance
    if chance is None:
        return (
            f"How much of the oracle is luck is not known: an oracle over {report.headroom.candidates} noisy runs rises too. "
            "Give --control K to measure it."
        )
    how = f"{chance.runs} {chance.kind}" + (", by a beta-binomial model fitted to them" if chance.modelled else "")
    gap = 100 * (report.headroom.oracle - chance.oracle)
    told = (
        f"The candidates add {gap:+.1f} points to that."
        if gap > 0
        else "The candidates' oracle is no higher, so it is no sign that another prompt would do better."
    )
    return (
        f"By luck alone an oracle over {chance.of} runs of one prompt would reach {percent(chance.oracle)} (from {how}). {told}"
    )


def _outlook(report: HeadroomReport) -> str:
    outlook = report.outlook
    if report.outlook_candidates < 3:
        return (
            f"Outlook: {report.outlook_candidates} candidates were made independently of each other, too few to say "
            "what more of them "
            "would solve; --complete evaluates the alternatives."
        )
    return (
        f"Outlook: at least {outlook.solvable:.1f} of the {outlook.always_wrong} items that no independent candidate "
        "solves (95 % "
        f"interval {outlook.low:.1f} to {outlook.high:.1f}) could be solved by further ones (Chao2 over "
        f"{outlook.candidates} candidates; "
        f"{outlook.solved_once} items are solved by one alone, {outlook.solved_twice} by two); {_MORE} more are "
        "expected to solve "
        f"{outlook.newly_solved(_MORE):.1f}. Candidates that descend from each other are left out here: they would "
        "make it too low."
    )

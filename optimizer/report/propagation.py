"""How answers spread, as rows of tables for the terminal and Markdown alike, and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optimizer.misinformation.arms import VERIFIERS, Arm, Mitigation
from optimizer.misinformation.effects import (
    Drop,
    StyleRegression,
    TransferShare,
    drops_by_judges,
    drops_by_place,
    drops_by_writer,
    style_regressions,
    transfer_shares,
)
from optimizer.misinformation.propagation import Adoption, Spread, spreads
from optimizer.misinformation.readings import Rule
from optimizer.misinformation.records import Transcript
from optimizer.misinformation.results import plain
from optimizer.report.figures import percent, points, probability
from optimizer.report.misinformation import Table, condition_name
from optimizer.stats.ratios import Share

LEGEND = (
    "Shares with 95 % cluster bootstrap intervals and counts. Injected: exposed agents that state what their passage suggests at "
    "turn 1. Adoption: of an uninformed agent and a source that differ at a turn (both answers read), how often the agent holds "
    "the source's answer at the next; excess is exposed source minus dissenting uninformed peer, in points. Corrected itself: "
    "exposed agents with a wrong answer at turn 1 that are right at their last. The share of one has no interval where the "
    "effect of all may be none."
)


@dataclass(frozen=True, slots=True)
class PropagationReport:
    """All of one run. `model` is the consumer: who read the passages."""

    run: str
    model: str
    spreads: tuple[Spread, ...]
    transfer: tuple[TransferShare, ...]
    regressions: tuple[StyleRegression, ...]
    by_judges: tuple[Drop, ...]
    by_writer: tuple[Drop, ...]
    by_place: dict[str, tuple[Drop, ...]]


def propagation_report(run: str, model: str, records: Sequence[Transcript], agents: int) -> PropagationReport:
    """Everything that is said of a run.

    Args:
        run, model: their names.
        records: its transcripts.
        agents: how many debate.
    """
    held = [record for record in records if not record.failed]
    return PropagationReport(
        run,
        model,
        tuple(spreads(held)),
        tuple(transfer_shares(held, agents)),
        tuple(style_regressions(held)),
        tuple(drops_by_judges(held)),
        tuple(drops_by_writer(held)),
        {rule.value: tuple(drops_by_place(held, rule)) for rule in (Rule.VOTING, Rule.CONSENSUS)},
    )


def tables(report: PropagationReport) -> list[Table]:
    """Title, head and rows of every table that there is something to say in."""
    title = f"{report.run}: how answers spread"
    head: Sequence[str] = ("condition", "debates", "injected", "from exposed", "from peer", "excess")
    found: list[Table] = [(title, head, [_spread_row(each) for each in report.spreads])]
    head = ("condition", "switches a debate", "corrected itself", "all agree at last", "with the passage", "first agreement")
    found.append(("How answers move", head, [_movement_row(each) for each in report.spreads]))
    parts = [[_name(each.arm), *_adoption_row(part)] for each in report.spreads for part in (*each.by_transition, *each.by_slot)]
    if parts:
        head = ("condition", "transition or source", "from exposed", "from peer", "excess")
        found.append(("Adoption by transition and by the source's slot", head, parts))
    if report.transfer:
        head = ("debate", "passage", "one exposed", "all exposed", "share of one")
        found.append(("Transfer: gain under true, loss under false passages", head, list(map(_transfer_row, report.transfer))))
    for each in report.regressions:
        head = ("", "points of error", "95 % interval", "p / Holm")
        title = f"Error under false passages, {each.rule}, {each.rows} debates, against style {each.reference}"
        found.append((title, head, _regression_rows(each)))
    if report.by_judges:
        head = ("passages", "exposed", "items", "drop")
        found.append(("Accuracy lost, by the judges of the passages", head, list(map(_drop_row, report.by_judges))))
    places = [[rule, *_drop_row(each)] for rule, drops in report.by_place.items() for each in drops]
    if places:
        head = ("debate", "who is exposed", "exposed", "items", "drop")
        found.append(("Accuracy lost, by where the exposed agent speaks (places are drawn by item)", head, places))
    return found


def exchange_table(reports: Sequence[PropagationReport]) -> Table:
    """Generator × consumer: the drop by who wrote the passages (rows) and who read them (columns), at the most exposed."""
    models = list(dict.fromkeys(report.model for report in reports))
    cells: dict[str, dict[str, Drop]] = {}
    for report in reports:
        for drop in report.by_writer:
            known = cells.setdefault(drop.group, {}).get(report.model)
            if known is None or drop.exposed >= known.exposed:
                cells[drop.group][report.model] = drop
    rows = [[writer, *(_exchange_cell(of_model.get(model)) for model in models)] for writer, of_model in sorted(cells.items())]
    return "Accuracy lost, by who wrote the passages (rows) and who read them", ("written by", *models), rows


def to_json(reports: Sequence[PropagationReport]) -> Any:
    """Plain data, NaN as null."""
    title, head, rows = exchange_table(reports)
    return {"runs": [plain(report) for report in reports], "exchange": {"title": title, "head": list(head), "rows": rows}}


def _name(arm: Arm) -> str:
    condition, verified = arm.condition, arm.mitigation in VERIFIERS["both"]
    wary = f", {arm.mitigation}" if arm.mitigation in (Mitigation.SKEPTICISM, Mitigation.SPEAKING_VERIFIER) else ""
    return f"{condition_name(condition.kind, condition.exposed, verified)} {condition.style}{wary}"


def _spread_row(each: Spread) -> list[str]:
    return [_name(each.arm), str(each.debates), _share(each.injected), *_adoption_row(each.adoption)[1:]]


def _movement_row(each: Spread) -> list[str]:
    agreement = "–" if each.first_agreement != each.first_agreement else f"turn {each.first_agreement:.1f}"
    shares = map(_share, (each.self_correction, each.converged, each.on_intended))
    return [_name(each.arm), f"{each.switches:.2f}", *shares, agreement]


def _adoption_row(part: Adoption) -> list[str]:
    return [part.place, _share(part.from_exposed), _share(part.from_peer), points(part.excess, part.low, part.high)]


def _share(share: Share) -> str:
    if not share.total:
        return "–"
    return f"{percent(share.value)} ({100 * share.low:.0f}–{100 * share.high:.0f}) of {share.total}"


def _transfer_row(each: TransferShare) -> list[str]:
    share = "– (no such effect)" if each.share != each.share else f"{each.share:.2f}"
    share += f" ({each.low:.2f} to {each.high:.2f})" if each.low == each.low else ""
    return [each.rule.value, f"{each.kind} {each.style}", f"{100 * each.one:+.1f}", f"{100 * each.everybody:+.1f}", share]


def _regression_rows(each: StyleRegression) -> list[list[str]]:
    if each.problem:
        return [[each.problem, "–", "–", "–"]]
    corrected: Mapping[str, float] = dict(zip((c.name for c in each.coefficients[1:]), each.p_holm, strict=True))
    return [
        [
            found.name,
            f"{100 * found.value:+.1f}",
            f"{100 * found.low:+.1f} to {100 * found.high:+.1f}",
            f"{probability(found.p)} / {probability(corrected[found.name])}" if found.name in corrected else probability(found.p),
        ]
        for found in each.coefficients
    ]


def _drop_row(each: Drop) -> list[str]:
    return [each.group, str(each.exposed), str(each.items), points(each.drop, each.low, each.high)]


def _exchange_cell(drop: Drop | None) -> str:
    return "–" if drop is None else f"{points(drop.drop, drop.low, drop.high)}, {drop.exposed} exposed, {drop.items} items"

"""A run's candidates against its seed, from its recorded dev debates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from optimizer.data.item import Item, Label
from optimizer.runs.folder import RunFolder
from optimizer.runs.items import run_items
from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.multiplicity import holm
from optimizer.stats.paired import PairedDifference, paired_difference


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate on dev. `difference` and `p_holm` are against the seed; p only for candidates evaluated on all of dev.

    `stopped` says after how many items a raced-out candidate was dropped, instead of a p that would not hold.
    """

    id: str
    name: str
    component: str
    accuracy: Accuracy
    recall_grounded: float
    recall_not_grounded: float
    difference: PairedDifference | None
    p_holm: float | None
    stopped: str


def compare_candidates(run: RunFolder) -> list[CandidateRow]:
    """The rows in the order of trying, the seed first.

    Raises:
        UserError: the run is not finished, or its data file is gone.
    """
    result, resolved = run.summary()["result"], run.resolved()
    dev = set(resolved["data"]["dev"]["items"])
    items = {item.id: item for item in run_items(run) if item.id in dev}
    clusters = {item.id: item.cluster for item in items.values()}
    scores: dict[str, dict[str, float]] = {}
    for debate in run.debates():
        score = debate.score(items[debate.item]) if debate.item in items else None
        if score is not None:
            scores.setdefault(debate.candidate, {})[debate.item] = score
    seed = scores.get(result["seed"], {})
    rows = []
    for entry in result["candidates"]:
        own = scores.get(entry["id"], {})
        is_seed = entry["id"] == result["seed"]
        rows.append(
            CandidateRow(
                id=entry["id"],
                name=entry["origin"],
                component=entry["component"],
                accuracy=accuracy_of(own, clusters),
                recall_grounded=_recall(own, items, Label.GROUNDED),
                recall_not_grounded=_recall(own, items, Label.NOT_GROUNDED),
                difference=None if is_seed else paired_difference({i: seed[i] for i in own if i in seed}, own, clusters),
                p_holm=None,
                stopped="–" if is_seed else f"stopped at {len(own)}",
            )
        )
    return _corrected(rows, len(items))


def _corrected(rows: list[CandidateRow], full: int) -> list[CandidateRow]:
    complete = [row for row in rows if row.difference is not None and row.difference.items == full]
    adjusted = dict(zip((row.id for row in complete), holm([r.difference.p for r in complete if r.difference]), strict=True))
    return [replace(row, p_holm=adjusted.get(row.id)) for row in rows]


def _recall(scores: dict[str, float], items: dict[str, Item], label: Label) -> float:
    of_label = [score for item, score in scores.items() if items[item].label is label]
    return sum(of_label) / len(of_label) if of_label else float("nan")

"""The candidates of a run side by side: each against the baseline, paired, clustered, and corrected for the number of tries.

A run that searched is compared on dev, on which it decided: its scores flatter the chosen. A run that compared prompts is
compared on the items it was given.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from optimizer.data.item import Item, Label
from optimizer.debate.records import Debate
from optimizer.errors import UserError
from optimizer.runs.folder import RunFolder
from optimizer.runs.items import run_splits
from optimizer.runs.seal import SealRegister
from optimizer.search.candidate import rough_tokens
from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.anytime import AnytimeResult, anytime_difference
from optimizer.stats.clusters import FEW_CLUSTERS, Floats
from optimizer.stats.multiplicity import holm, max_t
from optimizer.stats.paired import PairedDifference, cochran_q, paired_difference
from optimizer.stats.selection import selection_optimism

ALPHA = 0.05
MOST_FAILED = 0.1  # of a candidate's debates; with more it is not ranked
COMPARABLE = ("optimize", "compare", "transfer")


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate.

    `difference` is against the baseline (None for the baseline itself). `p_holm` and `p_max_t` are corrected over all fully
    evaluated candidates, and None for others. A candidate that was dropped early has `race` instead: its anytime-valid p
    against the incumbent of its duel. `calls` and `tokens` are means a debate, cached or not.
    """

    id: str
    name: str
    component: str
    prompt_tokens: int
    accuracy: Accuracy
    recall: Mapping[str, Accuracy]
    outcomes: Mapping[str, int]
    failed: int
    tokens: float
    difference: PairedDifference | None
    p_holm: float | None
    p_max_t: float | None
    race: AnytimeResult | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows, the baseline first, and what holds for all of them.

    `cochran_p` tests whether all fully evaluated candidates are alike, clusters ignored. `best` is the id with the highest
    score among them, and `best_corrected` its accuracy without what it owes to having been picked.
    """

    run: str
    split: str
    items: int
    clusters: int
    rows: tuple[CandidateRow, ...]
    cochran_p: float | None
    best: str
    best_corrected: float | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate to compare: who it is, the length of the text it changes, and the duel that it was in, if any.

    `incumbent` and `order` (clusters with their items, as looked at) are those of the duel.
    """

    id: str
    name: str
    component: str = ""
    prompt_tokens: int = 0
    incumbent: str = ""
    order: tuple[tuple[str, tuple[str, ...]], ...] = ()


def compare_run(run: RunFolder, wanted: Sequence[str] = ()) -> Comparison:
    """Compare a finished run's candidates.

    Args:
        run: of kind optimize, compare or transfer.
        wanted: ids or names of the candidates to show; all if empty. The correction is over all of them either way.

    Raises:
        UserError: the run is of another kind or unfinished, its data is gone or changed, or a wanted candidate is unknown.
    """
    resolved, result = run.resolved(), run.summary()["result"]
    kind = resolved["kind"]
    if kind not in COMPARABLE:
        raise UserError(f"{run.path}: is a run of kind {kind}; compare reads runs of kind {', '.join(COMPARABLE)}")
    splits = run_splits(run)
    split = "dev" if kind == "optimize" else resolved["data"]["split"]
    items = splits["dev" if kind == "optimize" else "items"]
    debates = [*run.debates(), *run.failures()]
    entries = [_entry(run, row, items) for row in result["candidates"]]
    comparison = compare_debates(run.path.name, split, entries, debates, items, call_tokens(run))
    return _only(comparison, wanted, run)


def compare_debates(
    name: str,
    split: str,
    entries: Sequence[Entry],
    debates: Iterable[Debate],
    items: Sequence[Item],
    tokens: Mapping[str, int] | None = None,
) -> Comparison:
    """Compare candidates by their recorded debates on `items`; the first entry is the baseline.

    Args:
        name, split: what is compared, for the heading.
        entries: the candidates, in the order to show.
        debates: of all candidates; those on other items are ignored. Repeats of an item are averaged.
        items: with gold labels.
        tokens: call key -> prompt and generated tokens.
    """
    by_id = {item.id: item for item in items}
    clusters = {item.id: item.cluster for item in items}
    of_candidate: dict[str, list[Debate]] = {entry.id: [] for entry in entries}
    for debate in debates:
        if debate.item in by_id and debate.candidate in of_candidate:
            of_candidate[debate.candidate].append(debate)
    scores = {candidate: item_scores(held, by_id) for candidate, held in of_candidate.items()}
    baseline = scores[entries[0].id]
    asked = {candidate: {debate.item for debate in held} for candidate, held in of_candidate.items()}
    full = [entry.id for entry in entries[1:] if set(baseline) <= asked[entry.id]]
    differences = {}
    for entry in entries[1:]:
        own = scores[entry.id]
        # What a raced candidate was never asked is not missing.
        against = baseline if entry.id in full else {item: baseline[item] for item in own if item in baseline}
        differences[entry.id] = paired_difference(against, own, clusters)
    p_holm = dict(zip(full, holm([differences[each].p for each in full]), strict=True))
    p_max_t = dict(zip(full, max_t(_cluster_matrix(baseline, [scores[each] for each in full], clusters)), strict=True))
    rows = []
    for index, entry in enumerate(entries):
        own, held = scores[entry.id], of_candidate[entry.id]
        race = None
        if index and entry.id not in full:
            race = anytime_difference(scores.get(entry.incumbent, {}), own, entry.order)
        rows.append(
            CandidateRow(
                entry.id,
                entry.name,
                entry.component,
                entry.prompt_tokens,
                accuracy_of(own, clusters),
                _recalls(own, by_id, clusters),
                dict(Counter(turn.verdict.outcome.value for debate in held for turn in debate.answers)),
                sum(debate.failed for debate in held),
                _mean_tokens(held, tokens or {}),
                differences.get(entry.id),
                p_holm.get(entry.id),
                p_max_t.get(entry.id),
                race,
                _verdict(differences.get(entry.id), p_max_t.get(entry.id), race, held),
            )
        )
    complete = {entries[0].id: baseline, **{each: scores[each] for each in full}}
    best, corrected = _selected(complete, clusters)
    return Comparison(
        run=name,
        split=split,
        items=len(items),
        clusters=len(set(clusters.values())),
        rows=tuple(rows),
        cochran_p=_cochran(complete),
        best=best,
        best_corrected=corrected,
        warnings=_warnings(rows, clusters),
    )


def item_scores(debates: Iterable[Debate], items: Mapping[str, Item]) -> dict[str, float]:
    """The mean score of each item over its debates; failed ones are left out."""
    found: dict[str, list[float]] = {}
    for debate in debates:
        score = debate.score(items[debate.item])
        if score is not None:
            found.setdefault(debate.item, []).append(score)
    return {item: sum(values) / len(values) for item, values in found.items()}


def call_tokens(run: RunFolder) -> dict[str, int]:
    """Prompt and generated tokens of each call in the run's ledger, by its key."""
    found: dict[str, int] = {}
    if not run.calls.exists():
        return found
    with run.calls.open(encoding="utf-8") as file:
        for text in file:
            try:
                line = json.loads(text)
                found[line["key"]] = line["prompt_tokens"] + line["completion_tokens"]
            except (ValueError, KeyError):
                continue  # a failed call, or the line that a killed run was writing
    return found


def _entry(run: RunFolder, row: Mapping[str, str], items: Sequence[Item]) -> Entry:
    component, name, length = row.get("component", ""), _short(row["origin"]), 0
    path = run.candidate(row["id"]) / f"{component}.md"
    if component and path.exists():
        length = rough_tokens(path.read_text(encoding="utf-8").strip())
    duel = row.get("duel")
    if not isinstance(duel, Mapping):
        return Entry(row["id"], name, component, length)
    return Entry(row["id"], name, component, length, duel["incumbent"], _clusters_in_order(duel["order"], items))


def _clusters_in_order(order: Sequence[str], items: Sequence[Item]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Clusters with their items as a duel looked at them. What comes of a cluster a second time is no second bet."""
    cluster_of = {item.id: item.cluster for item in items}
    groups: dict[str, tuple[str, ...]] = {}
    for cluster, members in groupby(order, key=cluster_of.__getitem__):
        groups.setdefault(cluster, tuple(members))
    return tuple(groups.items())


def _short(origin: str) -> str:
    """An alternative goes by its own name; everything else keeps where it came from."""
    return origin.removeprefix("alternative:")


def _only(comparison: Comparison, wanted: Sequence[str], run: RunFolder) -> Comparison:
    if not wanted:
        return comparison
    asked = {_short(name) for name in wanted}
    known = {row.id for row in comparison.rows} | {row.name for row in comparison.rows}
    for name in asked:
        if name not in known:
            raise UserError(f"{run.path}: has no candidate {name!r}; it has {', '.join(row.name for row in comparison.rows)}")
    kept = tuple(row for index, row in enumerate(comparison.rows) if index == 0 or {row.id, row.name} & asked)
    return replace(comparison, rows=kept)


def _cluster_matrix(baseline: Mapping[str, float], others: Sequence[Mapping[str, float]], clusters: Mapping[str, str]) -> Floats:
    """Sums of differences to the baseline, shape (clusters, candidates)."""
    names = sorted({clusters[item] for item in baseline})
    place = {name: index for index, name in enumerate(names)}
    matrix = np.zeros((len(names), len(others)))
    for column, scores in enumerate(others):
        for item, score in baseline.items():
            if item in scores:
                matrix[place[clusters[item]], column] += scores[item] - score
    return matrix


def _recalls(scores: Mapping[str, float], items: Mapping[str, Item], clusters: Mapping[str, str]) -> dict[str, Accuracy]:
    return {
        label.value: accuracy_of({item: score for item, score in scores.items() if items[item].label is label}, clusters)
        for label in (Label.GROUNDED, Label.NOT_GROUNDED)
    }


def _mean_tokens(debates: Sequence[Debate], tokens: Mapping[str, int]) -> float:
    counted = [debate for debate in debates if debate.turns and all(key in tokens for key in debate.keys)]
    totals = [sum(tokens[key] for key in debate.keys) for debate in counted]
    return sum(totals) / len(totals) if totals else float("nan")


def _verdict(difference: PairedDifference | None, p: float | None, race: AnytimeResult | None, held: Sequence[Debate]) -> str:
    failed = sum(debate.failed for debate in held)
    if failed > MOST_FAILED * len(held):
        return f"not ranked: {failed} of {len(held)} debates failed"
    if difference is None:
        return "the baseline"
    if p is None:
        return f"stopped at {len(held) - failed}" + ("" if race is None else f", anytime p {race.p:.3g}")
    if p > ALPHA:
        return "not distinguishable"
    return "better" if difference.difference > 0 else "worse"


def _cochran(scores: Mapping[str, Mapping[str, float]]) -> float | None:
    if len(scores) < 2:
        return None
    common = sorted(set.intersection(*(set(each) for each in scores.values())))
    matrix = [[each[item] for each in scores.values()] for item in common]
    if not common or any(value not in (0.0, 1.0) for row in matrix for value in row):
        return None
    return cochran_q(matrix)[1]


def _selected(scores: Mapping[str, Mapping[str, float]], clusters: Mapping[str, str]) -> tuple[str, float | None]:
    """The best fully evaluated candidate, and its accuracy less the optimism of having been picked."""
    common = sorted(set.intersection(*(set(each) for each in scores.values())))
    if not common:
        return next(iter(scores)), None
    names = sorted({clusters[item] for item in common})
    place = {name: index for index, name in enumerate(names)}
    sums, sizes = np.zeros((len(names), len(scores))), np.zeros(len(names))
    for item in common:
        sizes[place[clusters[item]]] += 1
        sums[place[clusters[item]]] += [each[item] for each in scores.values()]
    means = sums.sum(axis=0) / sizes.sum()
    best = int(means.argmax())
    return list(scores)[best], float(means[best]) - selection_optimism(sums, sizes)


def _warnings(rows: Sequence[CandidateRow], clusters: Mapping[str, str]) -> tuple[str, ...]:
    found = []
    count = len(set(clusters.values()))
    if count < FEW_CLUSTERS:
        found.append(f"only {count} clusters: intervals and p-values are rough under {FEW_CLUSTERS}")
    for row in rows:
        if row.failed:
            found.append(f"{row.name}: {row.failed} debates failed for lack of an answer and are left out")
        if row.difference is not None and row.difference.unpaired:
            found.append(f"{row.name}: {row.difference.unpaired} items lack a score on one side and are left out")
    return tuple(found)


def better_than_baseline(run: RunFolder, comparison: Comparison, alpha: float) -> tuple[bool, str]:
    """Whether a gain holds at the level alpha, and why, in words: what a pipeline asserts.

    Of a search the one question is whether the winner beats the seed on the sealed test. Elsewhere it is whether any
    candidate beats the baseline. Contrasts on sealed items are corrected by Holm over all that were ever opened on them;
    others by max-T over the candidates.
    """
    registered = {
        (opening.contrast.challenger): opening
        for test_set in SealRegister(run.path.parent).test_sets()
        for opening in SealRegister(run.path.parent).openings(test_set)
        if opening.contrast.run == run.path.name
    }
    result = run.summary()["result"]
    if "winner" in result:
        opening = registered.get(result["winner"])
        if opening is None:
            return False, "Not better: the search kept the seed."
        if result.get("test", {}).get("verdict") == "traded":
            return False, f"Not better: {result['statement']}"
        found = [("the winner", opening.contrast.difference, opening.p_holm)]
    else:
        found = [
            (row.name, row.difference.difference, registered[row.id].p_holm if row.id in registered else row.p_max_t or 1.0)
            for row in comparison.rows
            if row.difference is not None and row.p_max_t is not None
        ]
    winners = [(name, gain, p) for name, gain, p in found if gain > 0 and p <= alpha]
    if winners:
        return True, "; ".join(f"{name} is better ({100 * gain:+.1f} points, corrected p = {p:.3f})" for name, gain, p in winners)
    nearest = min((p for _, gain, p in found if gain > 0), default=None)
    reason = "nothing gained" if nearest is None else f"the smallest corrected p of a gain is {nearest:.3f}"
    return False, f"Not better at the level {alpha:g}: {reason}."

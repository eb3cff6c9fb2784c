"""The data card's figures: what a data set holds, what its claims give away, and how models alone judge it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from optimizer.analysis.claim_only import words_alone
from optimizer.config import Settings, to_toml
from optimizer.data.checks import Finding, check_items
from optimizer.data.datafile import chosen_data
from optimizer.data.item import Item, Task, items_hash
from optimizer.data.passages import check_passages, passages_about
from optimizer.data.shipped import data_path
from optimizer.data.splits import SHARES, Sizes, split_items, spread, whole
from optimizer.debate.controls import Control, run_control
from optimizer.debate.panel import open_panel, plan_panel
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.errors import UserError
from optimizer.models.ledger import Ledger
from optimizer.runs.folder import RunFolder, open_run
from optimizer.stats.accuracy import Accuracy, accuracy_of

WORDS = "words of the claim"
_ARMS = (Control.SINGLE, Control.CLAIM_ONLY)


@dataclass(frozen=True, slots=True)
class Composition:
    """Counts of a data set. `table` has (what, value) -> label -> items, for what in split, category, domain, difficulty."""

    items: int
    clusters: int
    evidence_words: tuple[int, int, int]
    claim_words: tuple[int, int, int]
    table: Mapping[tuple[str, str], Mapping[str, int]]
    passages: Mapping[tuple[str, str], int]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """One judge on all items: in all, by label, by category and by difficulty. `judge` is a model, or words alone."""

    judge: str
    sees_evidence: bool
    overall: Accuracy
    by: Mapping[tuple[str, str], Accuracy]
    failed: int


def composition(items: Sequence[Item], data: Path, seed: int, sizes: Sizes) -> Composition:
    """Count a data set with the passages that lie beside it; the splits are the ones that runs take their items from."""
    splits = split_items(items, seed, whole(sizes))
    split_of = {item.id: name for name in SHARES for item in getattr(splits, name)}
    table: dict[tuple[str, str], Counter[str]] = {}
    for item in items:
        for what, value in (("split", split_of.get(item.id, "none")), *_groups(item)):
            table.setdefault((what, value), Counter())[str(item.label)] += 1
    passages = passages_about(data, {item.id for item in items})
    findings = [*check_items(items), *(check_passages(items, passages) if passages else ())]
    return Composition(
        len(items),
        len({item.cluster for item in items}),
        _spread(len(item.evidence_text.split()) for item in items),
        _spread(len(item.claim.split()) for item in items),
        table,
        dict(Counter((str(passage.kind), passage.style) for passage in passages)),
        tuple(findings),
    )


def count_data(settings: Settings) -> Composition:
    """What the data set of the settings holds, and its findings.

    Raises:
        UserError: the data cannot be read or divided.
    """
    path = data_path(settings.data)
    return composition(chosen_data(settings).items, path, settings.seed, settings.splits.model_dump())


def figures(judge: str, sees_evidence: bool, scores: Mapping[str, float], items: Sequence[Item]) -> JudgeFigures:
    """A judge's figures from its item scores; items without a score count as failed and are left out."""

    def of(members: Iterable[Item]) -> Accuracy:
        return accuracy_of({item.id: scores[item.id] for item in members}, clusters)

    clusters = {item.id: item.cluster for item in items}
    groups: dict[tuple[str, str], list[Item]] = {}
    scored = [item for item in items if item.id in scores]
    for item in scored:
        for key in (("label", str(item.label)), *_groups(item)):
            groups.setdefault(key, []).append(item)
    return JudgeFigures(
        judge,
        sees_evidence,
        of(scored),
        {key: of(members) for key, members in groups.items()},
        len(items) - len(scored),
    )


async def measure_judges(
    settings: Settings, models: Sequence[str], note: Callable[[str], None], fresh: bool = False, limit: int = 0
) -> tuple[RunFolder, list[JudgeFigures]]:
    """Ask each model about every item, with the evidence and without; the words-alone classifier stands first.

    The same call again resumes: answers are recorded in a run folder. With a limit, at most so many items are asked, over
    as many clusters as possible.

    Raises:
        UserError: data or server are not right, or the endpoint is gone.
    """
    data = chosen_data(settings)
    if any(item.task is not Task.CLAIM for item in data.items):
        raise UserError(f"{settings.data}: holds questions, and a card is of claims; optimizer evaluate measures judges on them")
    items = spread(data.items, settings.seed, limit) if limit else data.items
    protocol = Protocol.of(settings.protocol)
    chosen = [settings.model_copy(update={"model": model, "roles": {}, "policy": ""}) for model in models]
    plans = [await plan_panel(each, (), items) for each in chosen]
    endpoints = [plan.endpoint for plan in plans]
    resolved = {
        "v": 1,
        "kind": "card",
        "data": {"name": settings.data, **data.record, "hash": items_hash(items)},
        "protocol": protocol.model_dump(),
        "models": [plan.record() for plan in plans],
    }
    run, _ = open_run(Path(settings.runs), f"card-{Path(settings.data).stem}", resolved, to_toml(settings), fresh)
    recorded = {(d.candidate, d.item): d for d in run.debates()} if run.events.exists() else {}
    events, ledger = run.open_events(), Ledger(run.calls)

    def keep(name: str, debate: Debate) -> None:
        if not debate.failed:
            debate = replace(debate, candidate=name)
            events.record("debate", f"{debate.candidate}:{debate.item}:0", debate=debate.to_json())
            recorded[debate.candidate, debate.item] = debate

    try:
        for each, plan in zip(chosen, plans, strict=True):
            model = plan.endpoint.model
            owed = {arm: [item for item in items if (_name(model, arm), item.id) not in recorded] for arm in _ARMS}
            if not any(owed.values()):
                continue
            async with open_panel(each, plan, ledger, run.server_log, note) as executor:
                for arm, missing in owed.items():
                    note(f"{model}, {arm}: {len(missing)} items")
                    await run_control(executor, arm, missing, 1, partial(keep, _name(model, arm)))
    finally:
        events.close()
        ledger.close()
    results = [figures(WORDS, False, words_alone(data.items), data.items)]
    for planned in endpoints:
        for arm in _ARMS:
            name = _name(planned.model, arm)
            scores = {item.id: recorded[name, item.id].score(item) for item in items if (name, item.id) in recorded}
            known = {item: score for item, score in scores.items() if score is not None}
            results.append(figures(planned.model, arm is Control.SINGLE, known, items))
    right = {f"{each.judge}, {'with' if each.sees_evidence else 'without'} evidence": each.overall.right for each in results}
    run.write_json("summary.json", {"v": 1, "items": len(items), "right": right})
    return run, results


def _name(model: str, arm: Control) -> str:
    return f"{model} {arm}"


def _groups(item: Item) -> list[tuple[str, str]]:
    found = (("category", item.category), ("domain", item.domain), ("difficulty", item.difficulty))
    return [(what, value) for what, value in found if value]


def _spread(counts: Iterable[int]) -> tuple[int, int, int]:
    """The smallest, the middle and the largest."""
    ordered = sorted(counts)
    return ordered[0], ordered[len(ordered) // 2], ordered[-1]

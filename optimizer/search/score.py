"""Scores a panel on labelled items, with the same model alone and its self-consistency at equal calls beside it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import optimizer
from optimizer.config import Settings, to_toml
from optimizer.data.item import Item, Label, items_hash
from optimizer.data.loaders import load_items
from optimizer.data.shipped import data_path
from optimizer.data.splits import spread
from optimizer.debate.controls import Control, run_control
from optimizer.debate.executor import DebateJob
from optimizer.debate.panel import open_panel, panel_record, plan_panel
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.models.ledger import Ledger
from optimizer.prompts.library import chosen_library
from optimizer.runs.folder import RunFolder, open_run
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.candidate import Candidate
from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.intervals import wilson_interval
from optimizer.stats.paired import paired_difference

PANEL = "panel"
Clusters = dict[str, str]


@dataclass(frozen=True, slots=True)
class ArmScore:
    """One arm (the panel, or a control): scores over items that have one, recall by class, and what became of the debates."""

    arm: str
    accuracy: Accuracy
    recall: dict[str, tuple[float, float, float]]
    outcomes: dict[str, int]
    failed: int
    ties: int
    scores: dict[str, float]


async def evaluate_panel(
    settings: Settings,
    controls: Sequence[Control] = (),
    repeats: int = 1,
    limit: int = 0,
    fresh: bool = False,
    watcher: Watcher | None = None,
) -> RunFolder:
    """Score the seeds of the prompt folder as a panel. The same call again resumes, or finds the result.

    Args:
        settings: data, prompts, model and protocol.
        controls: what is measured beside the panel on the same items.
        repeats: debates an item, each under a seed of its own; an item's score is their mean.
        limit: at most so many items, over as many clusters as possible; 0 takes all.

    Raises:
        UserError: data, prompts or server are not right, or the endpoint is gone.
    """
    watcher = watcher or Silent()
    library = chosen_library(settings)
    items = load_items(data_path(settings.data), settings.columns, settings.label_map)
    items = spread(items, settings.seed, limit) if limit else items
    protocol, panel = Protocol.of(settings.protocol), Candidate(library.seeds)
    planned = await plan_panel(settings, library.personas, items)
    resolved = {
        "v": 1,
        "kind": "evaluate",
        "data": {"name": settings.data, "hash": items_hash(items)},
        "prompts": dict(panel.texts),
        "protocol": protocol.model_dump(),
        "model": panel_record(settings, planned),
        "controls": [str(control) for control in controls],
        "repeats": repeats,
    }
    name = f"evaluate-{Path(settings.data).stem}"
    run, _ = open_run(Path(settings.runs), name, resolved, to_toml(settings), fresh)
    if run.finished:
        watcher.note(f"this evaluation is finished: {run.path} (give --new for another)")
        return run
    watcher.note(f"run folder {run.path}")
    personas, started = len(library.personas), time.monotonic()
    by_id = {item.id: item for item in items}
    arms = {PANEL: ArmTally(PANEL, by_id), **{control.value: ArmTally(control.value, by_id) for control in controls}}
    arm_of = {panel.id: PANEL}
    have: set[tuple[str, str, int]] = set()
    for debate in run.each_debate():
        have.add((debate.candidate, debate.item, debate.sample))
        arms[arm_of.get(debate.candidate, debate.candidate)].add(debate)
    events, ledger = run.open_events(), Ledger(run.calls)
    a_debate = protocol.calls(personas)
    watcher.begin(ledger, repeats * len(items) * (a_debate + sum(control.calls(a_debate) for control in controls)))

    def done(debate: Debate) -> None:
        if not debate.failed:
            events.record("debate", f"{debate.candidate}:{debate.item}:{debate.sample}", debate=debate.to_json())
        arms[arm_of.get(debate.candidate, debate.candidate)].add(debate)
        watcher.debate_done(debate)

    try:
        async with open_panel(settings, planned, ledger, run.server_log, watcher.note) as executor:
            watcher.phase(PANEL)
            jobs = (DebateJob(item, panel.id, panel.texts, sample) for sample in range(repeats) for item in items)
            await executor.stream((job for job in jobs if (panel.id, job.item.id, job.sample) not in have), done)
            for control in controls:
                watcher.phase(control)
                for sample in range(repeats):
                    owed = (item for item in items if (control.value, item.id, sample) not in have)
                    await run_control(executor, control, owed, personas, done, sample)
        scores = [arm.score() for arm in arms.values()]
        run.write_json("summary.json", _summary(scores, items, ledger, time.monotonic() - started, list(panel.texts)))
    finally:
        events.close()
        ledger.close()
    return run


class ArmTally:
    """Adds an arm's debates up as they come, and keeps none of them.

    Args:
        arm: its name.
        items: by id, with gold labels.
    """

    def __init__(self, arm: str, items: Mapping[str, Item]) -> None:
        self._arm, self._items = arm, items
        self._right: dict[str, float] = {}
        self._held: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._failed = self._ties = 0

    def add(self, debate: Debate) -> None:
        """Count a debate. Failed ones are counted and not scored."""
        score = debate.score(self._items[debate.item])
        self._ties += debate.rule == "tie"
        if score is None:
            self._failed += 1
            return
        self._right[debate.item] = self._right.get(debate.item, 0.0) + score
        self._held[debate.item] += 1
        self._outcomes.update(turn.verdict.outcome.value for turn in debate.turns)
        self._outcomes["no decision"] += debate.decision is None

    def score(self) -> ArmScore:
        """The scores so far; an item's is the mean over its repeats."""
        scores = {item: right / self._held[item] for item, right in self._right.items()}
        recall = {}
        for label in (Label.GROUNDED, Label.NOT_GROUNDED):
            of_label = [score for item, score in scores.items() if self._items[item].label is label]
            right = sum(of_label)
            low, high = wilson_interval(round(right), len(of_label))
            recall[label.value] = (right / len(of_label) if of_label else float("nan"), low, high)
        clusters = {item: self._items[item].cluster for item in scores}
        return ArmScore(self._arm, accuracy_of(scores, clusters), recall, dict(self._outcomes), self._failed, self._ties, scores)


def _summary(
    scores: Sequence[ArmScore], items: Sequence[Item], ledger: Ledger, seconds: float, components: list[str]
) -> dict[str, Any]:
    clusters = {item.id: item.cluster for item in items}
    panel = next(score for score in scores if score.arm == PANEL)
    return {
        "v": 1,
        "version": optimizer.__version__,
        "components": components,
        "arms": [asdict(score) for score in scores],
        "panel_minus": {
            score.arm: asdict(paired_difference(score.scores, panel.scores, clusters)) for score in scores if score.arm != PANEL
        },
        "spent": {
            "seconds": round(seconds, 1),
            **dict(ledger.counts),
            **ledger.remarks,
            "by_purpose": {name: dict(counts) for name, counts in ledger.by_purpose.items()},
        },
    }

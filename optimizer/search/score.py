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
from optimizer.data.datafile import chosen_data
from optimizer.data.item import Item, Label, Task, items_hash
from optimizer.data.splits import spread
from optimizer.debate.controls import Control, run_control
from optimizer.debate.executor import DebateJob
from optimizer.debate.extract import Status
from optimizer.debate.panel import open_panel, panel_record, plan_panel
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.debate.verdict import Verdict
from optimizer.errors import UsageError
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
    """One arm (the panel, or a control): scores over items that have one, recall by class, and what became of the debates.

    `recall` is of the claims, empty without any. `reading` counts how the answers to questions could be read: parsed,
    ambiguous, none; empty without questions. `parsed_only` is the share right of the `parsed_debates` on questions that had a
    readable answer in the last round; the others, which are wrong in `accuracy`, are left out.
    """

    arm: str
    accuracy: Accuracy
    recall: dict[str, tuple[float, float, float]]
    outcomes: dict[str, int]
    failed: int
    ties: int
    scores: dict[str, float]
    reading: dict[str, int]
    parsed_only: float | None
    parsed_debates: int


async def evaluate_panel(
    settings: Settings,
    controls: Sequence[Control] = (),
    repeats: int = 1,
    limit: int = 0,
    fresh: bool = False,
    watcher: Watcher | None = None,
    name: str = "",
) -> RunFolder:
    """Score the seeds of the prompt folder as a panel. The same call again resumes, or finds the result.

    Args:
        settings: data, prompts, model and protocol.
        controls: what is measured beside the panel on the same items.
        repeats: debates an item, each under a seed of its own; an item's score is their mean.
        limit: at most so many items, over as many clusters as possible; 0 takes all.
        fresh: begin a new run even if one like it is there.
        watcher: hears of progress.
        name: of the run folder; after the data if empty.

    Raises:
        UserError: data, prompts or server are not right, or the endpoint is gone.
        UsageError: the claim-only control is asked for where there is no evidence to hide.
    """
    watcher = watcher or Silent()
    library = chosen_library(settings)
    data = chosen_data(settings)
    if Control.CLAIM_ONLY in controls and not any(item.evidence for item in data.items):
        raise UsageError(
            f"--control {Control.CLAIM_ONLY} asks without the evidence, but the questions of {settings.data} have none: it would "
            f"ask just what {Control.SINGLE} asks; take that"
        )
    items = spread(data.items, settings.seed, limit) if limit else data.items
    protocol, panel = Protocol.of(settings.protocol), Candidate(library.seeds)
    planned = await plan_panel(settings, library.personas, items)
    resolved = {
        "v": 1,
        "kind": "evaluate",
        "data": {"name": settings.data, **data.record, "hash": items_hash(items), "items": [item.id for item in items]},
        "prompts": dict(panel.texts),
        "protocol": protocol.model_dump(),
        "model": panel_record(settings, planned),
        "controls": [str(control) for control in controls],
        "repeats": repeats,
    }
    run, _ = open_run(Path(settings.runs), name or f"evaluate-{Path(settings.data).stem}", resolved, to_toml(settings), fresh)
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
    samples = sum(control.answers(protocol.answers(personas)) for control in controls) * (2 if protocol.reprompt else 1)
    watcher.begin(ledger, repeats * len(items) * (protocol.calls(personas) + samples))

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
        items: by id, with gold labels or answers.
    """

    def __init__(self, arm: str, items: Mapping[str, Item]) -> None:
        self._arm, self._items = arm, items
        self._right: dict[str, float] = {}
        self._held: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._reading: Counter[str] = Counter()
        self._parsed_debates = 0
        self._parsed_right = 0.0
        self._failed = self._ties = 0

    def add(self, debate: Debate) -> None:
        """Count a debate. Failed ones are counted and not scored."""
        item = self._items[debate.item]
        score = debate.score(item)
        self._ties += debate.rule == "tie"
        if score is None:
            self._failed += 1
            return
        self._right[debate.item] = self._right.get(debate.item, 0.0) + score
        self._held[debate.item] += 1
        self._outcomes.update(turn.verdict.outcome.value for turn in debate.answers)
        self._outcomes["no decision"] += debate.decision is None
        if item.task is not Task.CLAIM:
            self._reading.update(_status(turn.verdict) for turn in debate.turns)
            if any(verdict.vote is not None for verdict in debate.round_verdicts(debate.last_round).values()):
                self._parsed_debates += 1
                self._parsed_right += score

    def score(self) -> ArmScore:
        """The scores so far; an item's is the mean over its repeats."""
        scores = {item: right / self._held[item] for item, right in self._right.items()}
        recall = {}
        labels = (Label.GROUNDED, Label.NOT_GROUNDED) if any(self._items[item].label for item in scores) else ()
        for label in labels:
            of_label = [score for item, score in scores.items() if self._items[item].label is label]
            right = sum(of_label)
            low, high = wilson_interval(round(right), len(of_label))
            recall[label.value] = (right / len(of_label) if of_label else float("nan"), low, high)
        clusters = {item: self._items[item].cluster for item in scores}
        return ArmScore(
            self._arm,
            accuracy_of(scores, clusters),
            recall,
            dict(self._outcomes),
            self._failed,
            self._ties,
            scores,
            {status.value: self._reading[status] for status in Status} if self._reading else {},
            self._parsed_right / self._parsed_debates if self._parsed_debates else None,
            self._parsed_debates,
        )


def _status(verdict: Verdict) -> Status:
    """How an answer could be read; what was refused or cut off gave none."""
    if verdict.vote is not None:
        return Status.PARSED
    return Status.AMBIGUOUS if verdict.detail == Status.AMBIGUOUS else Status.NONE


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

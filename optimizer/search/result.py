"""What a finished run leaves: the candidates' prompts, the winner's, an entry in the seal register, and summary.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import optimizer
from optimizer.analysis.headroom import oracle_headroom
from optimizer.data.item import sealed_hash
from optimizer.models.ledger import Ledger
from optimizer.prompts.files import write_prompts
from optimizer.runs.folder import RunFolder
from optimizer.runs.seal import Contrast, SealRegister, often_opened
from optimizer.search.ascent import SearchOutcome
from optimizer.search.ending import TestResult
from optimizer.search.evaluate import Evaluator

if TYPE_CHECKING:
    from optimizer.search.job import OptimizeJob

SUMMARY_VERSION = 1


def write_result(
    job: OptimizeJob,
    run: RunFolder,
    evaluator: Evaluator,
    outcome: SearchOutcome,
    result: TestResult,
    ledger: Ledger,
    seconds: float,
) -> None:
    """Everything that a finished run leaves; summary.json comes last, since it marks the run as finished."""
    for candidate in {candidate.id: candidate for candidate in outcome.candidates}.values():
        write_prompts(run.candidate(candidate.id), candidate.texts)
    write_prompts(run.winner, outcome.incumbent.texts)
    opened_often = ""
    if result.verdict != "unchanged":
        register, test_set = SealRegister(run.path.parent), sealed_hash(job.splits.test)
        decided = result.objective
        register.enter(
            Contrast(
                test_set=test_set,
                run=run.path.name,
                baseline=job.seed.id,
                challenger=outcome.incumbent.id,
                items=result.difference.items,
                difference=result.difference.difference if decided is None else decided.gain,
                p=result.difference.p if decided is None else decided.p,
            )
        )
        opened_often = often_opened(register, test_set)
    run.write_json(
        "summary.json",
        {
            "v": SUMMARY_VERSION,
            "version": optimizer.__version__,
            "components": list(outcome.incumbent.texts),
            "result": {
                "seed": job.seed.id,
                "winner": outcome.incumbent.id,
                "statement": result.statement,
                "stopped": outcome.stopped,
                "test": result.to_json(),
                "candidates": _candidates(job, evaluator, outcome),
                "front": [asdict(point) for point in outcome.front],
                "rejected": outcome.refused,
                "headroom": _headroom(job, evaluator, outcome),
                "calls": ledger.distinct,
            },
            # Other runs' openings of the same test set are no part of this run's result.
            "seal": opened_often,
            # What was really paid depends on what was cached before, so it is no part of the result.
            "spent": {
                "seconds": round(seconds, 1),
                **dict(ledger.counts),
                **ledger.remarks,
                "by_purpose": {name: dict(counts) for name, counts in ledger.by_purpose.items()},
            },
        },
    )


def _candidates(job: OptimizeJob, evaluator: Evaluator, outcome: SearchOutcome) -> list[dict[str, Any]]:
    """A row a candidate. Dev scores are what the search decided on, so they are no estimate of quality."""
    duels = {result.challenger: asdict(result) for result in outcome.duels}
    rows = []
    for candidate in outcome.candidates:
        scores = evaluator.scores(candidate, job.splits.dev)
        rows.append(
            {
                "id": candidate.id,
                "component": candidate.component,
                "origin": candidate.origin,
                "idea": candidate.idea,
                "parent": candidate.parent,
                "dev_items": len(scores),
                "dev_right": int(sum(scores.values())),
                "duel": duels.get(candidate.id),
            }
        )
    return rows


def _headroom(job: OptimizeJob, evaluator: Evaluator, outcome: SearchOutcome) -> dict[str, Any]:
    """Over the candidates that were evaluated on all of dev."""
    scores = {candidate.id: evaluator.scores(candidate, job.splits.dev) for candidate in outcome.candidates}
    full = {name: by_item for name, by_item in scores.items() if len(by_item) == len(job.splits.dev)}
    if not full:
        return {}
    found = oracle_headroom(full)
    return {**asdict(found), "headroom": found.headroom}

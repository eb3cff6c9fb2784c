"""Runs a comparison under misinformation. The same call again resumes, or finds the result."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import optimizer
from optimizer.config import Settings, to_toml
from optimizer.data.item import Item, items_hash
from optimizer.debate.evidence import fits, select_sentences
from optimizer.debate.executor import DebateExecutor, drain
from optimizer.debate.panel import open_panel, panel_record, plan_panel
from optimizer.errors import UserError
from optimizer.misinformation.arms import Arm, Design, Mitigation, System
from optimizer.misinformation.asking import Asker, answer_tokens
from optimizer.misinformation.baselines import draw_samples
from optimizer.misinformation.debate import Discussion
from optimizer.misinformation.prompts import PROMPTS_VERSION, Script
from optimizer.misinformation.records import EVENT, KIND, Transcript, Utterance, each_record, read_records, transcript_key
from optimizer.misinformation.results import misinformation_results, plain
from optimizer.misinformation.stage import Stage, set_stage
from optimizer.models.ledger import Ledger
from optimizer.models.provision import context_needed
from optimizer.models.transport import CallFailed
from optimizer.runs.folder import RunFolder, open_run
from optimizer.runs.watch import Silent, Watcher
from optimizer.sections import MisinformationSettings

MOST_FAILED = 0.1  # of all transcripts; with more the run stays unfinished


async def run_misinformation(
    settings: Settings, design: Design, limit: int = 0, fresh: bool = False, watcher: Watcher | None = None
) -> RunFolder:
    """Hold all debates and draw all samples of a design, and write the result.

    Args:
        settings: data, prompts, model, protocol, and the rules of the debate.
        design: what is compared.
        limit: at most so many items, over as many clusters as possible; 0 takes all.
        fresh: begin a new run even if one like it is there.

    Raises:
        UserError: data, prompts or server are not right, the endpoint is gone, or too many calls failed.
    """
    watcher = watcher or Silent()
    stage = set_stage(settings, design, limit)
    given, settings = settings, with_context(settings, stage).model_copy(update={"policy": ""})  # votes are counted its own way
    planned = await plan_panel(settings, [*(agent.name for agent in stage.agents), "verifier"], stage.items)
    resolved = {
        "v": 1,
        "kind": KIND,
        "data": {"name": settings.data, "hash": items_hash(stage.items), "items": [item.id for item in stage.items]},
        "passages": stage.passages_hash(),
        "design": stage.record(),
        "rules": settings.misinformation.model_dump(mode="json"),
        "agents": {agent.name: agent.description for agent in stage.agents},
        "prompts": PROMPTS_VERSION,
        "protocol": settings.protocol.model_dump(mode="json"),
        "model": panel_record(settings, planned),
    }
    run, _ = open_run(Path(settings.runs), f"{KIND}-{Path(settings.data).stem}", resolved, to_toml(given), fresh)
    if run.finished:
        watcher.note(f"this run is finished: {run.path} (give --new for another)")
        return run
    watcher.note(f"run folder {run.path}")
    for what, count in stage.left_out().items():
        watcher.note(f"{count} of {len(stage.items)} items have no {what} passage and are left out of those conditions")
    events, ledger, started = run.open_events(), Ledger(run.calls), time.monotonic()
    have = {transcript.key for transcript in each_record(run)}
    watcher.begin(ledger, stage.calls())
    watcher.phase("debates")
    failed: list[Transcript] = []

    def done(transcript: Transcript) -> None:
        if transcript.failed:
            failed.append(transcript)
        else:
            events.record(EVENT, transcript.key, **{EVENT: transcript.to_json()})
        watcher.debate_done(transcript)

    try:
        async with open_panel(settings, planned, ledger, run.server_log, watcher.note) as executor:

            async def on_item(item: Item, sample: int) -> None:
                """All arms of an item one after the other: they share calls, and a server's cached prefix."""
                for arm in stage.arms(item):
                    if transcript_key(arm.id, item.id, sample) not in have:
                        done(await hold(executor, stage, item, arm, sample))

            work = (partial(on_item, item, sample) for sample in range(design.seeds) for item in stage.items)
            await drain(work, executor.in_flight)
        _check_failed(failed, stage, run)
        _finish(run, stage, ledger, failed, time.monotonic() - started)
    finally:
        events.close()
        ledger.close()
    return run


async def hold(executor: DebateExecutor, stage: Stage, item: Item, arm: Arm, sample: int) -> Transcript:
    """One transcript. A call without an answer makes it a failed one, with the reason."""
    rules = stage.rules
    shown = item if fits(item, executor.context) else select_sentences(item, executor.context)
    skepticism = stage.design.skepticism if arm.mitigation is Mitigation.SKEPTICISM else ""
    first = rules.answer_position == "first"
    script = Script(shown, executor.protocol, len(stage.agents), rules.max_words, skepticism, first)
    asker = Asker(executor, rules, script, arm.id, sample)
    passage, exposure = stage.exposure(item, arm)
    slots = exposure.slots if exposure else ()
    agents = [replace(agent, passage=passage if slot in slots else "") for slot, agent in enumerate(stage.agents)]
    discussion = Discussion(asker, agents, arm.mitigation)
    said: list[Utterance] = []
    failure = ""
    try:
        if arm.system is System.DEBATE:
            await discussion.hold()
        else:
            said = await draw_samples(asker, arm.system, stage.agents[0], passage, slots)
    except CallFailed as error:
        failure = str(error) or "no answer"
    said = said or discussion.said
    return Transcript(item.id, item.cluster, arm.id, sample, tuple(said), exposure, discussion.agreed, failure)


def with_context(settings: Settings, stage: Stage) -> Settings:
    """The settings with a context that holds a whole discussion, where none is set."""
    if settings.context:
        return settings
    rules: MisinformationSettings = settings.misinformation
    longest = max((passage.text for passage in stage.passages.values()), key=len, default="")
    needed = context_needed(item.evidence_text + item.claim + "".join(item.choices) + longest for item in stage.items)
    said = rules.turns * len(stage.agents) * answer_tokens(rules)
    return settings.model_copy(update={"context": needed + -(-said // 1_024) * 1_024})


def _check_failed(failed: list[Transcript], stage: Stage, run: RunFolder) -> None:
    total = stage.design.seeds * sum(len(stage.arms(item)) for item in stage.items)
    if len(failed) > MOST_FAILED * total:
        raise UserError(
            f"{run.path}: {len(failed)} of {total} debates and samples failed, the last with {failed[-1].failure}; mend that "
            "and give the same command again, it asks only those"
        )


def _finish(run: RunFolder, stage: Stage, ledger: Ledger, failed: list[Transcript], seconds: float) -> None:
    records = read_records(run)
    run.write_json(
        "summary.json",
        {
            "v": 1,
            "version": optimizer.__version__,
            "items": len(stage.items),
            "left_out": stage.left_out(),
            "failed": len(failed),
            "failures": [f"{each.key}: {each.failure}" for each in failed[:20]],
            "result": plain(misinformation_results(records, len(stage.agents))),
            "spent": {"seconds": round(seconds, 1), **_shared(records), **dict(ledger.counts), **ledger.remarks},
        },
    )


def _shared(records: list[Transcript]) -> Mapping[str, Any]:
    """How many calls the records are made of, how many of them are different, and how many were shared between arms."""
    keys = [utterance.key for record in records for utterance in record.utterances]
    return {"asked": len(keys), "different": len(set(keys)), "shared": len(keys) - len(set(keys))}

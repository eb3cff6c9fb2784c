"""Fills in what headroom needs after a run: candidates that were dropped early, untried alternatives, and noisy seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.data.item import Item
from optimizer.debate.executor import DebateExecutor, DebateJob
from optimizer.debate.panel import open_panel, panel_record, plan_panel
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.errors import UserError
from optimizer.models.ledger import Ledger
from optimizer.prompts.files import write_prompts
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.prompts.rewrites import rewrites
from optimizer.runs.events import EventLog, read_events
from optimizer.runs.folder import RunFolder
from optimizer.runs.items import run_settings, run_splits
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator


@dataclass(frozen=True, slots=True)
class Completion:
    """What is to be evaluated on which items. `calls` is the most it can take; answers that are cached cost nothing."""

    items: tuple[Item, ...]
    candidates: tuple[Candidate, ...]
    controls: tuple[Candidate, ...]
    repeats: int
    seed: Candidate
    calls: int


def plan_completion(run: RunFolder, best: int, controls: int) -> Completion:
    """What would be evaluated.

    Args:
        run: finished, of kind optimize or compare.
        best: so many of the candidates that were dropped early, the best first, and every alternative to the seed that
            was not evaluated on all items; 0 for none of both.
        controls: noisy runs of the seed: repeats where the panel's temperature is above 0, rewrites at 0.

    Raises:
        UserError: the run's data has changed.
    """
    settings, resolved = run_settings(run), run.resolved()
    searched = resolved["kind"] == "optimize"
    items = run_splits(run)["dev" if searched else "items"]
    texts = resolved["prompts"] if searched else next(iter(resolved["prompts"].values()))
    seed = Candidate(texts)
    components = resolved["components"] if searched else [resolved["component"]]
    have: dict[str, dict[str, float]] = {}
    by_id = {item.id: item for item in items}
    for debate in run.debates():
        if debate.item in by_id and (score := debate.score(by_id[debate.item])) is not None:
            have.setdefault(debate.candidate, {})[debate.item] = score
    wanted = _dropped_and_untried(run, seed, components, have, len(items), best) if best and searched else []
    candidates = [each for each in wanted if len(have.get(each.id, {})) < len(items)]
    repeated = controls > 0 and settings.protocol.temperature > 0
    rewritten = [] if repeated else _rewritten(seed, components, controls)
    a_debate = Protocol.of(settings.protocol).calls(sum(name != SOURCE_SKEPTICISM for name in texts))
    owed = sum(len(items) - len(have.get(each.id, {})) for each in (*candidates, *rewritten))
    owed += controls * len(items) if repeated else 0
    return Completion(tuple(items), tuple(candidates), tuple(rewritten), controls if repeated else 0, seed, owed * a_debate)


def _dropped_and_untried(
    run: RunFolder, seed: Candidate, components: Sequence[str], have: Mapping[str, Mapping[str, float]], items: int, best: int
) -> list[Candidate]:
    """The alternatives to the seed, and the `best` candidates that lack items, the most right ones first."""
    alternatives = run.resolved()["alternatives"]
    found = {
        candidate.id: candidate
        for component in components
        for name, text in alternatives.get(component, {}).items()
        if (candidate := seed.with_text(component, text, f"alternative:{name}")).id != seed.id
    }
    tried = {event["id"].removeprefix("candidate:"): event for event in read_events(run.events, "candidate")}
    dropped = [name for name in tried if len(have.get(name, {})) < items]
    dropped.sort(key=lambda name: -sum(have.get(name, {}).values()) / max(1, len(have.get(name, {}))))
    for name in dropped[:best]:
        event = tried[name]
        candidate = Candidate(event["texts"], event["origin"], event["component"], event["parent"])
        found.setdefault(candidate.id, candidate)
    return list(found.values())


async def complete(run: RunFolder, plan: Completion, watcher: Watcher | None = None) -> None:
    """Hold the debates of the plan and add them to the run's event log; what is there is not held again.

    Raises:
        UserError: the model is not the run's, or the endpoint is gone.
    """
    watcher = watcher or Silent()
    settings = run_settings(run)
    personas = [name for name in plan.seed.texts if name != SOURCE_SKEPTICISM]
    planned = await plan_panel(settings, personas, plan.items)
    before = run.resolved()["model"]
    if panel_record(settings, planned) != before:
        raise UserError(
            f"{run.path}: was judged by {before['name']}, but {planned.endpoint.model}, or another version or engine "
            "of it, answers "
            "now; serve the same model again"
        )
    recorded = run.debates()
    events, ledger = run.open_events(), Ledger(run.calls)
    watcher.begin(ledger, plan.calls)
    try:
        async with open_panel(settings, planned, ledger, run.server_log, watcher.note) as executor:
            evaluator = Evaluator(executor, events, recorded, watcher)
            for candidate in plan.candidates:
                watcher.phase(candidate.origin)
                events.record(
                    "candidate", candidate.id, component=candidate.component, origin=candidate.origin,
                    parent=candidate.parent, idea=candidate.idea, texts=dict(candidate.texts),
                )  # fmt: skip
                write_prompts(run.candidate(candidate.id), candidate.texts)
                await evaluator.evaluate(candidate, plan.items)
            for candidate in plan.controls:
                watcher.phase(candidate.origin)
                events.record("control", candidate.id, candidate=candidate.id, of=plan.seed.id, texts=dict(candidate.texts))
                await evaluator.evaluate(candidate, plan.items)
            await _repeat(plan, executor, events, recorded, watcher)
    finally:
        events.close()
        ledger.close()


async def _repeat(
    plan: Completion, executor: DebateExecutor, events: EventLog, recorded: Sequence[Debate], watcher: Watcher
) -> None:
    """Hold the seed's debates again under other seeds of the sampling."""
    have = {(debate.item, debate.sample) for debate in recorded if debate.candidate == plan.seed.id}

    def keep(debate: Debate) -> None:
        if not debate.failed:
            events.record("debate", f"{debate.candidate}:{debate.item}:{debate.sample}", debate=debate.to_json())
        watcher.debate_done(debate)

    for sample in range(1, plan.repeats + 1):
        watcher.phase(f"repeat {sample} of the seed")
        owed = [item for item in plan.items if (item.id, sample) not in have]
        await executor.run([DebateJob(item, plan.seed.id, plan.seed.texts, sample) for item in owed], keep)


def _rewritten(seed: Candidate, components: Sequence[str], count: int) -> list[Candidate]:
    """The seed with all of `components` rewritten, so many times as there are different rewrites for all of them."""
    variants = {component: rewrites(seed.texts[component], count) for component in components}
    most = min((len(texts) for texts in variants.values()), default=0)
    return [
        Candidate(
            {**seed.texts, **{component: variants[component][index] for component in components}},
            f"rewrite:{index + 1}",
            parent=seed.id,
        )
        for index in range(most)
    ]

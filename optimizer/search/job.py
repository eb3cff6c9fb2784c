"""The whole job of `optimizer optimize`: prepare, plan, search, open the seal, write the result."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimizer.config import Settings, to_toml
from optimizer.data.datafile import Data, chosen_data
from optimizer.data.item import Item, items_hash
from optimizer.data.passages import load_passages
from optimizer.data.splits import Splits, split_items
from optimizer.debate.conditions import CONDITIONS, Conditions, open_conditions, passages_path
from optimizer.debate.evidence import check_context
from optimizer.debate.executor import DebateExecutor
from optimizer.debate.panel import offline_panel, open_panel, panel_record, plan_panel, smallest_context
from optimizer.debate.protocol import Protocol
from optimizer.debate.voices import REFLECTION
from optimizer.errors import UserError
from optimizer.models.cache import ResponseCache
from optimizer.models.ledger import Ledger
from optimizer.models.provision import ServingPlan, cache_path, embedded_choice, in_flight
from optimizer.prompts.library import SOURCE_SKEPTICISM, PromptLibrary, chosen_library
from optimizer.runs.events import EventLog
from optimizer.runs.folder import RunFolder, open_run
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.ascent import Climb, CoordinateAscent, SearchOutcome
from optimizer.search.budget import Budget, DebateMeter, allowances
from optimizer.search.candidate import Candidate
from optimizer.search.ending import open_test
from optimizer.search.evaluate import Evaluator
from optimizer.search.gepa_engine import GepaSearch
from optimizer.search.keeping import Keeping
from optimizer.search.objective import ObjectiveScorer, check_objective, confusion, objective_for
from optimizer.search.plan import Plan, count_cached, make_plan
from optimizer.search.proposers import Alternatives, Compression, Crossover, Proposer, Reflection
from optimizer.search.reflection import MOST_READ_TOKENS, REFLECTION_VERSION, program_hash
from optimizer.search.result import write_result
from optimizer.search.train_reading import TrainReading

if TYPE_CHECKING:
    from optimizer.search.study import StudyMirror


@dataclass(frozen=True, slots=True)
class OptimizeJob:
    """Everything that is known before the first call. Made by `prepare`."""

    settings: Settings
    protocol: Protocol
    library: PromptLibrary
    components: tuple[str, ...]
    splits: Splits
    seed: Candidate
    serving: ServingPlan
    plan: Plan
    resolved: dict[str, Any]

    @property
    def everything(self) -> tuple[Item, ...]:
        """The items of all splits."""
        return (*self.splits.train, *self.splits.dev, *self.splits.test)

    @property
    def name(self) -> str:
        """The run's name: what is optimised, on which data."""
        return f"{self.settings.persona.replace(',', '+')}-{Path(self.settings.data).stem or 'data'}"


async def prepare(settings: Settings) -> OptimizeJob:
    """Read and check everything that a run needs, and plan it. Nothing is fetched, started or written.

    Raises:
        UserError: data, prompts, persona, server or budget are not right.
    """
    library = chosen_library(settings)
    components = library.components(settings.persona)
    data = chosen_data(settings)
    protocol = Protocol.of(settings.protocol)
    settings, conditions, notes = _with_conditions(settings, components, library.personas, data.items, protocol)
    splits = _splits(settings, data.items, conditions)
    check_objective(settings.search, (*splits.dev, *splits.test))
    everything = (*splits.train, *splits.dev, *splits.test)
    serving = await plan_panel(settings, library.personas, everything)
    _refuse_pieces(settings, everything, serving)
    seed = Candidate(library.seeds)
    with ResponseCache(cache_path(settings)) as cache:
        cached = await count_cached(offline_panel(settings, serving, cache), seed, everything)
        pace = _seconds_a_call(settings, serving, cache)
    plan = make_plan(
        splits, components, library.personas, protocol, settings.search, cached, pace, in_flight(settings, serving),
        alternatives=sum(len(library.alternatives.get(name, ())) for name in components),
    )  # fmt: skip
    plan = replace(plan, notes=(*library.notes, *notes))
    resolved = _resolved(settings, protocol, library, components, data, splits, serving)
    return OptimizeJob(settings, protocol, library, components, splits, seed, serving, plan, resolved)


def _refuse_pieces(settings: Settings, items: Sequence[Item], serving: ServingPlan) -> None:
    """Raise where evidence would be judged in pieces: a debate then takes more calls than budget and record account for."""
    if settings.protocol.long_evidence == "chunk" and (long := check_context(items, smallest_context(serving), "chunk")):
        raise UserError(
            f"{len(long)} items have evidence that does not fit the context ({long[0]!r} is one), and a search cannot judge in "
            "pieces; take --set protocol.long_evidence=select, or a model with a longer context"
        )


def _with_conditions(
    settings: Settings, components: Sequence[str], personas: Sequence[str], items: Sequence[Item], protocol: Protocol
) -> tuple[Settings, Conditions | None, list[str]]:
    """The settings with the conditions that are meant, those conditions, and what there is to say about it.

    The default budget is for one condition, and is multiplied.
    """
    search, notes = settings.search, []
    names = search.conditions
    if names == ("auto",):
        names = ()
        if tuple(components) == (SOURCE_SKEPTICISM,):
            names = CONDITIONS if load_passages(passages_path(settings)) else ()
            if not names:
                notes.append(
                    f"{passages_path(settings)} has no passages, so the sentence is tried on the evidence alone; "
                    "with passages.jsonl beside the items it is tried under false and true passages"
                )
    found = _covering(settings, names, items, personas, protocol, notes)
    names = names if found is not None else ()
    budget = search.budget if found is None or "budget" in search.model_fields_set else search.budget * len(names)
    search = search.model_copy(update={"conditions": names, "budget": budget})
    if found is not None:
        left_out = sum(not found.covers(item) for item in items)
        notes.append(
            f"every item is judged under the conditions {', '.join(names)}: false (F) or true (T) passages shown to so many "
            f"personas, 0 to nobody; search.conditions=none judges without"
        )
        if left_out:
            notes.append(f"{left_out} of {len(items)} items have no such passages and are left out")
    return settings.model_copy(update={"search": search}), found, notes


def _covering(
    settings: Settings,
    names: tuple[str, ...],
    items: Sequence[Item],
    personas: Sequence[str],
    protocol: Protocol,
    notes: list[str],
) -> Conditions | None:
    """The conditions of these names; where they were not asked for and the passages are not of these items, none and a note.

    Raises:
        UserError: they were asked for, and no item has the passages.
    """
    if not names:
        return None
    try:
        return open_conditions(settings, names, items, personas, protocol)
    except UserError as error:
        if settings.search.conditions != ("auto",):
            raise
        notes.append(f"the sentence is tried on the evidence alone: {error}")
        return None


def _splits(settings: Settings, items: Sequence[Item], conditions: Conditions | None) -> Splits:
    """The items of each split, or their variants. Variants of an item stay together, and sizes count items."""
    sizes = settings.splits.model_dump()
    if conditions is None:
        return split_items(items, settings.seed, sizes)
    splits = split_items(items, settings.seed, sizes, conditions.covers)
    return Splits(*(tuple(conditions.variants(each)) for each in (splits.train, splits.dev, splits.test)))


async def optimize(job: OptimizeJob, fresh: bool = False, watcher: Watcher | None = None) -> RunFolder:
    """Search and open the seal, or go on where an earlier start of the same job stopped. A finished one is left as it is.

    Raises:
        UserError: the run cannot go on; what is done is kept, and the same job resumes it.
    """
    watcher = watcher or Silent()
    run, existed = open_run(Path(job.settings.runs), job.name, job.resolved, to_toml(job.settings), fresh)
    if run.finished:
        watcher.note(f"this run is finished: {run.path} (give --new for another)")
        return run
    watcher.note(f"{'resuming' if existed else 'run folder'} {run.path}")
    started = time.monotonic()
    recorded = run.debates() if run.events.exists() else []
    events, ledger = run.open_events(), Ledger(run.calls)
    watcher.begin(ledger, job.settings.search.budget)
    try:
        async with open_panel(job.settings, job.serving, ledger, run.server_log, watcher.note) as executor:
            evaluator = Evaluator(executor, events, recorded, watcher)
            budget = _budget(job, ledger, executor)
            outcome = await _search(job, run, evaluator, budget, events, watcher)
            watcher.phase("sealed test")
            budget.release()
            result = await open_test(evaluator, job.seed, outcome.incumbent, job.splits.test, job.settings.search)
        write_result(job, run, evaluator, outcome, result, ledger, time.monotonic() - started)
    finally:
        events.close()
        ledger.close()
    return run


async def _search(
    job: OptimizeJob, run: RunFolder, evaluator: Evaluator, budget: Budget, events: EventLog, watcher: Watcher
) -> SearchOutcome:
    search, dev, train = job.settings.search, job.splits.dev, job.splits.train
    if search.budget_tokens or search.budget_usd:
        # What calls take is known from the longest item on; without it the seed could be held on all of dev unmeasured.
        for item in sorted(dev, key=lambda item: -len(item.read.encode())):
            await evaluator.evaluate(job.seed, [item])
            if evaluator.executor.client.ledger.spent.debate_calls:
                break
    if search.objective == "macro_f1" and budget.affords(evaluator.cost_bound(job.seed, job.seed, dev)):
        await evaluator.evaluate(job.seed, dev)
    objective = objective_for(search, dev, confusion(evaluator.known(job.seed), dev))
    scorer = ObjectiveScorer(evaluator, objective)
    climb = Climb(
        dev,
        train,
        schedule=search.schedule,
        parent=search.parent,
        sweeps=search.sweeps,
        token_cap=search.token_cap,
        token_price=search.token_price / objective.unit,
        readings=job.protocol.rounds + job.protocol.ballots,
        seed=job.settings.seed,
    )
    mirror = _mirror(job, run, scorer, events)
    journal = mirror or events
    if search.schedule == "gepa":
        gepa = GepaSearch(evaluator, climb, search, objective, budget, journal, watcher)
        outcome = await gepa.run(job.seed, job.components)
    else:
        reflection = Reflection(TrainReading(evaluator, train), budget, search, job.settings.seed)
        proposers = _proposers(job, evaluator, budget, reflection)
        if mirror is not None and search.schedule != "exhaustive":
            proposers.append(mirror)
        keeping = Keeping(evaluator, job.seed, dev, search.margin, shorter=search.token_price > 0)
        ascent = CoordinateAscent(
            scorer,
            proposers,
            climb,
            budget,
            journal,
            watcher,
            taken=None if mirror is None else mirror.taken,
            barred=keeping.barred if search.conditions else None,
        )
        try:
            outcome = await ascent.run(job.seed, job.components)
            await reflection.settle()
        finally:
            reflection.drop()
    if mirror is not None:
        mirror.finish(outcome.candidates, outcome.incumbent.id)
    return outcome


def _mirror(job: OptimizeJob, run: RunFolder, scorer: ObjectiveScorer, events: EventLog) -> StudyMirror | None:
    if not job.settings.optuna:
        return None
    from optimizer.search.study import StudyMirror

    # Folders of two workers may have one name, where both began in the same second.
    worker = f"{platform.node()}:{run.path.resolve()}"
    return StudyMirror(job.settings.optuna, job.settings.study or job.name, worker, events, scorer, job.splits.dev)


def _budget(job: OptimizeJob, ledger: Ledger, executor: DebateExecutor) -> Budget:
    """The limits of the settings; what is not known before it is paid for is bounded by what the data can hold."""
    search = job.settings.search
    tokens = {item.id: len(item.read.encode()) // 2 for item in job.everything}
    longer = max(tokens.values()) - max(tokens[item.id] for item in job.splits.dev)
    longer += job.protocol.unheard(len(job.library.personas))
    context = executor.voice(REFLECTION).client.endpoint.context
    reading = min(context // 2 or MOST_READ_TOKENS, MOST_READ_TOKENS) + 8 * search.token_cap
    limits = allowances(search, ledger, longer, search.ahead * reading)
    return Budget(search.budget, DebateMeter(ledger), job.plan.test_calls, limits)


def _proposers(job: OptimizeJob, evaluator: Evaluator, budget: Budget, reflection: Reflection) -> list[Proposer]:
    search = job.settings.search
    alternatives = Alternatives(job.library.alternatives)
    if search.schedule == "exhaustive":
        return [alternatives]
    # Only where tokens have a price is the same in fewer of them worth anything.
    compression = [Compression(evaluator, budget, job.settings.seed)] if search.token_price else []
    return [alternatives, reflection, Crossover(), *compression]


def _resolved(
    settings: Settings,
    protocol: Protocol,
    library: PromptLibrary,
    components: Sequence[str],
    data: Data,
    splits: Splits,
    serving: ServingPlan,
) -> dict[str, Any]:
    """What decides the result: a run is only resumed when all of this is the same."""
    return {
        "v": 1,
        "kind": "optimize",
        "components": list(components),
        "seed": settings.seed,
        "data": {
            "name": settings.data,
            **data.record,
            **{
                name: _split_record(items)
                for name, items in (("train", splits.train), ("dev", splits.dev), ("test", splits.test))
            },
        },
        "prompts": dict(library.seeds),
        "alternatives": {name: {a.name: a.text for a in library.alternatives.get(name, ())} for name in components},
        "protocol": protocol.model_dump(),
        "search": settings.search.model_dump(),
        **(
            {"reflection": REFLECTION_VERSION} if settings.search.reflections and settings.search.schedule != "exhaustive" else {}
        ),
        **(
            {"reflection_program": program_hash(settings.search.reflection_program)} if settings.search.reflection_program else {}
        ),
        "model": panel_record(settings, serving),
        "in_flight": in_flight(settings, serving),
    }


def _split_record(items: Sequence[Item]) -> dict[str, Any]:
    return {"hash": items_hash(items), "items": [item.id for item in items]}


def _seconds_a_call(settings: Settings, serving: ServingPlan, cache: ResponseCache) -> float | None:
    """Wall time a call: from this model's last answers, else from the catalogue's measurement."""
    latency = cache.seconds_per_call(serving.endpoint.identity)
    if latency is not None:
        return latency / in_flight(settings, serving)
    model = embedded_choice(settings)
    return None if model is None else model.seconds_per_call

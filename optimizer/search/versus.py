"""Candidates against candidates outside a search: prompts from files, or a run's winner on another model or other data."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import optimizer
from optimizer.config import Settings, to_toml
from optimizer.data.datafile import Data, chosen_data
from optimizer.data.item import Item, items_hash, sealed_hash
from optimizer.data.splits import SHARES, split_items, spread, whole
from optimizer.debate.panel import open_panel, panel_record, plan_panel
from optimizer.debate.protocol import Protocol
from optimizer.errors import UsageError, UserError
from optimizer.models.ledger import Ledger
from optimizer.prompts.files import read_prompt, write_prompts
from optimizer.prompts.library import SOURCE_SKEPTICISM, chosen_library
from optimizer.runs.folder import RunFolder, open_run
from optimizer.runs.items import run_settings, run_splits
from optimizer.runs.seal import Contrast, SealRegister, often_opened
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator
from optimizer.stats.paired import paired_difference

ALL = "all"
_NOT_SEALED = ("train", "dev")  # what a search reads and decides on anyway


def chosen_items(settings: Settings, split: str, limit: int) -> Data:
    """The data with the items of a split (or all), at most `limit` of them (0: no limit) over as many clusters as possible.

    Raises:
        UsageError: there is no split of that name.
        UserError: the data cannot be read or divided.
    """
    if split != ALL and split not in SHARES:
        raise UsageError(f"unknown split {split!r}; valid are {', '.join(SHARES)} and {ALL}")
    data = chosen_data(settings)
    items = data.items
    if split != ALL:
        items = list(getattr(split_items(items, settings.seed, whole(settings.splits.model_dump())), split))
    return replace(data, items=spread(items, settings.seed, limit) if limit else items)


async def compare_prompts(
    settings: Settings,
    texts: Sequence[tuple[str, str]],
    split: str = ALL,
    limit: int = 0,
    fresh: bool = False,
    watcher: Watcher | None = None,
) -> RunFolder:
    """Hold the debates of every text on every item; the first text is the baseline. The same call again resumes.

    Args:
        settings: `persona` names the one component that the texts are for; the other texts are the library's seeds.
        texts: name and text of each prompt, at least two; names and texts must differ.
        split: train, dev, test, or all items of the data.
        limit: at most so many items; 0 takes all.

    Raises:
        UsageError: the texts are too few or the same, or the component is not one.
        UserError: data or server are not right, or the endpoint is gone.
    """
    library = chosen_library(settings)
    component = _one_component(library.components(settings.persona))
    seed = Candidate(library.seeds)
    candidates = [seed.with_text(component, text, name) for name, text in texts]
    data = chosen_items(settings, split, limit)
    return await _hold(
        settings, "compare", f"compare-{component}", candidates, data, split, {"component": component}, fresh, watcher
    )


async def transfer(
    run: RunFolder, settings: Settings, limit: int = 0, fresh: bool = False, watcher: Watcher | None = None
) -> RunFolder:
    """Hold the debates of a run's seed and winner under other settings: another model, or other data.

    On the run's own data these are its sealed test items; on other data all items, at most `limit` of them.

    Args:
        run: a finished search.
        settings: the run's own, with model, server or data replaced.

    Raises:
        UserError: the winner is the seed, nothing was replaced, or data or server are not right.
    """
    result, own = run.summary()["result"], run_settings(run)
    if result["winner"] == result["seed"]:
        raise UserError(f"{run.path}: the winner is the seed, so there is nothing to transfer")
    same_data = settings.data == own.data
    if same_data and (settings.model, settings.base_url) == (own.model, own.base_url):
        raise UserError(f"{run.path}: give --model, --base-url or --data; on the run's own model and data the result is known")
    data = replace(chosen_data(own), items=run_splits(run)["test"]) if same_data else chosen_items(settings, ALL, limit)
    order = list(run.resolved()["prompts"])
    candidates = [
        Candidate({name: read_prompt(run.candidate(result[who]) / f"{name}.md")[0] for name in order}, origin=who)
        for who in ("seed", "winner")
    ]
    split = "test" if same_data else ALL
    return await _hold(
        settings, "transfer", f"transfer-{run.name}", candidates, data, split, {"from": run.path.name}, fresh, watcher
    )


async def _hold(
    settings: Settings,
    kind: str,
    name: str,
    candidates: Sequence[Candidate],
    data: Data,
    split: str,
    more: Mapping[str, Any],
    fresh: bool,
    watcher: Watcher | None,
) -> RunFolder:
    watcher = watcher or Silent()
    _check(candidates)
    protocol = Protocol.of(settings.protocol)
    personas = [component for component in candidates[0].texts if component != SOURCE_SKEPTICISM]
    items = data.items
    planned = await plan_panel(settings, personas, items)
    resolved = {
        "v": 1,
        "kind": kind,
        **more,
        "data": {
            "name": settings.data,
            **data.record,
            "split": split,
            "hash": items_hash(items),
            "items": [item.id for item in items],
        },
        "prompts": {candidate.origin: dict(candidate.texts) for candidate in candidates},
        "protocol": protocol.model_dump(),
        "model": panel_record(settings, planned),
    }
    run, existed = open_run(Path(settings.runs), name, resolved, to_toml(settings), fresh)
    if run.finished:
        watcher.note(f"this comparison is finished: {run.path} (give --new for another)")
        return run
    watcher.note(f"{'resuming' if existed else 'run folder'} {run.path}")
    started = time.monotonic()
    recorded = run.debates() if run.events.exists() else []
    events, ledger = run.open_events(), Ledger(run.calls)
    watcher.begin(ledger, len(items) * protocol.calls(len(personas)) * len(candidates))
    try:
        async with open_panel(settings, planned, ledger, run.server_log, watcher.note) as executor:
            evaluator = Evaluator(executor, events, recorded, watcher)
            for candidate in candidates:
                watcher.phase(candidate.origin)
                await evaluator.evaluate(candidate, items)
                scores = evaluator.scores(candidate, items)
                watcher.note(f"{candidate.origin}: {sum(scores.values()):g} of {len(scores)} right")
        for candidate in candidates:
            write_prompts(run.candidate(candidate.id), candidate.texts)
        if split not in _NOT_SEALED:
            _register(run, candidates, items, evaluator, watcher)
        run.write_json(
            "summary.json",
            {
                "v": 1,
                "version": optimizer.__version__,
                "result": {
                    "seed": candidates[0].id,
                    "candidates": [{"id": each.id, "origin": each.origin, "component": each.component} for each in candidates],
                },
                "spent": {"seconds": round(time.monotonic() - started, 1), **dict(ledger.counts), **ledger.remarks},
            },
        )
    finally:
        events.close()
        ledger.close()
    return run


def _register(
    run: RunFolder, candidates: Sequence[Candidate], items: Sequence[Item], evaluator: Evaluator, watcher: Watcher
) -> None:
    """Write every contrast with the baseline into the seal register: these items are no longer unseen."""
    register, test_set = SealRegister(run.path.parent), sealed_hash(items)
    clusters = {item.id: item.cluster for item in items}
    baseline = evaluator.scores(candidates[0], items)
    for candidate in candidates[1:]:
        found = paired_difference(baseline, evaluator.scores(candidate, items), clusters)
        register.enter(
            Contrast(test_set, run.path.name, candidates[0].id, candidate.id, found.items, found.difference, found.p)
        )  # fmt: skip
    if said := often_opened(register, test_set):
        watcher.note(said)


def _one_component(components: Sequence[str]) -> str:
    if len(components) != 1:
        raise UsageError(f"prompts are compared for one component, but --persona names {', '.join(components)}")
    return components[0]


def _check(candidates: Sequence[Candidate]) -> None:
    if len(candidates) < 2:
        raise UsageError(f"a comparison takes two prompts or more, but got {len(candidates)}")
    names: set[str] = set()
    ids: dict[str, str] = {}
    for candidate in candidates:
        if candidate.origin in names:
            raise UsageError(f"two prompts are called {candidate.origin!r}; give them different file names")
        if candidate.id in ids:
            raise UsageError(f"prompts {ids[candidate.id]!r} and {candidate.origin!r} have the same text; leave one out")
        names.add(candidate.origin)
        ids[candidate.id] = candidate.origin

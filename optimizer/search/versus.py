"""Prompts against prompts: several texts for one component, each in the same panel on the same items."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import optimizer
from optimizer.config import Settings, to_toml
from optimizer.data.item import Item, items_hash
from optimizer.data.loaders import load_items
from optimizer.data.shipped import data_path
from optimizer.data.splits import SHARES, split_items, spread
from optimizer.debate.executor import DebateExecutor
from optimizer.debate.protocol import Protocol
from optimizer.errors import UsageError
from optimizer.models.cache import ResponseCache
from optimizer.models.client import ChatClient
from optimizer.models.ledger import Ledger
from optimizer.models.provision import cache_path, context_needed, in_flight, planned_endpoint, serving
from optimizer.prompts.library import load_library
from optimizer.runs.folder import RunFolder, open_run
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator
from optimizer.search.watch import Silent, Watcher

ALL = "all"


def chosen_items(settings: Settings, split: str, limit: int) -> list[Item]:
    """The items of a split (or all), at most `limit` of them (0: no limit) over as many clusters as possible.

    Raises:
        UsageError: there is no split of that name.
        UserError: the data cannot be read or divided.
    """
    items = load_items(data_path(settings.data), settings.columns, settings.label_map)
    if split != ALL:
        if split not in SHARES:
            raise UsageError(f"unknown split {split!r}; valid are {', '.join(SHARES)} and {ALL}")
        items = list(getattr(split_items(items, settings.seed, {}), split))
    return spread(items, settings.seed, limit) if limit else items


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
    watcher = watcher or Silent()
    library = load_library(Path(settings.prompts) if settings.prompts else None)
    component = _one_component(library.components(settings.persona))
    seed = Candidate(library.seeds)
    candidates = [seed.with_text(component, text, name) for name, text in texts]
    _check(candidates)
    items = chosen_items(settings, split, limit)
    protocol = Protocol.of(settings.protocol)
    context = context_needed((item.evidence_text + item.claim for item in items), settings.context)
    planned = await planned_endpoint(settings, context)
    resolved = {
        "v": 1,
        "kind": "compare",
        "component": component,
        "data": {"name": settings.data, "split": split, "hash": items_hash(items), "items": [item.id for item in items]},
        "prompts": {candidate.origin: dict(candidate.texts) for candidate in candidates},
        "protocol": protocol.model_dump(),
        "model": {"name": planned.model, "identity": planned.identity},
    }
    run, existed = open_run(Path(settings.runs), f"compare-{component}", resolved, to_toml(settings), fresh)
    if run.finished:
        watcher.note(f"this comparison is finished: {run.path} (give --new for another)")
        return run
    watcher.note(f"{'resuming' if existed else 'run folder'} {run.path}")
    started = time.monotonic()
    recorded = run.debates() if run.events.exists() else []
    events, ledger = run.open_events(), Ledger(run.calls)
    watcher.begin(ledger, len(items) * protocol.calls(len(library.personas)) * len(candidates))
    try:
        with ResponseCache(cache_path(settings)) as cache:
            async with serving(settings, planned, run.server_log, watcher.note) as endpoint:
                flights = in_flight(settings, endpoint)
                async with ChatClient(endpoint, cache, ledger, flights * 8, settings.timeout) as client:
                    evaluator = Evaluator(DebateExecutor(client, protocol, flights), events, recorded, watcher)
                    for candidate in candidates:
                        watcher.phase(candidate.origin)
                        await evaluator.evaluate(candidate, items)
                        scores = evaluator.scores(candidate, items)
                        watcher.note(f"{candidate.origin}: {sum(scores.values()):g}/{len(scores)} right")
        run.write_json(
            "summary.json",
            {
                "v": 1,
                "version": optimizer.__version__,
                "result": {
                    "seed": candidates[0].id,
                    "candidates": [
                        {"id": candidate.id, "origin": candidate.origin, "component": component} for candidate in candidates
                    ],
                },
                "spent": {"seconds": round(time.monotonic() - started, 1), **dict(ledger.counts)},
            },
        )
    finally:
        events.close()
        ledger.close()
    return run


def _one_component(components: Sequence[str]) -> str:
    if len(components) != 1:
        raise UsageError(f"prompts are compared for one component, but --persona names {', '.join(components)}")
    return components[0]


def _check(candidates: Sequence[Candidate]) -> None:
    if len(candidates) < 2:
        raise UsageError(f"a comparison takes two prompts or more, but got {len(candidates)}")
    names: dict[str, str] = {}
    ids: dict[str, str] = {}
    for candidate in candidates:
        if candidate.origin in names:
            raise UsageError(f"two prompts are called {candidate.origin!r}; give them different file names")
        if candidate.id in ids:
            raise UsageError(f"prompts {ids[candidate.id]!r} and {candidate.origin!r} have the same text; leave one out")
        names[candidate.origin] = ids[candidate.id] = candidate.origin

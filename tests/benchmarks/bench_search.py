"""The search against gepa on simulated landscapes, at equal total spend, our sealed test paid from ours.

Reported are true accuracies of what each returns, so the comparison is of prompts and not of claims; and of the claims, how often
they are wrong. One configuration of ours for all laws and budgets; gepa has, for each law and budget, the best of six.

    make bench ARGS="-k search"                      REPEATS=30 and NULL_RUNS=200 in the environment change the number of runs
    python -m tests.benchmarks.search_tables         the tables of docs/benchmarks.md, from the rows of that

Every run's row is kept in runs/bench_search.jsonl with a digest of the code that made it. The same command goes on where it was
interrupted, and after a change of the search only the search's own rows are made anew.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import math
import multiprocessing
import os
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import optimizer
from optimizer.search.ascent import Climb, CoordinateAscent
from optimizer.search.budget import Budget
from optimizer.search.candidate import Candidate
from optimizer.search.ending import compare_on_test
from tests.benchmarks.landscape import ITEMS, SEARCH, Landscape, Mutations, NoJournal, Rollouts
from tests.benchmarks.table import record

LAWS = ("coarse", "mixture", "fine", "null")
OTHER_LAWS = ("steep", "gentle", "mostly harm", "lopsided")
BUDGETS = (3000, 500, 1000, 2000)
PRICES = (5, 0, 20)
GEPA = tuple((val, minibatch) for val in (20, 50, 100) for minibatch in (3, 10))
TEST_SHARE = 0.2  # of the budget, for both prompts of the sealed test
REPEATS = int(os.environ.get("REPEATS", "30"))
NULL_RUNS = int(os.environ.get("NULL_RUNS", "200"))
LANDSCAPE = Path(__file__).with_name("landscape.py")
ROWS = Path(__file__).resolve().parents[2] / "runs" / "bench_search.jsonl"

Run = dict[str, Any]


def ours(law: str, seed: int, budget: int, price: float) -> Run:
    """One search of the product, and its sealed test."""
    landscape = Landscape(law, seed, price)
    rollouts, each = Rollouts(landscape), int(TEST_SHARE * budget / 2)
    start = Candidate({"prompt": landscape.start()})
    meter = Budget(budget, rollouts, 2 * each)
    ascent = CoordinateAscent(rollouts, [Mutations(landscape, budget - 2 * each)], Climb(ITEMS, seed=seed), meter, NoJournal())
    winner = asyncio.run(ascent.run(start, ["prompt"])).incumbent
    return ended(landscape, start.texts["prompt"], winner.texts["prompt"], each, law, seed, budget, price)


def ended(landscape: Landscape, start: str, winner: str, each: int, law: str, seed: int, budget: int, price: float) -> Run:
    """What a run is worth, and what its sealed test says; the claim by the product's own verdict, and at one-sided .05."""
    run = {"law": law, "seed": seed, "budget": budget, "price": price, "true": landscape.truth(winner)}
    if each:
        clusters = {str(number): str(number // 2) for number in range(each)}
        before, after = (
            {str(number): float(right) for number, right in enumerate(landscape.test(prompt, each))} for prompt in (start, winner)
        )
        result = compare_on_test(before, after, clusters, unchanged=start == winner)
        one_sided = result.difference.difference > 0 and result.difference.p <= 0.1 and start != winner
        run |= {"reported": result.winner.value, "claims": result.verdict == "better", "one_sided": one_sided}
    return run | {"spent": landscape.spent, "proposals": landscape.proposals, "started": landscape.truth(start)}


def gepa_run(law: str, seed: int, budget: int, price: float, val: int, minibatch: int, tested: bool = False) -> Run:
    """One run of gepa's own engine; `tested` keeps the share of our sealed test and opens it after."""
    import gepa

    landscape = Landscape(law, seed, price)
    start, each = landscape.start(), int(TEST_SHARE * budget / 2) if tested else 0
    limit = budget - 2 * each

    class Quiet:
        def log(self, message: str) -> None:
            return

    class Adapter:
        propose_new_texts = None

        def evaluate(self, batch: list[int], candidate: dict[str, str], capture_traces: bool = False) -> Any:
            scores = [float(landscape.rollout(candidate["prompt"], item)) for item in batch]
            return gepa.EvaluationBatch([None] * len(batch), scores, [{"prompt": candidate["prompt"]}] * len(batch))

        def make_reflective_dataset(self, candidate: dict[str, str], batch: Any, components: Iterable[str]) -> Any:
            shown = [{"Inputs": trace["prompt"], "Generated Outputs": "", "Feedback": ""} for trace in batch.trajectories]
            return dict.fromkeys(components, shown)

    def reflect(message: str) -> str:
        current = message.split("```\n", 1)[1].split("\n```", 1)[0]
        return f"```\n{landscape.propose(current)}\n```"

    items = list(range(SEARCH))
    random.Random(seed).shuffle(items)
    result = gepa.optimize(
        {"prompt": start}, items[val:], items[:val], adapter=Adapter(), reflection_lm=reflect,
        reflection_minibatch_size=minibatch, stop_callbacks=lambda state: landscape.spent >= limit, seed=seed, logger=Quiet(),
    )  # fmt: skip
    run = ended(landscape, start, result.best_candidate["prompt"], each, law, seed, budget, price)
    return {"reported": max(result.val_aggregate_scores), **run, "val": val, "minibatch": minibatch}


@cache
def digest(do: Callable[..., Run]) -> str:
    """Of all code that decides what such a run does: the landscape, and our search or gepa's version."""
    code = LANDSCAPE.read_text() + inspect.getsource(do) + inspect.getsource(ended)
    found = hashlib.sha256(f"{code}{TEST_SHARE}".encode())
    if do is gepa_run:
        found.update(version("gepa").encode())
    else:
        package = Path(optimizer.__file__).parent
        for path in sorted([*(package / "search").glob("*.py"), *(package / "stats").glob("*.py")]):
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


def kept(do: Callable[..., Run]) -> dict[str, Run]:
    """The runs on file that this code made, by their arguments."""
    rows = map(json.loads, ROWS.read_text(encoding="utf-8").splitlines()) if ROWS.exists() else ()
    return {json.dumps(row["job"]): row for row in rows if row.get("code") == digest(do) and row["by"] == do.__name__}


def all_of(do: Callable[..., Run], jobs: Sequence[tuple[Any, ...]]) -> list[Run]:
    """Runs in parallel, each on one thread, written down as they end; what is on file already is taken from there."""
    os.environ["OMP_NUM_THREADS"] = "1"
    ROWS.parent.mkdir(exist_ok=True)
    known = kept(do)
    missing = [job for job in jobs if json.dumps(job) not in known]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=context) as pool, ROWS.open("a", encoding="utf-8") as file:
        for job, run in zip(missing, pool.map(do, *zip(*missing, strict=True), chunksize=4) if missing else (), strict=True):
            row = {"by": do.__name__, "code": digest(do), "job": job, **run}
            known[json.dumps(job)] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
    return [known[json.dumps(job)] for job in jobs]


def mean(values: Iterable[float]) -> tuple[float, float]:
    """Mean and the half width of its 95 % interval."""
    listed = list(values)
    return statistics.fmean(listed), 1.96 * statistics.stdev(listed) / math.sqrt(len(listed))


def shown(values: Iterable[float]) -> str:
    return "{:.3f}±{:.3f}".format(*mean(values))


def test_search_finds_better_prompts_than_gepa_at_equal_spend() -> None:
    seeds = range(REPEATS)
    failures = []
    for price in PRICES:
        for budget in BUDGETS:
            for law in LAWS:
                mine = all_of(ours, [(law, seed, budget, price) for seed in seeds])
                by_setting = {
                    setting: all_of(gepa_run, [(law, seed, budget, price, *setting) for seed in seeds]) for setting in GEPA
                }
                setting = max(by_setting, key=lambda each: mean(run["true"] for run in by_setting[each])[0])
                best = by_setting[setting]
                tested = all_of(gepa_run, [(law, seed, budget, price, *setting, True) for seed in seeds])
                difference = mean(a["true"] - b["true"] for a, b in zip(mine, best, strict=True))
                record(
                    f"search, {law}, budget {budget}, price {price}, {REPEATS} seeds",
                    f"true {shown(run['true'] for run in mine)}, gepa {shown(run['true'] for run in best)} "
                    f"(val {setting[0]}, minibatch {setting[1]}; reports {shown(run['reported'] for run in best)}), "
                    f"gepa and sealed test {shown(run['true'] for run in tested)}",
                    "{:+.3f}±{:.3f}".format(*difference),
                )
                assert max(run["spent"] for run in mine) <= budget
                if (budget, price) == (3000, 5):
                    least = {"coarse": 0.83, "mixture": 0.55, "fine": 0.365}.get(law, 0.0)
                    if mean(run["true"] for run in mine)[0] < least:
                        failures.append(f"{law}: below {least}")
                    if law in ("coarse", "mixture") and difference[0] - difference[1] <= 0:
                        failures.append(f"{law}: not better than gepa")
                    if law == "fine" and difference[0] < 0:
                        failures.append("fine: worse than gepa")
    assert not failures


def test_search_claims_are_true() -> None:
    for law in (*LAWS, *OTHER_LAWS):
        runs = all_of(ours, [(law, 1000 + seed, 3000, 5) for seed in range(NULL_RUNS if law == "null" else 60)])
        bias = mean(run["reported"] - run["true"] for run in runs)
        claims, one_sided = sum(run["claims"] for run in runs), sum(run["one_sided"] for run in runs)
        record(
            f"search claims, {law}, budget 3000, price 5, {len(runs)} runs",
            f"start {shown(run['started'] for run in runs)}, true {shown(run['true'] for run in runs)}, "
            f"better said {claims} times, at one-sided .05 {one_sided} times",
            "reported minus true {:+.4f}±{:.4f}".format(*bias),
            "≤ .01",
        )
        assert abs(bias[0]) <= 0.01
        assert max(run["spent"] for run in runs) <= 3000
        if law == "null":
            assert one_sided <= 17 * len(runs) / 200
        if law == "coarse":
            assert claims >= 0.9 * len(runs)

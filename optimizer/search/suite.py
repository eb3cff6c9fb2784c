"""Measures a panel on every data set of a suite, each in a run folder of its own, so that the same call goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.analysis.suite import Scores
from optimizer.config import Settings
from optimizer.data.formats import PUBLISHED
from optimizer.data.item import Item
from optimizer.data.suites import Suite
from optimizer.debate.controls import Control
from optimizer.errors import UserError
from optimizer.runs.folder import RunFolder
from optimizer.runs.items import run_splits
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.score import PANEL, evaluate_panel

_PUBLISHED = frozenset(known.name for known in PUBLISHED)


@dataclass(frozen=True, slots=True)
class SuiteRuns:
    """The finished run of each data set by its name, and for the others why there is none."""

    finished: Mapping[str, RunFolder]
    failed: Mapping[str, str]


async def run_suite(
    settings: Settings,
    suite: Suite,
    references: Sequence[Control] = (Control.SINGLE,),
    repeats: int = 1,
    limit: int = 0,
    fresh: bool = False,
    watcher: Watcher | None = None,
) -> SuiteRuns:
    """Score the panel and its references on every data set. The same call again goes on, or finds the results.

    What goes wrong with one data set is noted, and the others are measured all the same.

    Args:
        settings: prompts, model, protocol; those of the data are the suite's.
        suite: its data sets are there.
        references, repeats, limit, fresh, watcher: as in evaluate_panel, for each data set.

    Raises:
        UserError: the same is wrong with every data set.
    """
    watcher = watcher or Silent()
    finished: dict[str, RunFolder] = {}
    errors: dict[str, UserError] = {}
    for number, each in enumerate(suite.benchmarks, 1):
        watcher.note(f"{each.name} ({number} of {len(suite.benchmarks)})")
        folder = f"benchmark-{suite.name}-{each.name}"
        try:
            run = await evaluate_panel(each.settings(settings), references, repeats, limit, fresh, watcher, folder)
        except UserError as error:
            watcher.note(f"{each.name}: {error}")
            errors[each.name] = error
        else:
            finished[each.name] = run
    if not finished and len({str(error) for error in errors.values()}) == 1:
        raise next(iter(errors.values()))
    return SuiteRuns(finished, {name: str(error) for name, error in errors.items()})


def suite_scores(runs: Mapping[str, RunFolder], reference: Control) -> list[Scores]:
    """What the panel and one reference scored in each run.

    Raises:
        UserError: a run has no such reference, or its data has changed since.
    """
    return [_scores(name, run, reference) for name, run in runs.items()]


def _scores(name: str, run: RunFolder, reference: Control) -> Scores:
    arms = {arm["arm"]: arm["scores"] for arm in run.summary()["arms"]}
    if reference not in arms:
        raise UserError(f"{run.path}: has not measured {reference}; it has {', '.join(arms)}")
    items = {item.id: item for item in run_splits(run)["items"]}
    panel, other = ({items[id].content_hash: score for id, score in arms[arm].items()} for arm in (PANEL, reference.value))
    clusters = {item.content_hash: _cluster(name, item) for item in items.values()}
    return Scores(name, run.path.name, panel, other, clusters)


def _cluster(name: str, item: Item) -> str:
    """Clusters of a published benchmark bear its name, in a mixture too; those of other files get that of their data set."""
    owner = item.cluster.partition(":")[0]
    return item.cluster if owner == item.source and owner in _PUBLISHED else f"{name}\n{item.cluster}"

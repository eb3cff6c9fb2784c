"""The library in a few functions, each twice: async, and plain for scripts and notebooks (also where an event loop runs already).

from optimizer.api import judge
from optimizer.data.item import Item

debates = judge([Item("a1", "The bridge opened in 1932.", ("It was opened in 1932.",), None, "bridge")])
print(debates[0].decision)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from optimizer.config import Settings
from optimizer.data.item import Item
from optimizer.debate.controls import Control
from optimizer.debate.executor import DebateJob
from optimizer.debate.panel import open_panel, plan_panel
from optimizer.debate.records import Debate
from optimizer.models.catalogue import cache_folder
from optimizer.models.ledger import Ledger
from optimizer.prompts.library import SOURCE_SKEPTICISM, chosen_library
from optimizer.runs.folder import RunFolder
from optimizer.search.candidate import Candidate
from optimizer.search.job import optimize as _optimize
from optimizer.search.job import prepare
from optimizer.search.score import evaluate_panel

T = TypeVar("T")


async def judge_async(
    items: Iterable[Item], settings: Settings | None = None, texts: Mapping[str, str] | None = None
) -> list[Debate]:
    """Hold a debate on each item, in their order; nothing is written but the response cache.

    Args:
        items: with or without labels.
        settings: model, servers, protocol, prompts; the defaults if left out.
        texts: component -> prompt, in the speaking order; the library's seeds if left out.

    Raises:
        UserError: a server, a model or a prompt is not right.
    """
    chosen = settings or Settings()
    panel = Candidate(dict(texts or chosen_library(chosen).seeds))
    asked = list(items)
    personas = [name for name in panel.texts if name != SOURCE_SKEPTICISM]
    plan = await plan_panel(chosen, personas, asked)
    log = cache_folder() / "server.log"
    async with open_panel(chosen, plan, Ledger(), log, lambda text: None) as executor:
        return await executor.run([DebateJob(item, panel.id, panel.texts) for item in asked], purpose="judge")


async def evaluate_async(settings: Settings, controls: Sequence[Control] = (Control.SINGLE,), limit: int = 0) -> RunFolder:
    """Score the panel of the settings on their data, as `optimizer evaluate` does; the run folder with its summary."""
    return await evaluate_panel(settings, controls, limit=limit)


async def optimize_async(settings: Settings) -> RunFolder:
    """Search better prompts, as `optimizer optimize` does; the run folder with winner and summary."""
    return await _optimize(await prepare(settings))


def judge(items: Iterable[Item], settings: Settings | None = None, texts: Mapping[str, str] | None = None) -> list[Debate]:
    """The same as judge_async, waiting for the result."""
    return wait_for(judge_async(items, settings, texts))


def evaluate(settings: Settings, controls: Sequence[Control] = (Control.SINGLE,), limit: int = 0) -> RunFolder:
    """The same as evaluate_async, waiting for the result."""
    return wait_for(evaluate_async(settings, controls, limit))


def optimize(settings: Settings) -> RunFolder:
    """The same as optimize_async, waiting for the result."""
    return wait_for(optimize_async(settings))


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop is running already (a notebook): then in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - handed to the caller below
            errors.append(error)

    thread = threading.Thread(target=run, name="optimizer-api")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]

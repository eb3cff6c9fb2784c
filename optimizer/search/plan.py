"""The plan: what a run will do, cost and be able to see, said before it costs anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from optimizer.data.item import Item
from optimizer.data.splits import Splits
from optimizer.debate.conditions import distinct_calls, first_round_requests
from optimizer.debate.executor import DebateExecutor, DebateJob
from optimizer.debate.protocol import Protocol
from optimizer.errors import UserError
from optimizer.models.client import NotCached
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.search.candidate import Candidate
from optimizer.search.ending import DISCORDANCE
from optimizer.search.objective import gained_on, kept_on
from optimizer.sections import SearchSettings
from optimizer.stats.noninferiority import items_for_margin
from optimizer.stats.power import detectable_gain, smallest_significant_gain

_FEW_CLUSTERS = 30
_BYTES_A_TOKEN, _TOKENS_BESIDE = 4.5, 180  # of English; persona, question, transcript and answer


@dataclass(frozen=True, slots=True)
class NotWorse:
    """Under conditions: debates of the test under true passages and none, and how many would rule out a loss of the margin."""

    margin: float
    items: int
    needed: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known before the run. Calls are different requests at the worst; `cached` of the seed's are there already.

    `proposals` is how many the budget buys at the least (each goes through all of dev) and at the most (each is dropped
    as soon as it can be). Sizes count debates, with variants of an item one each.
    `seconds` is None where nothing is known about the server's speed.
    """

    sizes: dict[str, int]
    clusters: dict[str, int]
    calls_a_debate: int
    seed_calls: int
    test_calls: int
    search_calls: int
    budget: int
    proposals: tuple[int, int]
    cached: int
    seconds: float | None
    smallest_gain: int | None
    detectable: float
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    not_worse: NotWorse | None = None


def make_plan(
    splits: Splits,
    components: Sequence[str],
    personas: Sequence[str],
    protocol: Protocol,
    settings: SearchSettings,
    cached: int,
    seconds_a_call: float | None,
    batch: int,
) -> Plan:
    """Work the plan out.

    Args:
        splits: the items of the run.
        components: what is searched.
        personas: who speaks in a debate.
        protocol: how the debates are held.
        settings: the budget, and whether there is reflection.
        cached: the seed's calls that are answered already.
        seconds_a_call: wall time a call with as many in flight as the run will have, or None.
        batch: debates after which a duel may end.

    Raises:
        UserError: the budget does not even buy the seed, one proposal and the sealed test.
    """
    calls_a_debate = protocol.calls(len(personas))
    budget, estimated = _calls_bought(settings, splits, seconds_a_call)
    sizes = {"train": len(splits.train), "dev": len(splits.dev), "test": len(splits.test)}
    clusters = {
        name: len({item.cluster for item in items})
        for name, items in (("train", splits.train), ("dev", splits.dev), ("test", splits.test))
    }
    train_calls = distinct_calls(splits.train, personas, protocol) if settings.reflections else 0
    seed_calls = distinct_calls(splits.dev, personas, protocol) + train_calls
    # In round 1, who is never changed says to the winner's panel what was said to the seed's, and is not asked again.
    alone = protocol.first_round_is_independent and SOURCE_SKEPTICISM not in components
    fixed = [name for name in personas if name not in components] if alone else []
    test_calls = 2 * distinct_calls(splits.test, personas, protocol) - len(first_round_requests(splits.test, fixed))
    search_calls = budget - seed_calls - test_calls
    dearest = distinct_calls(splits.dev, personas, protocol)
    if alone:  # a proposal changes one component
        asked = [len(first_round_requests(splits.dev, [name])) for name in personas]
        dearest -= sum(asked) - max(asked)
    # Dropped after one batch, and but for the changed persona all was said before.
    variants = len(splits.dev) // len({item.base for item in splits.dev})
    cheapest = min(batch * variants, sizes["dev"]) * protocol.least_rounds
    needed = seed_calls + test_calls + dearest
    if search_calls < dearest and not estimated:
        raise UserError(
            f"a budget of {budget} calls is too small: the sealed test takes up to {test_calls}, the seed {seed_calls}, "
            f"and one proposal up to {dearest}; give --budget {needed} or more, or smaller splits"
        )
    at_least = max(0, search_calls // dearest)
    warnings = [
        f"only {clusters[name]} clusters in {name}: intervals are rough under {_FEW_CLUSTERS}"
        for name in ("dev", "test")
        if clusters[name] < _FEW_CLUSTERS
    ]
    if at_least <= 1:
        warnings.append("the budget may buy a single proposal: that is no search; raise --budget")
    if estimated:
        enough = "" if search_calls >= dearest else f", and a search takes {needed} at the least"
        warnings.append(f"the budget in {estimated} buys about {budget} calls{enough}; what a call takes is seen when it is made")
    if settings.budget_minutes:
        warnings.append("a budget in minutes depends on the machine's speed: this run cannot be repeated exactly")
    to_pay = max(0, budget - cached)
    gaining, keeping = gained_on(splits.test), kept_on(splits.test)
    return Plan(
        sizes,
        clusters,
        calls_a_debate,
        seed_calls,
        test_calls,
        search_calls,
        budget,
        (at_least, max(at_least, search_calls // cheapest)),
        cached,
        None if seconds_a_call is None else to_pay * seconds_a_call,
        smallest_significant_gain(clusters["test"]),
        # Variants of an item say much the same: counted once, the power is not overstated.
        detectable_gain(len({item.base for item in gaining}), DISCORDANCE),
        tuple(warnings),
        not_worse=NotWorse(settings.margin, len(keeping), items_for_margin(settings.margin, DISCORDANCE)) if keeping else None,
    )


def _calls_bought(settings: SearchSettings, splits: Splits, seconds_a_call: float | None) -> tuple[int, str]:
    """How many calls the tightest limit buys, and its unit where that is an estimate; dollars are only known in the run."""
    items = (*splits.train, *splits.dev, *splits.test)
    bytes_an_item = fmean(len(item.read.encode()) for item in items)
    found = [(settings.budget, "")] if settings.budget else []
    if settings.budget_tokens:
        found.append((int(settings.budget_tokens / (bytes_an_item / _BYTES_A_TOKEN + _TOKENS_BESIDE)), "tokens"))
    if settings.budget_minutes and seconds_a_call:
        found.append((int(60 * settings.budget_minutes / seconds_a_call), "minutes"))
    if not found:
        raise UserError(
            "nothing is known about this server's speed, so a budget in minutes needs one in calls beside it: --budget"
        )
    return min(found)


async def count_cached(offline: DebateExecutor, seed: Candidate, items: Sequence[Item]) -> int:
    """How many of the seed's calls on these items the cache can answer; `offline` has an offline client with its own ledger."""
    for item in items:
        try:
            await offline.debate(DebateJob(item, seed.id, seed.texts))
        except NotCached:
            continue
    return offline.client.ledger.distinct

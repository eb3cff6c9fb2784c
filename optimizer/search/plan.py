"""The plan: what a run will do, cost and be able to see, said before it costs anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from optimizer.sections import WHOLE, SearchSettings
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
    as soon as it can be), as long as all start from the seed: of another parent, too, some of train is held before it is
    reflected on.
    Sizes count debates, with variants of an item one each.
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
    alternatives: int,
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
        alternatives: how many the library has for the components.

    Raises:
        UserError: the budget does not even buy the seed, one proposal and the sealed test; or exhaustive search has nothing to
            try.
    """
    if settings.schedule == "exhaustive" and not alternatives:
        raise UserError(
            f"search.schedule=exhaustive tries the alternatives, and there are none for {', '.join(components)}; put some into "
            "the prompt folder (alternatives/*.md), or take another schedule"
        )
    budget, estimated = _calls_bought(settings, splits, seconds_a_call)
    spending = _spending(splits, components, personas, protocol, settings, budget, batch, alternatives)
    if spending.search < spending.dearest and not estimated:
        raise UserError(
            f"a budget of {budget} calls is too small: the sealed test takes up to {spending.test}, the seed {spending.seed}, "
            f"and one proposal up to {spending.dearest}; give --budget {spending.needed} or more, or smaller splits"
        )
    clusters = {
        name: len({item.cluster for item in items})
        for name, items in (("train", splits.train), ("dev", splits.dev), ("test", splits.test))
    }
    gaining, keeping = gained_on(splits.test), kept_on(splits.test)
    return Plan(
        {"train": len(splits.train), "dev": len(splits.dev), "test": len(splits.test)},
        clusters,
        protocol.calls(len(personas)),
        spending.seed,
        spending.test,
        spending.search,
        budget,
        spending.proposals,
        cached,
        None if seconds_a_call is None else max(0, budget - cached) * seconds_a_call,
        smallest_significant_gain(clusters["test"]),
        # Variants of an item say much the same: counted once, the power is not overstated.
        detectable_gain(len({item.base for item in gaining}), DISCORDANCE),
        tuple(_warnings(clusters, spending, settings, budget, estimated, alternatives)),
        not_worse=NotWorse(settings.margin, len(keeping), items_for_margin(settings.margin, DISCORDANCE)) if keeping else None,
    )


@dataclass(frozen=True, slots=True)
class _Spending:
    """Calls at the worst: the seed on dev and train, the sealed test, what is left for the search, and its first proposal.

    `proposals` is as in `Plan`.
    """

    seed: int
    test: int
    search: int
    dearest: int
    proposals: tuple[int, int]

    @property
    def needed(self) -> int:
        return self.seed + self.test + self.dearest


def _spending(
    splits: Splits,
    components: Sequence[str],
    personas: Sequence[str],
    protocol: Protocol,
    settings: SearchSettings,
    budget: int,
    batch: int,
    alternatives: int,
) -> _Spending:
    dev, schedule = splits.dev, settings.schedule
    # Exhaustive search asks no model for texts, and gepa looks at a few items of train at a time.
    reads_train = settings.reflections != 0 and schedule not in ("exhaustive", "gepa")
    train = distinct_calls(splits.train, personas, protocol) if reads_train else 0
    everything = distinct_calls(dev, personas, protocol)
    # In round 1, who is never changed says to the winner's panel what was said to the seed's, and is not asked again.
    alone = protocol.first_round_is_independent and SOURCE_SKEPTICISM not in components
    fixed = [name for name in personas if name not in components] if alone else []
    test = 2 * distinct_calls(splits.test, personas, protocol) - len(first_round_requests(splits.test, fixed))
    search = budget - everything - train - test

    dearest = everything
    if alone:  # in round 1, who is not changed by a proposal says what was said before
        asked = {name: len(first_round_requests(dev, [name])) for name in personas}
        searched = [asked[name] for name in components]
        dearest -= sum(asked.values()) - (sum(searched) if schedule == "all_at_once" else max(searched))
    # At the least it is dropped after one batch, and but for the changed persona all was said before.
    variants = len(dev) // len({item.base for item in dev})
    cheapest = (len(dev) if schedule in WHOLE else min(batch * variants, len(dev))) * protocol.least_rounds
    if schedule == "gepa":  # parent and child on a minibatch, and a reflection in between
        dearest = (len(dev) + 2 * settings.minibatch) * protocol.calls(len(personas)) + 1  # what it waits for
        cheapest = settings.minibatch * protocol.least_rounds + 1
    writes = reads_train or (settings.token_price > 0 and schedule not in ("exhaustive", "gepa"))  # compression does, too
    writing = (len(components) if schedule == "all_at_once" else 1) if writes else 0
    at_least = max(0, (search - (settings.ahead - 1 if reads_train else 0)) // (dearest + writing))
    proposals = at_least, max(at_least, (search + train) // cheapest)  # all of train is read only at the worst
    if schedule == "exhaustive":
        most = alternatives * settings.sweeps
        proposals = min(proposals[0], most), min(proposals[1], most)
    return _Spending(everything + train, test, search, dearest if alternatives else dearest + writing, proposals)


def _warnings(
    clusters: Mapping[str, int], spending: _Spending, settings: SearchSettings, budget: int, estimated: str, alternatives: int
) -> Iterator[str]:
    for name in ("dev", "test"):
        if clusters[name] < _FEW_CLUSTERS:
            yield f"only {clusters[name]} clusters in {name}: intervals are rough under {_FEW_CLUSTERS}"
    at_least = spending.proposals[0]
    if settings.schedule == "exhaustive":
        if at_least < alternatives:
            yield f"the budget may not buy all {alternatives} alternatives, but only {at_least} of them: raise --budget"
    elif at_least <= 1:
        yield "the budget may buy a single proposal: that is no search; raise --budget"
    if estimated:
        enough = "" if spending.search >= spending.dearest else f", and a search takes {spending.needed} at the least"
        yield f"the budget in {estimated} buys about {budget} calls{enough}; what a call takes is seen when it is made"
    if settings.budget_minutes:
        yield "a budget in minutes depends on the machine's speed: this run cannot be repeated exactly"


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

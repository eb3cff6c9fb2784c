"""The search itself on a simulated landscape: it climbs, spends no more than it may, and depends on nothing but the answers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from statistics import fmean

import pytest

from optimizer.data.item import Item
from optimizer.errors import UserError
from optimizer.search.ascent import Climb, CoordinateAscent, SearchOutcome, best_shares
from optimizer.search.budget import Budget
from optimizer.search.candidate import Candidate
from optimizer.search.duel import duel_order
from optimizer.search.proposers import Context, Crossover, Proposed
from tests.benchmarks.landscape import ITEMS, Landscape, Mutations, NoJournal, Rollouts


def climb(law: str, seed: int, budget: int, scorer: type[Rollouts] = Rollouts) -> tuple[Landscape, SearchOutcome]:
    landscape = Landscape(law, seed, price=5)
    rollouts = scorer(landscape)
    search = CoordinateAscent(
        rollouts, [Mutations(landscape, budget)], Climb(ITEMS, seed=seed), Budget(budget, rollouts), NoJournal()
    )
    return landscape, asyncio.run(search.run(Candidate({"prompt": landscape.start()}), ["prompt"]))


def test_it_climbs_where_there_is_a_slope_and_spends_what_it_may() -> None:
    gains = []
    for seed in range(4):
        landscape, outcome = climb("coarse", seed, 900)
        assert landscape.spent <= 900
        assert outcome.stopped in ("budget spent", "all proposals tried")
        start, end = outcome.candidates[0], outcome.incumbent
        gains.append(landscape.truth(end.texts["prompt"]) - landscape.truth(start.texts["prompt"]))
    assert fmean(gains) > 0.2


@pytest.mark.parametrize("budget", [150, 160, 200, 303])
def test_a_small_budget_is_kept(budget: int) -> None:
    assert climb("coarse", 1, budget)[0].spent <= budget


class Jumbled(Rollouts):
    """Answers come back in another order every time."""

    async def evaluate(self, candidate: Candidate, items: Sequence[Item]) -> None:
        shuffled = list(items)
        random.shuffle(shuffled)
        await asyncio.sleep(0)
        await super().evaluate(candidate, shuffled)


def test_the_timing_of_answers_changes_nothing() -> None:
    _, first = climb("mixture", 2, 700)
    _, again = climb("mixture", 2, 700, Jumbled)
    assert [each.id for each in first.candidates] == [each.id for each in again.candidates]
    assert first.duels == again.duels


def test_informative_items_come_first_cluster_by_cluster() -> None:
    information = {item.id: 0.25 if int(item.id) % 10 < 4 else 0.01 for item in ITEMS}
    order = duel_order(ITEMS, "challenger", 0, information)
    first = [item.id for item in order[:20]]
    assert all(information[item] == 0.25 for item in first)
    clusters = [item.cluster for item in order[:20]]
    assert all(clusters[index] == clusters[index + 1] for index in range(0, 20, 2))
    assert sorted(item.id for item in order) == sorted(information)
    assert first != [item.id for item in duel_order(ITEMS, "another", 0, information)[:20]]


class Useless:
    """A model that answers with nothing."""

    kind = "reflection"

    def has_more(self, context: Context) -> bool:
        return True

    def price(self, contexts: Sequence[Context]) -> int:
        return 1

    async def propose(self, context: Context) -> Proposed:
        return Proposed(origin=f"reflection:{context.sample + 1}", problem="the reply is empty")


def test_reflection_that_gives_nothing_again_and_again_ends_the_run_with_its_reason() -> None:
    landscape = Landscape("null", 0)
    rollouts = Rollouts(landscape)
    search = CoordinateAscent(rollouts, [Useless()], Climb(ITEMS), Budget(500, rollouts), NoJournal())
    with pytest.raises(UserError, match="8 reflections in a row gave no usable prompt, the last: the reply is empty"):
        asyncio.run(search.run(Candidate({"prompt": landscape.start()}), ["prompt"]))


def test_crossover_gives_texts_of_other_panels_a_second_hearing_and_repeats_none() -> None:
    seed = Candidate({"a": "a0", "b": "b0"})
    dropped = seed.with_text("a", "a1", "reflection:1")
    leader = seed.with_text("b", "b1", "reflection:2")
    pool = [seed, dropped, leader]
    crossover = Crossover()
    context = Context(leader, "a", 0, 0, pool=pool)
    assert crossover.has_more(context)
    child = asyncio.run(crossover.propose(context)).candidate
    assert child is not None
    assert dict(child.texts) == {"a": "a1", "b": "b1"}
    assert not crossover.has_more(Context(leader, "a", 1, 1, pool=[*pool, child]))
    assert not Crossover().has_more(Context(seed, "a", 0, 0, pool=pool))  # the very candidate that was dropped


def test_the_front_shares_an_item_among_those_who_are_best_on_it() -> None:
    scores = {"a": {"1": 1.0, "2": 0.0, "3": 1.0}, "b": {"1": 1.0, "2": 1.0}, "c": {"1": 0.0}}
    assert best_shares(scores) == {"a": 0.5, "b": 1.5, "c": 0.0}
    assert best_shares({"a": {"1": 0.0}}) == {"a": 1.0}


class Alike(Rollouts):
    """All prompts are right on the same items."""

    async def evaluate(self, candidate: Candidate, items: Sequence[Item]) -> None:
        known = self._known.setdefault(candidate.id, {})
        for item in items:
            if item.id not in known:
                self.landscape.rollouts += 1
                known[item.id] = float(int(item.id) % 5 > 1)


class Writer:
    """Writes a text for whichever component it is asked for; remembers who was the parent and what was priced together."""

    kind = "writer"

    def __init__(self) -> None:
        self.parents: list[Candidate] = []
        self.priced: list[list[str]] = []

    def has_more(self, context: Context) -> bool:
        return context.number < 1

    def price(self, contexts: Sequence[Context]) -> int:
        self.priced.append([context.component for context in contexts])
        return len(contexts)

    async def propose(self, context: Context) -> Proposed:
        self.parents.append(context.parent)
        text = f"Another text for {context.component}."
        return Proposed(context.parent.with_text(context.component, text, "writer:1"), "writer:1")


def test_all_at_once_asks_about_one_parent_for_every_component_and_tries_the_texts_together() -> None:
    rollouts, writer = Alike(Landscape("null", 0)), Writer()
    climb = Climb(ITEMS[:40], schedule="all_at_once")
    search = CoordinateAscent(rollouts, [writer], climb, Budget(500, rollouts), NoJournal())
    seed = Candidate({"a": "The seed of a.", "b": "The seed of b."})
    outcome = asyncio.run(search.run(seed, ["a", "b"]))
    assert writer.parents == [seed, seed]  # a parent that nobody has tried would have to be held on train first
    assert writer.priced[0] == ["a", "b"]
    (child,) = outcome.candidates[1:]
    assert dict(child.texts) == {"a": "Another text for a.", "b": "Another text for b."}
    assert (child.component, child.parent) == ("a+b", seed.id)


class Shorter:
    """Takes a word off the end."""

    kind = "shorter"

    def has_more(self, context: Context) -> bool:
        return len(context.parent.texts["prompt"].split()) > 3 and context.number < 4

    def price(self, contexts: Sequence[Context]) -> int:
        return 1

    async def propose(self, context: Context) -> Proposed:
        text = context.parent.texts["prompt"].rsplit(" ", 1)[0]
        return Proposed(context.parent.with_text("prompt", text, f"shorter:{context.sample}"), f"shorter:{context.sample}")


@pytest.mark.parametrize(("price", "shortened"), [(0.0, False), (30.0, True)])
def test_fewer_tokens_lead_where_they_have_a_price_and_the_front_shows_them_in_any_case(price: float, shortened: bool) -> None:
    rollouts = Alike(Landscape("null", 0))
    climb = Climb(ITEMS[:40], token_price=price, readings=2)
    search = CoordinateAscent(rollouts, [Shorter()], climb, Budget(2000, rollouts), NoJournal())
    outcome = asyncio.run(search.run(Candidate({"prompt": "Judge with great care whether it really holds"}), ["prompt"]))
    assert (len(outcome.incumbent.texts["prompt"].split()) < 7) is shortened
    assert outcome.front[0].tokens == min(point.tokens for point in outcome.front)
    assert [point.expected for point in outcome.front] == sorted(point.expected for point in outcome.front)

"""The plan's figures for every schedule, and limits in dollars that leave room for longer items."""

from __future__ import annotations

import pytest

from optimizer.data.splits import Splits
from optimizer.debate.protocol import Protocol
from optimizer.errors import UserError
from optimizer.models.chat import CallTag, ChatReply
from optimizer.models.ledger import Ledger
from optimizer.search.budget import allowances
from optimizer.search.plan import Plan, make_plan
from optimizer.sections import Schedule, SearchSettings
from tests.conftest import make_items

PANEL = ("skeptic", "advocate", "expert")
ITEMS = make_items(60)
SPLITS = Splits(tuple(ITEMS[:10]), tuple(ITEMS[10:30]), tuple(ITEMS[30:60]))


def plan(schedule: Schedule, budget: int = 2000, reflections: int = -1, alternatives: int = 7) -> Plan:
    """Two rounds of three personas: six calls a debate, and one of the three is changed in round 1."""
    search = SearchSettings(budget=budget, schedule=schedule, reflections=reflections, minibatch=3)
    components = PANEL if schedule == "all_at_once" else ("skeptic",)
    return make_plan(SPLITS, components, PANEL, Protocol(rounds=2), search, 0, None, 4, alternatives)


# Dev takes 120 calls, or 80 where two of three say in round 1 what they said before; the test 360, or less 60 of such; train 60.
@pytest.mark.parametrize(
    ("schedule", "seed", "dearest"),
    [
        ("sequential", 180, 80 + 1),
        ("round_robin", 180, 80 + 1),
        ("random", 180, 80 + 1),
        ("exhaustive", 120, 80),
        ("all_at_once", 180, 120 + 3),
        ("gepa", 120, 80 + 36 + 1),
    ],
)
def test_at_the_least_every_proposal_takes_what_its_schedule_can_make_it_take(
    schedule: Schedule, seed: int, dearest: int
) -> None:
    found = plan(schedule, alternatives=100)
    test = 360 if schedule == "all_at_once" else 300
    assert (found.seed_calls, found.test_calls) == (seed, test)
    assert found.proposals[0] == (2000 - seed - test) // dearest
    assert found.proposals[0] <= found.proposals[1]


def test_exhaustive_search_buys_no_more_than_there_is_and_says_where_not_all_are_bought() -> None:
    assert plan("exhaustive").proposals == (7, 7)
    assert not any("alternatives" in warning for warning in plan("exhaustive").warnings)
    short = plan("exhaustive", budget=120 + 300 + 3 * 80)
    assert short.proposals == (3, 6)
    assert any("all 7 alternatives, but only the first 3" in warning for warning in short.warnings)


def test_a_budget_that_buys_no_proposal_is_refused_with_the_one_that_does() -> None:
    with pytest.raises(UserError, match="give --budget 560 or more"):
        plan("sequential", budget=500)
    assert plan("sequential", budget=560).proposals[0] == 0  # reflection costs more: only alternatives are sure to be paid


def test_dollars_leave_room_for_items_longer_than_any_that_was_paid() -> None:
    ledger = Ledger()
    search = SearchSettings(budget=9000, budget_usd=1.0)
    (limit,) = allowances(search, ledger, 100, 0)
    tag = CallTag("debate", "c", "i", "skeptic", 1)
    ledger.record("k", tag, ChatReply("yes", "stop", prompt_tokens=90, completion_tokens=10, cost=0.01), paid=True)
    assert limit.a_call() == pytest.approx(0.02)
    assert limit.calls == int((1.0 - 0.01 - 0.08) / 0.02)

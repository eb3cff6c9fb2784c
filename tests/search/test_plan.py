"""The plan's figures for every schedule, and limits in dollars that leave room for longer items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def plan(schedule: Schedule, components: Sequence[str] = ("skeptic",), alternatives: int = 7, **search: Any) -> Plan:
    """Two rounds of three personas: six calls a debate."""
    given: dict[str, Any] = {"budget": 2000, "schedule": schedule, "minibatch": 3, "reflections": -1, **search}
    return make_plan(SPLITS, components, PANEL, Protocol(rounds=2), SearchSettings(**given), 0, None, 4, alternatives)


# Dev takes 120 calls, or 80 where two of three say in round 1 what they said before; the test 360, or less 60 of such; train 60.
@pytest.mark.parametrize(
    ("schedule", "components", "seed", "test", "dearest"),
    [
        ("sequential", PANEL[:1], 180, 300, 80 + 1),
        ("round_robin", PANEL[:1], 180, 300, 80 + 1),
        ("random", PANEL[:1], 180, 300, 80 + 1),
        ("exhaustive", PANEL[:1], 120, 300, 80),
        ("all_at_once", PANEL[:1], 180, 300, 80 + 1),
        ("all_at_once", PANEL[:2], 180, 330, 100 + 2),
        ("all_at_once", PANEL, 180, 360, 120 + 3),
        ("gepa", PANEL[:1], 120, 300, 120 + 36 + 1),
    ],
)
def test_at_the_least_every_proposal_takes_what_its_schedule_can_make_it_take(
    schedule: Schedule, components: Sequence[str], seed: int, test: int, dearest: int
) -> None:
    found = plan(schedule, components, alternatives=100)
    assert (found.seed_calls, found.test_calls) == (seed, test)
    assert found.proposals[0] == (2000 - seed - test) // dearest
    assert found.proposals[0] <= found.proposals[1]


def test_exhaustive_search_buys_no_more_than_there_is_and_says_where_not_all_are_bought() -> None:
    assert plan("exhaustive").proposals == (7, 7)
    assert not any("alternatives" in warning for warning in plan("exhaustive").warnings)
    short = plan("exhaustive", budget=120 + 300 + 3 * 80)
    assert short.proposals == (3, 6)
    assert any("all 7 alternatives, but only 3 of them" in warning for warning in short.warnings)
    with pytest.raises(UserError, match="there are none for skeptic"):
        plan("exhaustive", alternatives=0)


def test_a_budget_that_buys_no_proposal_is_refused_with_the_one_that_does() -> None:
    with pytest.raises(UserError, match="give --budget 560 or more"):
        plan("sequential", budget=500)
    assert plan("sequential", budget=560).proposals[0] == 0  # reflection costs more: only alternatives are sure to be paid
    with pytest.raises(UserError, match="give --budget 561 or more"):
        plan("sequential", budget=560, alternatives=0)


def test_what_writing_costs_is_counted_where_something_is_written() -> None:
    assert plan("sequential", budget=480 + 20 * 81).proposals[0] == 20
    assert plan("sequential", budget=480 + 20 * 81, ahead=8).proposals[0] == 19  # seven more are asked before the first is tried
    assert plan("sequential", budget=420 + 20 * 80, reflections=0).proposals[0] == 20
    assert plan("sequential", budget=420 + 20 * 80, reflections=0, token_price=0.1).proposals[0] == 19  # compression asks, too


def test_dollars_leave_room_for_items_longer_than_any_that_was_paid() -> None:
    ledger = Ledger()
    search = SearchSettings(budget=9000, budget_usd=1.0)
    (limit,) = allowances(search, ledger, 100, 0)
    tag = CallTag("debate", "c", "i", "skeptic", 1)
    ledger.record("k", tag, ChatReply("yes", "stop", prompt_tokens=90, completion_tokens=10, cost=0.01), paid=True)
    assert limit.a_call() == pytest.approx(0.02)
    assert limit.calls == int((1.0 - 0.01 - 0.08) / 0.02)

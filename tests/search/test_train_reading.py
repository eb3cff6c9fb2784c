"""Which train debates are held for reflection: likely mistakes first, no more than wanted, never beyond the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from optimizer.data.item import Item, Label, Shown
from optimizer.debate.executor import DebateExecutor, DebateJob
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.runs.events import EventLog
from optimizer.search.budget import Budget, BudgetSpent
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator
from optimizer.search.train_reading import TrainReading
from tests.conftest import make_items

SEED = Candidate({"expert": "Check."})
CHILD = SEED.with_text("expert", "Check it.", "reflection:1")
GRANDCHILD = CHILD.with_text("expert", "Check it well.", "reflection:2")
POOL = (SEED, CHILD, GRANDCHILD)


@dataclass
class Panel:
    """One judge that is wrong where it is told to be; each debate is one call."""

    wrong: dict[str, set[str]]
    failing: set[str] = field(default_factory=set)
    held: list[tuple[str, str]] = field(default_factory=list)
    protocol: Protocol = field(default_factory=lambda: Protocol(rounds=1))
    in_flight: int = 4

    @property
    def distinct(self) -> int:
        return len(self.held)

    async def run(self, jobs: Sequence[DebateJob], done: Callable[[Debate], None]) -> None:
        for job in jobs:
            self.held.append((job.candidate, job.item.id))
            label = job.item.label
            if job.item.id in self.wrong.get(job.candidate, ()):
                label = Label.NOT_GROUNDED if label == Label.GROUNDED else Label.GROUNDED
            failure = "no answer" if job.item.id in self.failing else ""
            done(Debate(job.item.id, job.candidate, 0, (), None if failure else label, failure=failure))

    def asked(self, candidate: Candidate) -> list[str]:
        return [item for who, item in self.held if who == candidate.id]


@pytest.fixture
def events(tmp_path: Path) -> Iterator[EventLog]:
    log = EventLog(tmp_path / "events.jsonl")
    yield log
    log.close()


def read(panel: Panel, events: EventLog, train: Sequence[Item]) -> tuple[TrainReading, Callable[..., list[str]]]:
    """What holds the debates, and a way to have it show the ids of the mistakes that are known then."""
    reading = TrainReading(Evaluator(cast("DebateExecutor", panel), events), train)

    def mistakes(parent: Candidate, wanted: int, limit: int = 1000, reserve: int = 1) -> list[str]:
        lessons = asyncio.run(reading.lessons(parent, POOL, wanted, Budget(limit, panel), reserve))
        return sorted(lesson.item.id for lesson in lessons if not lesson.right)

    return reading, mistakes


def test_the_seed_is_held_until_enough_mistakes_are_known_and_goes_on_from_there(events: EventLog) -> None:
    items = make_items(40)
    panel = Panel({SEED.id: {item.id for item in items[::2]}})
    reading, mistakes = read(panel, events, items)
    assert reading.price(SEED, POOL, 4) == 8
    assert len(mistakes(SEED, 4)) >= 4
    held = len(panel.held)
    assert held <= 16
    assert reading.price(SEED, POOL, 4) == 0
    mistakes(SEED, 4)
    assert len(panel.held) == held  # nothing was missing
    assert len(mistakes(SEED, 8)) >= 8
    assert held < len(panel.held) == len(set(panel.held)) < 40


def test_a_child_is_asked_first_where_its_nearest_ancestor_was_wrong(events: EventLog) -> None:
    items = make_items(40)
    inherited, mended = {"item-1", "item-2", "item-3", "item-4", "item-5", "item-6"}, {"item-5", "item-6"}
    panel = Panel({SEED.id: inherited | {"item-30"}, CHILD.id: inherited | {"item-20"}, GRANDCHILD.id: inherited - mended})
    reading, mistakes = read(panel, events, items)
    asyncio.run(reading.evaluator.evaluate(SEED, items))
    assert set(mistakes(CHILD, 5)) <= inherited
    assert set(panel.asked(CHILD)) <= inherited | {"item-30"}
    # What the child got right counts as right, though the seed was wrong on it.
    asyncio.run(reading.evaluator.evaluate(CHILD, [items[30]]))
    assert mistakes(GRANDCHILD, 4) == sorted(inherited - mended)
    assert set(panel.asked(GRANDCHILD)) <= inherited


def test_what_ancestors_got_right_is_asked_only_where_hardly_a_mistake_is_known(events: EventLog) -> None:
    items = make_items(20)
    panel = Panel({SEED.id: {"item-0", "item-1", "item-2"}, CHILD.id: {"item-0", "item-1"}, GRANDCHILD.id: {"item-9"}})
    reading, mistakes = read(panel, events, items)
    asyncio.run(reading.evaluator.evaluate(SEED, items))
    assert mistakes(CHILD, 4) == ["item-0", "item-1"]
    assert sorted(panel.asked(CHILD)) == ["item-0", "item-1", "item-2"]
    # One mistake is little: the search for a second goes through all of train.
    assert mistakes(GRANDCHILD, 4) == ["item-9"]
    assert sorted(panel.asked(GRANDCHILD)) == sorted(item.id for item in items)


def test_a_faultless_candidate_is_known_only_when_all_of_train_was_held(events: EventLog) -> None:
    reading, mistakes = read(Panel({}), events, make_items(10))
    asyncio.run(reading.evaluator.evaluate(SEED, reading.train[:9]))
    assert not reading.faultless(SEED)
    assert mistakes(SEED, 4) == []
    assert reading.faultless(SEED)


def test_the_budget_ends_it_with_what_is_known_or_without_anything(events: EventLog) -> None:
    items = make_items(40)
    panel = Panel({SEED.id: {item.id for item in items}, CHILD.id: set()})
    _, mistakes = read(panel, events, items)
    assert len(mistakes(SEED, 4, limit=10, reserve=2)) == 8
    assert len(mistakes(SEED, 12, limit=10, reserve=2)) == 8  # the next piece cannot be paid
    with pytest.raises(BudgetSpent):
        mistakes(CHILD, 4, limit=17, reserve=2)
    assert len(panel.held) == 8


def test_failed_debates_show_nothing_and_are_held_again(events: EventLog) -> None:
    items = make_items(6)
    panel = Panel({SEED.id: {"item-0", "item-3"}}, failing={"item-3"})
    _, mistakes = read(panel, events, items)
    assert mistakes(SEED, 4) == ["item-0"]
    panel.failing.clear()
    assert mistakes(SEED, 4) == ["item-0", "item-3"]
    assert panel.asked(SEED).count("item-3") == 2
    assert len(panel.held) == 7


def test_variants_of_an_item_are_held_together_and_are_one_mistake(events: EventLog) -> None:
    items = [
        replace(item, id=f"{item.id}@{condition}", shown=Shown(item.id, condition, passage, to))
        for item in make_items(20)
        for condition, passage, to in (("0", "", ()), ("F1", "It is said to be so.", ("expert",)))
    ]
    panel = Panel({SEED.id: {item.id for item in items}})
    reading, mistakes = read(panel, events, items)
    assert reading.price(SEED, POOL, 2) == 8
    assert len(mistakes(SEED, 2)) == 8
    bases = [item.split("@")[0] for item in panel.asked(SEED)]
    assert sorted(bases) == sorted(2 * list(dict.fromkeys(bases)))
    assert len(mistakes(SEED, 4)) == 8  # four items went wrong

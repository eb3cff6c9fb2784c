"""Debates on a scripted server: who hears what, what a failure does, and how the controls vote."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from optimizer.data.item import Item, Label
from optimizer.debate.controls import Control, run_control
from optimizer.debate.executor import DebateExecutor, DebateJob
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate, debate_from_json
from optimizer.debate.verdict import Outcome
from optimizer.models.cache import ResponseCache
from optimizer.models.client import ChatClient
from optimizer.models.endpoint import Endpoint
from optimizer.models.ledger import Ledger
from tests.conftest import Scripted, answer, completion, make_items

TEXTS = {"skeptic": "Doubt it.", "advocate": "Defend it.", "expert": "Check it.", "source_skepticism": "Trust nobody."}


def hold(server: Scripted, items: list[Item], ledger: Ledger | None = None, slots: int = 0, **texts: str) -> list[Debate]:
    async def go() -> list[Debate]:
        endpoint = Endpoint(server.base_url, "scripted", "identity", slots=slots)
        async with ChatClient(endpoint, ResponseCache(":memory:"), ledger or Ledger(), attempts=1, patience=99) as client:
            executor = DebateExecutor(client, Protocol(), in_flight=3)
            return await executor.run([DebateJob(item, "cand", {**TEXTS, **texts}) for item in items])

    return asyncio.run(go())


def user_text(body: dict[str, Any]) -> str:
    return str(body["messages"][1]["content"])


def test_round_two_hears_all_of_round_one_and_the_majority_decides(server: Scripted) -> None:
    server.script = lambda body: answer("no" if "Doubt it." in user_text(body) else "yes")
    debate = hold(server, make_items(1))[0]
    assert [(turn.persona, turn.round) for turn in debate.turns] == [
        (p, r) for r in (1, 2) for p in ("skeptic", "advocate", "expert")
    ]
    second = [user_text(body) for body in server.requests if "round 1" in user_text(body)]
    assert len(second) == 3
    assert all("Skeptic: no\nAdvocate: yes\nExpert: yes" in text for text in second)
    assert (debate.decision, debate.rule) == (Label.GROUNDED, "majority")


def test_records_come_back_in_the_order_of_the_jobs_and_survive_json(server: Scripted) -> None:
    items = make_items(7)
    debates = hold(server, items)
    assert [debate.item for debate in debates] == [item.id for item in items]
    assert debate_from_json(json.loads(json.dumps(debates[0].to_json()))) == debates[0]


def test_several_debates_are_in_flight_and_with_slots_each_asks_one_call_at_a_time(server: Scripted) -> None:
    hold(server, make_items(8), slots=2)
    assert 1 < server.most_at_once <= 3
    assert len(server.requests) == 48


def test_a_failed_call_makes_the_debate_failed_and_unscored(server: Scripted) -> None:
    server.script = lambda body: (400, {}, "too long") if "number 1 " in user_text(body) else answer("yes")
    first, second = hold(server, make_items(2))
    assert (first.outcome, first.score(make_items(2)[0])) == (Outcome.OK, 1.0)
    assert second.failed
    assert "too long" in second.failure
    assert second.score(make_items(2)[1]) is None


def test_answers_that_are_no_votes_leave_no_decision_which_is_wrong(server: Scripted) -> None:
    server.script = lambda body: completion("", "length")
    debate = hold(server, make_items(1))[0]
    assert (debate.decision, debate.rule, debate.score(make_items(1)[0])) == (None, "abstain", 0.0)
    assert {turn.verdict.outcome for turn in debate.turns} == {Outcome.TRUNCATED}


def test_a_changed_persona_pays_for_nothing_that_was_said_before(server: Scripted) -> None:
    ledger = Ledger()

    async def go() -> None:
        endpoint = Endpoint(server.base_url, "scripted", "identity")
        async with ChatClient(endpoint, ResponseCache(":memory:"), ledger) as client:
            executor = DebateExecutor(client, Protocol())
            await executor.run([DebateJob(make_items(1)[0], "one", TEXTS)])
            await executor.run([DebateJob(make_items(1)[0], "two", {**TEXTS, "skeptic": "Doubt it more."})])

    asyncio.run(go())
    # The skeptic speaks twice anew; it says the same in round 1, so the others hear the same and are not asked again.
    assert ledger.counts["paid"] == 8
    assert ledger.counts["hits"] == 4


def control(server: Scripted, which: Control) -> tuple[Debate, Ledger]:
    ledger = Ledger()

    async def go() -> list[Debate]:
        async with ChatClient(Endpoint(server.base_url, "scripted", "identity"), ResponseCache(":memory:"), ledger) as client:
            found: list[Debate] = []
            await run_control(DebateExecutor(client, Protocol()), which, make_items(1), 3, found.append)
            return found

    return asyncio.run(go())[0], ledger


def test_the_single_judge_is_asked_once_without_a_persona(server: Scripted) -> None:
    debate, ledger = control(server, Control.SINGLE)
    assert (ledger.counts["paid"], debate.decision) == (1, Label.GROUNDED)
    assert "Doubt" not in user_text(server.requests[0])


def test_self_consistency_takes_as_many_samples_as_a_debate_has_calls(server: Scripted) -> None:
    replies = iter(["yes", "no", "no", "no", "no", "yes"])
    server.script = lambda body: answer(next(replies))
    debate, ledger = control(server, Control.SELF_CONSISTENCY)
    assert ledger.counts["paid"] == 6
    assert {body["temperature"] for body in server.requests} == {0.7}
    assert len({body["seed"] for body in server.requests}) == 6
    assert (debate.decision, debate.rule) == (Label.NOT_GROUNDED, "majority")


def test_a_tie_in_self_consistency_takes_the_first_sample_and_is_counted(server: Scripted) -> None:
    replies = iter(["no", "yes"] * 3)
    server.script = lambda body: answer(next(replies))
    debate, _ = control(server, Control.SELF_CONSISTENCY)
    assert (debate.decision, debate.rule) == (Label.NOT_GROUNDED, "tie")

"""The settings of a debate: who speaks when, who hears what, how it ends, and how votes are counted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from optimizer.data.item import Label
from optimizer.debate.aggregate import decide
from optimizer.debate.executor import DebateExecutor, DebateJob
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.models.cache import ResponseCache
from optimizer.models.client import ChatClient
from optimizer.models.endpoint import Endpoint
from optimizer.models.ledger import Ledger
from tests.conftest import Scripted, answer, make_items

TEXTS = {"skeptic": "Doubt it.", "advocate": "Defend it.", "expert": "Check it."}
VOTES = {"Doubt it.": ("no", 90), "Defend it.": ("yes", 30), "Check it.": ("yes", 40)}


def hold(server: Scripted, protocol: Protocol, count: int = 1) -> list[Debate]:
    async def go() -> list[Debate]:
        endpoint = Endpoint(server.base_url, "scripted", "identity")
        async with ChatClient(endpoint, ResponseCache(":memory:"), Ledger(), attempts=1) as client:
            return await DebateExecutor(client, protocol).run([DebateJob(item, "cand", TEXTS) for item in make_items(count)])

    return asyncio.run(go())


def text_of(body: dict[str, Any]) -> str:
    return str(body["messages"][1]["content"])


def votes(body: dict[str, Any]) -> Any:
    return answer(*next(vote for text, vote in VOTES.items() if text in text_of(body)))


def heard(server: Scripted, persona: str, number: int) -> str:
    """What a persona was told before it spoke in a round, as the lines of the transcript."""
    own = [text_of(body) for body in server.requests if TEXTS[persona] in text_of(body)]
    text = own[number - 1]
    return text.split("The panel's answers", 1)[1].split("\n\n")[0] if "The panel's answers" in text else ""


def test_a_sequential_speaker_has_heard_who_spoke_before_in_the_round(server: Scripted) -> None:
    server.script = votes
    hold(server, Protocol(turns="sequential", rounds=1))
    assert heard(server, "skeptic", 1) == ""
    assert heard(server, "advocate", 1) == " in round 1:\nSkeptic: no"
    assert heard(server, "expert", 1) == " in round 1:\nSkeptic: no\nAdvocate: yes"


@pytest.mark.parametrize(
    ("visibility", "expected"),
    [
        ("all", "Skeptic: no (confidence 90)\nAdvocate: yes (confidence 30)\nExpert: yes (confidence 40)"),
        ("others_verdicts", "Advocate: yes\nExpert: yes"),
        ("none", ""),
        ("blind_last", ""),
    ],
)
def test_a_persona_hears_what_is_visible(server: Scripted, visibility: str, expected: str) -> None:
    server.script = votes
    hold(server, Protocol(visibility=visibility, shared=("verdict", "confidence")))  # type: ignore[arg-type]
    if visibility in ("none", "blind_last"):
        # A round that hears nothing asks what round 1 asked, and is not paid for again.
        assert len(server.requests) == 3
    else:
        assert heard(server, "skeptic", 2).removeprefix(" in round 1:\n") == expected


def test_only_the_last_round_is_blind(server: Scripted) -> None:
    server.script = votes
    hold(server, Protocol(visibility="blind_last", rounds=3))
    assert "round 1" in heard(server, "skeptic", 2)
    assert len(server.requests) == 6


def test_the_random_order_differs_between_items_and_not_between_rounds_or_runs(server: Scripted) -> None:
    server.script = votes
    protocol = Protocol(speaking_order="random", order_seed=3)
    debates = hold(server, protocol, 12)
    orders = {tuple(turn.persona for turn in debate.turns if turn.round == 1) for debate in debates}
    assert len(orders) > 1
    for debate in debates:
        assert [t.persona for t in debate.turns if t.round == 1] == [t.persona for t in debate.turns if t.round == 2]
    assert [d.turns for d in hold(server, protocol, 12)] == [d.turns for d in debates]
    other = Protocol(speaking_order="random", order_seed=4)
    names = [f"item-{n}" for n in range(12)]
    assert [protocol.order(list(TEXTS), name) for name in names] != [other.order(list(TEXTS), name) for name in names]


def test_a_unanimous_round_ends_the_debate_where_that_is_set(server: Scripted) -> None:
    server.script = lambda body: answer("yes")
    debate = hold(server, Protocol(early_stop=True, rounds=3))[0]
    assert (debate.last_round, len(debate.turns), debate.decision) == (1, 3, Label.GROUNDED)
    server.script = votes
    assert hold(server, Protocol(early_stop=True, rounds=3))[0].last_round == 3


def test_ternary_answers_may_be_unsure_which_is_no_vote(server: Scripted) -> None:
    server.script = lambda body: answer("unsure" if "Doubt it." not in text_of(body) else "no")
    debate = hold(server, Protocol(labels="ternary"))[0]
    assert (debate.decision, debate.rule) == (Label.NOT_GROUNDED, "veto")
    assert [turn.verdict.outcome for turn in debate.turns[:2]] == [Outcome.OK, Outcome.ABSTAINED]
    assert '"yes", "no" or "unsure"' in server.requests[0]["messages"][0]["content"]
    assert server.requests[0]["response_format"]["json_schema"]["schema"]["properties"]["verdict"]["enum"] == [
        "yes",
        "no",
        "unsure",
    ]
    assert "Advocate: unsure" in heard(server, "skeptic", 2)


def test_the_sampling_that_is_set_is_sent(server: Scripted) -> None:
    hold(server, Protocol(temperature=0.7, top_p=0.9))
    assert {(body["temperature"], body["top_p"]) for body in server.requests} == {(0.7, 0.9)}


G, N = Verdict(Outcome.OK, Label.GROUNDED, 30), Verdict(Outcome.OK, Label.NOT_GROUNDED, 90)
LOST = Verdict(Outcome.UNPARSED, detail="none")


@pytest.mark.parametrize(
    ("aggregator", "verdicts", "expected"),
    [
        ("rule", (N, G, LOST), (Label.NOT_GROUNDED, "veto")),
        ("majority", (N, G, LOST), (None, "abstain")),
        ("majority", (N, G, G), (Label.GROUNDED, "majority")),
        ("confidence", (N, G, G), (Label.NOT_GROUNDED, "confidence")),
        ("confidence", (LOST, LOST, LOST), (None, "abstain")),
        ("confidence", (Verdict(Outcome.OK, Label.NOT_GROUNDED), Verdict(Outcome.OK, Label.GROUNDED), LOST), (None, "abstain")),
        ("last_speaker", (N, N, G), (Label.GROUNDED, "last speaker")),
        ("last_speaker", (N, N, LOST), (None, "abstain")),
        ("last_speaker", (), (None, "abstain")),
    ],
)
def test_aggregators(aggregator: Any, verdicts: tuple[Verdict, ...], expected: tuple[Label | None, str]) -> None:
    named = dict(zip(("skeptic", "advocate", "expert"), verdicts, strict=False))
    assert decide(named, aggregator) == expected


@pytest.mark.parametrize(
    "settings",
    [
        {"labels": "ternary", "unsure": "No"},
        {"aggregator": "confidence", "fields": ("verdict",), "shared": ("verdict",)},
        {"rounds": 6},
        {"top_p": 0},
        {"visibility": "some"},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Protocol(**settings)

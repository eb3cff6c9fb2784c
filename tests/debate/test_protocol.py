"""The settings of a debate: who speaks when, who hears what, how it ends, and how votes are counted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from optimizer.config import ConfigError, load_settings
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
from tests.conftest import Scripted, answer, completion, make_items

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
        ("ballot", (N, G, G), (Label.GROUNDED, "most votes")),
        ("ballot", (N, LOST, LOST), (Label.NOT_GROUNDED, "most votes")),
        ("ballot", (N, G, LOST), (None, "abstain")),
        ("ballot", (), (None, "abstain")),
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


def ballots(server: Scripted) -> list[dict[str, Any]]:
    return [body for body in server.requests if "These final answers were given" in text_of(body)]


def test_a_ballot_is_held_where_answers_differ_and_its_votes_decide(server: Scripted) -> None:
    def persuaded(body: dict[str, Any]) -> Any:
        return answer("no") if "Your vote is secret" in text_of(body) else votes(body)

    server.script = persuaded
    debate = hold(server, Protocol(aggregator="ballot", rounds=2, vote_from=1))[0]
    assert (debate.decision, debate.rule, debate.last_round) == (Label.NOT_GROUNDED, "most votes", 1)
    assert [turn.verdict.label for turn in debate.turns] == [Label.NOT_GROUNDED, Label.GROUNDED, Label.GROUNDED]
    assert [turn.persona for turn in debate.ballots] == ["skeptic", "advocate", "expert"]
    assert len(set(debate.keys)) == len(server.requests) == 6
    asked = [text_of(body) for body in ballots(server)]
    assert all("Skeptic: no\nAdvocate: yes\nExpert: yes" in text for text in asked)  # all have read the round, own turn too
    assert len({text.split("were given:\n")[1].split("\nVote")[0] for text in asked}) == 1


def test_equal_answers_need_no_ballot(server: Scripted) -> None:
    server.script = lambda body: answer("yes")
    debate = hold(server, Protocol(aggregator="ballot", rounds=3, vote_from=2))[0]
    assert (debate.decision, debate.last_round, debate.ballots) == (Label.GROUNDED, 2, ())
    assert len(server.requests) == 6


def test_a_tied_ballot_is_no_decision_and_the_debate_goes_on(server: Scripted) -> None:
    def tied(body: dict[str, Any]) -> Any:
        if "Your vote is secret" in text_of(body) and TEXTS["expert"] in text_of(body):
            return answer("perhaps")  # on no ballot
        return votes(body)

    server.script = tied
    debate = hold(server, Protocol(aggregator="ballot", rounds=2))[0]
    assert (debate.decision, debate.rule, debate.last_round) == (None, "abstain", 2)
    assert [turn.round for turn in debate.ballots] == [1, 1, 1, 2, 2, 2]
    assert len(server.requests) == Protocol(aggregator="ballot", rounds=2).calls(3) == 12
    second = text_of(ballots(server)[-1])
    assert second.count("Expert:") == 2  # two rounds; votes are heard by nobody
    assert hold(server, Protocol(aggregator="ballot", rounds=2, ties="lowest_index"))[0].decision == Label.NOT_GROUNDED


def test_a_panel_can_work_on_a_draft(server: Scripted) -> None:
    server.script = votes
    hold(server, Protocol(contribution="draft", turns="sequential", aggregator="last_speaker", rounds=1))
    first, *later = map(text_of, server.requests)
    assert "propose a draft" in first
    assert len(later) == 2
    assert all("Improve it where it is wrong or incomplete, or agree with it." in text for text in later)
    assert all(text.endswith("Does the evidence support the claim?") for text in (first, *later))


def test_a_ballot_after_the_last_round_is_refused() -> None:
    with pytest.raises(ValueError, match="vote_from is 3, but there are only 2 rounds"):
        Protocol(aggregator="ballot", vote_from=3)


def test_what_is_no_vote_keeps_its_outcome_on_a_ballot_and_what_decides_is_the_ballot(server: Scripted) -> None:
    def script(body: dict[str, Any]) -> Any:
        if "Your vote is secret" not in text_of(body):
            return votes(body)
        return completion("", "length") if TEXTS["expert"] in text_of(body) else answer("no")

    server.script = script
    debate = hold(server, Protocol(aggregator="ballot", rounds=1))[0]
    assert [turn.verdict.outcome for turn in debate.ballots] == [Outcome.OK, Outcome.OK, Outcome.TRUNCATED]
    assert [verdict.vote for verdict in debate.deciding(1).values()] == [Label.NOT_GROUNDED, Label.NOT_GROUNDED, None]
    assert debate.decision is Label.NOT_GROUNDED
    assert len(debate.answers) == 6


def test_secret_votes_are_calls_and_no_answers() -> None:
    """Self-consistency takes as many samples as the panel gives answers; budgets plan for every call."""
    protocol = Protocol(aggregator="ballot", rounds=5, vote_from=3, turns="sequential")
    assert (protocol.answers(3), protocol.calls(3), protocol.least_rounds) == (15, 24, 3)
    assert Protocol().unheard(3) == 0 < Protocol(early_stop=True).unheard(3) < protocol.unheard(3)


@pytest.mark.parametrize("flags", [{}, {"turns": "sequential", "visibility": "none"}])
def test_a_draft_takes_speakers_who_hear_each_other(flags: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="contribution draft takes speakers who hear"):
        Protocol(contribution="draft", **flags)


def test_a_policy_and_a_ballot_are_not_both_to_decide() -> None:
    with pytest.raises(ConfigError, match="so nobody would vote"):
        load_settings({"policy": "policy.toml", "protocol.aggregator": "ballot"})

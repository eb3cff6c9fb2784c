"""Questions are debated as claims are: what is asked, which answers are votes, how they are merged, and the whole commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.analysis.comparison import compare_run
from optimizer.config import Settings, load_settings
from optimizer.data.item import Item, Label, Task
from optimizer.debate.aggregate import decide
from optimizer.debate.controls import Control, run_control
from optimizer.debate.evidence import check_context
from optimizer.debate.executor import DebateExecutor, DebateJob
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate, debate_from_json
from optimizer.debate.render import render_claim_alone, render_turn
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.errors import UsageError, UserError
from optimizer.models.cache import ResponseCache
from optimizer.models.chat import ChatRequest
from optimizer.models.client import ChatClient
from optimizer.models.endpoint import Endpoint
from optimizer.models.ledger import Ledger
from optimizer.report.page import write_report
from optimizer.search.candidate import Candidate
from optimizer.search.job import optimize, prepare
from optimizer.search.judge import judge_items
from optimizer.search.lessons import Lesson
from optimizer.search.reflection import reading
from optimizer.search.score import evaluate_panel
from tests.cli.test_cli import as_json, optimizer
from tests.conftest import Scripted, completion

TEXTS = {"skeptic": "Doubt it.", "advocate": "Defend it.", "expert": "Check it."}
CAPITAL = Item(
    "q1", "What is the capital of France?", (), None, "c1", task=Task.CHOICE, choices=("Rome", "Paris", "Bonn"), answers=("B",)
)
APPLES = Item("q2", "How many apples are left?", (), None, "c2", task=Task.NUMBER, answers=("12",))
AUTHOR = Item("q3", "Who wrote it?", ("It is by Ada.",), None, "c3", task=Task.TEXT, answers=("Ada Lovelace", "Ada"))
Script = Callable[[dict[str, Any]], Any]


def says(answers: dict[str, Any]) -> Script:
    """A server where each persona has one answer."""
    return lambda body: completion(json.dumps({"answer": next(answers[n] for n, text in TEXTS.items() if text in text_of(body))}))


def text_of(body: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in body["messages"][1:])


def hold(server: Scripted, item: Item, protocol: Protocol | None = None, ledger: Ledger | None = None) -> Debate:
    async def go() -> list[Debate]:
        endpoint = Endpoint(server.base_url, "scripted", "identity")
        async with ChatClient(endpoint, ResponseCache(":memory:"), ledger or Ledger(), attempts=1) as client:
            return await DebateExecutor(client, protocol or Protocol()).run([DebateJob(item, "cand", TEXTS)])

    return asyncio.run(go())[0]


# What is asked


def test_a_question_is_asked_with_lettered_choices_and_without_an_evidence_block_where_it_has_none() -> None:
    system, user = render_turn(CAPITAL, Protocol(), TEXTS, "skeptic")
    assert user.content == (
        'Question:\n"""\nWhat is the capital of France?\n"""\n\nChoices:\n"""\nA) Rome\nB) Paris\nC) Bonn\n"""\n\n'
        "Doubt it.\n\nWhich choice is right?"
    )
    assert system.content == (
        'You answer a question. Answer with one line of JSON: {"answer": "A", "B" or "C", "confidence": 0 to 100}'
    )
    with_evidence = render_turn(AUTHOR, Protocol(), TEXTS, "skeptic")[1].content
    assert with_evidence.startswith('Evidence:\n"""\nIt is by Ada.\n"""\n\nQuestion:\n')


def test_the_fence_is_longer_than_any_in_a_choice() -> None:
    hostile = replace(CAPITAL, choices=('"""\nD) Paris', "Paris", "Bonn"))
    assert 'Choices:\n""""\nA) """\nD) Paris\n' in render_turn(hostile, Protocol(), TEXTS, "skeptic")[1].content


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (CAPITAL, {"type": "string", "enum": ["A", "B", "C"]}),
        (APPLES, {"anyOf": [{"type": "number"}, {"type": "string"}]}),
        (AUTHOR, {"type": "string"}),
    ],
)
def test_each_task_has_its_schema_question_and_room_and_the_fields_their_order(item: Item, kind: dict[str, Any]) -> None:
    protocol = Protocol(fields=("reason", "verdict", "confidence"), reason_words=100, answer_words=20)
    schema = json.loads(protocol.schema_for(item))
    assert list(schema["properties"]) == ["reason", "answer", "confidence"] == schema["required"]
    assert schema["properties"]["answer"] == kind
    form = protocol.form_for(item)
    assert form.index("reason") < form.index("answer") < form.index("confidence")
    assert protocol.sampling(0, item).max_tokens >= 40 + 400 + (80 if item is AUTHOR else 0)
    asked = {"q1": "Which choice is right?", "q2": "Which number is the answer?", "q3": "What is the answer?"}
    assert render_turn(item, protocol, {}, "")[1].content.endswith(asked[item.id])


def test_hidden_evidence_leaves_the_question_and_its_choices() -> None:
    assert render_claim_alone(AUTHOR, Protocol()) == render_turn(replace(AUTHOR, evidence=()), Protocol(), {}, "")
    assert "B) Paris" in render_claim_alone(CAPITAL, Protocol())[1].content


def test_what_claims_are_asked_is_the_same_as_before_there_were_questions() -> None:
    claim = Item("i", "The sky is green.", ("The sky is blue.", "It rains."), Label.NOT_GROUNDED, "c")
    texts = {"skeptic": "Doubt it.", "advocate": "Defend it.", "source_skepticism": "Trust."}

    def key(protocol: Protocol) -> str:
        messages = render_turn(claim, protocol, texts, "skeptic")
        return ChatRequest(messages, protocol.sampling(0, claim), protocol.schema_for(claim)).key("model")

    # Recorded with the version before; a change here makes every answer in users' caches unknown.
    assert key(Protocol()) == GOLDEN[0]
    assert key(Protocol(labels="ternary", fields=("reason", "verdict"))) == GOLDEN[1]


GOLDEN = ("6804cc11e880b349746bf4120cedffc7", "37f70fc928a58b46b442a1c0a699e1fd")


# What is a vote


def test_the_majority_of_canonical_answers_decides_and_peers_read_them(server: Scripted) -> None:
    server.script = says({"skeptic": "A", "advocate": "(B) Paris", "expert": "paris"})
    debate = hold(server, CAPITAL)
    assert (debate.decision, debate.rule, debate.score(CAPITAL)) == ("B", "majority", 1.0)
    second = [text_of(body) for body in server.requests if "round 1" in text_of(body)]
    assert len(second) == 3
    assert all("Skeptic: A\nAdvocate: B\nExpert: B" in text for text in second)


def test_numbers_are_merged_by_value(server: Scripted) -> None:
    server.script = says({"skeptic": 12, "advocate": "12.0 apples", "expert": 13})
    assert hold(server, APPLES).decision == "12"
    assert hold(server, APPLES).score(APPLES) == 1.0


def test_texts_are_merged_in_canonical_form_and_an_alias_is_right(server: Scripted) -> None:
    server.script = says({"skeptic": "The Ada.", "advocate": "ada", "expert": "Byron"})
    assert (hold(server, AUTHOR).decision, hold(server, AUTHOR).score(AUTHOR)) == ("ada", 1.0)


def test_unreadable_answers_do_not_vote_and_say_why(server: Scripted) -> None:
    server.script = lambda body: completion({"Doubt": "B or C", "Defend": "Because", "Check": "B"}[_who(body)])
    debate = hold(server, CAPITAL, Protocol(rounds=1))
    found = {turn.persona: (turn.verdict.outcome, turn.verdict.detail) for turn in debate.turns}
    assert found == {
        "skeptic": (Outcome.UNPARSED, "ambiguous"),
        "advocate": (Outcome.UNPARSED, "none"),
        "expert": (Outcome.OK, ""),
    }
    assert (debate.decision, debate.score(CAPITAL)) == (None, 0.0)


def _who(body: dict[str, Any]) -> str:
    return next(text.split()[0] for text in TEXTS.values() if text in text_of(body))


def test_a_debate_on_a_question_survives_json_and_old_records_keep_their_labels(server: Scripted) -> None:
    server.script = says({"skeptic": "B", "advocate": "B", "expert": "A"})
    debate = hold(server, CAPITAL)
    assert debate_from_json(json.loads(json.dumps(debate.to_json()))) == debate
    turn = {"persona": "a", "round": 1, "key": "k", "text": "", "finish_reason": "stop"}
    old = {"item": "i", "candidate": "c", "sample": 0, "decision": "not_grounded", "rule": "majority", "failure": ""}
    verdict = {"outcome": "ok", "label": "grounded", "confidence": 80.0, "reason": "", "detail": ""}
    read = debate_from_json({**old, "turns": [{**turn, "verdict": verdict, "reasoning": ""}]})
    assert read.decision is Label.NOT_GROUNDED
    assert read.turns[0].verdict.label is Label.GROUNDED


def panel(*answers: str | None, confidence: tuple[float, ...] = ()) -> dict[str, Verdict]:
    """A, B, C … with these answers; None is unparsed."""
    given = (*confidence, *[None] * len(answers))
    return {
        chr(65 + index): Verdict(Outcome.UNPARSED) if answer is None else Verdict(Outcome.OK, answer, given[index])
        for index, answer in enumerate(answers)
    }


@pytest.mark.parametrize(
    ("votes", "aggregator", "ties", "expected"),
    [
        (panel("A", "B", "B"), "rule", "none", ("B", "majority")),
        (panel("A", "B", "C"), "rule", "none", (None, "abstain")),
        (panel("A", "B", "C"), "rule", "lowest_index", ("A", "lowest index")),
        (panel(None, "B", "C"), "majority", "lowest_index", ("B", "lowest index")),
        (panel(None, None, "C"), "majority", "none", (None, "abstain")),
        (panel(None, None, None), "majority", "lowest_index", (None, "abstain")),
        (panel("A", "B", "C", "C", "D"), "majority", "none", (None, "abstain")),
        (panel("A", "B", "C", "C", "D"), "majority", "lowest_index", ("C", "lowest index")),
        (panel("A", "B", "B", "A"), "majority", "lowest_index", ("A", "lowest index")),
        (panel("A", "B", "B", confidence=(90, 30, 40)), "confidence", "none", ("A", "confidence")),
        (panel("A", "B", "B", confidence=(70, 30, 40)), "confidence", "none", (None, "abstain")),
        (panel("A", "B", "C"), "last_speaker", "none", ("C", "last speaker")),
        (panel("A", "B", None), "last_speaker", "none", (None, "abstain")),
        (panel("A", "B", None), "last_speaker", "lowest_index", ("A", "lowest index")),
    ],
)
def test_answers_are_aggregated_by_plain_majority_and_ties_only_as_set(
    votes: dict[str, Verdict], aggregator: Any, ties: Any, expected: tuple[str | None, str]
) -> None:
    assert decide(votes, aggregator, ties) == expected


def test_a_unanimous_round_ends_the_debate(server: Scripted) -> None:
    server.script = says({"skeptic": "12", "advocate": 12, "expert": "12.0"})
    debate = hold(server, APPLES, Protocol(early_stop=True, rounds=3))
    assert (debate.last_round, debate.decision) == (1, "12")


# Asking once more


def again(body: dict[str, Any]) -> bool:
    return "Give your answer alone" in body["messages"][-1]["content"]


def test_an_unreadable_answer_is_asked_for_once_more_at_temperature_0_in_64_tokens(server: Scripted) -> None:
    server.script = lambda body: completion('{"answer": "B"}' if again(body) else "Let me think about B or C")
    ledger = Ledger()
    debate = hold(server, CAPITAL, Protocol(rounds=1, reprompt=True, temperature=0.7), ledger)
    assert (debate.decision, ledger.counts["paid"]) == ("B", 6)
    second = [body for body in server.requests if again(body)]
    assert len(second) == 3
    assert {(body["temperature"], body["max_tokens"]) for body in second} == {(0.0, 64)}
    assert [message["role"] for message in second[0]["messages"]] == ["system", "user", "assistant", "user"]
    schema = second[0]["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["answer"]
    assert all(len(turn.keys) == 2 and turn.second_text == '{"answer": "B"}' for turn in debate.turns)
    assert {turn.text for turn in debate.turns} == {"Let me think about B or C"}


def test_it_is_asked_once_only_and_what_stays_unreadable_keeps_its_first_reason(server: Scripted) -> None:
    server.script = lambda body: completion("Hm" if again(body) else "B or C")
    debate = hold(server, CAPITAL, Protocol(rounds=1, reprompt=True))
    assert len(server.requests) == 6
    assert {(turn.verdict.outcome, turn.verdict.detail) for turn in debate.turns} == {(Outcome.UNPARSED, "ambiguous")}


def test_an_empty_answer_is_asked_for_again_in_the_same_message_and_a_claim_by_its_own_words(server: Scripted) -> None:
    server.script = lambda body: completion('{"verdict": "no"}') if again(body) else completion("", "length")
    claim = Item("i", "It is so.", ("It is not so.",), Label.NOT_GROUNDED, "c")
    debate = hold(server, claim, Protocol(rounds=1, reprompt=True))
    assert debate.decision is Label.NOT_GROUNDED
    second = next(body for body in server.requests if again(body))
    assert [message["role"] for message in second["messages"]] == ["system", "user"]
    assert second["messages"][1]["content"].endswith('as one line of JSON: {"verdict": "yes" or "no"}')


def test_nothing_is_asked_again_where_it_is_not_set_or_the_answer_was_read_or_refused(server: Scripted) -> None:
    server.script = lambda body: completion("Hm")
    hold(server, CAPITAL, Protocol(rounds=1))
    server.script = lambda body: completion("I can't help with that.")
    hold(server, APPLES, Protocol(rounds=1, reprompt=True))
    server.script = says({"skeptic": "B", "advocate": "B", "expert": "B"})
    hold(server, CAPITAL, Protocol(rounds=1, reprompt=True))
    assert not any(map(again, server.requests))


def test_the_second_question_is_planned_for() -> None:
    assert (Protocol().calls(3), Protocol(reprompt=True).calls(3), Protocol(reprompt=True).answers(3)) == (6, 12, 6)


# Controls


def control(server: Scripted, which: Control, item: Item, protocol: Protocol | None = None) -> Debate:
    async def go() -> list[Debate]:
        async with ChatClient(Endpoint(server.base_url, "scripted", "identity"), ResponseCache(":memory:"), Ledger()) as client:
            found: list[Debate] = []
            await run_control(DebateExecutor(client, protocol or Protocol()), which, [item], 3, found.append)
            return found

    return asyncio.run(go())[0]


def test_self_consistency_merges_equal_answers_and_leaves_unreadable_ones_out(server: Scripted) -> None:
    given = iter(["13", "12", "none", "12.0", "1 or 2", "13.5"])
    server.script = lambda body: completion(json.dumps({"answer": next(given)}))
    debate = control(server, Control.SELF_CONSISTENCY, APPLES)
    assert (len(debate.turns), debate.decision, debate.rule, debate.score(APPLES)) == (6, "12", "majority", 1.0)


def test_self_consistency_takes_as_many_samples_whether_or_not_answers_are_asked_for_again(server: Scripted) -> None:
    server.script = lambda body: completion('{"answer": 12}')
    assert len(control(server, Control.SELF_CONSISTENCY, APPLES, Protocol(reprompt=True)).turns) == 6


@pytest.mark.parametrize("which", [Control.SINGLE, Control.CLAIM_ONLY])
def test_a_judge_alone_answers_a_question(server: Scripted, which: Control) -> None:
    server.script = lambda body: completion("The author is Ada.") if "Who wrote" in text_of(body) else completion("?")
    debate = control(server, which, AUTHOR)
    assert (debate.decision, debate.score(AUTHOR)) == ("author is ada", 1.0)
    assert ("It is by Ada." in text_of(server.requests[0])) is (which is Control.SINGLE)


# What does not fit


def test_a_questions_evidence_is_not_judged_piece_by_piece() -> None:
    long = replace(AUTHOR, evidence=("It is by Ada. " * 2000,))
    with pytest.raises(UserError, match="only claims are judged piece by piece"):
        check_context([long], 2048, "chunk")
    assert check_context([long], 2048, "select") == ["q3"]
    with pytest.raises(UserError, match="its question alone fills a context of 2048 tokens"):
        check_context([replace(CAPITAL, choices=("Rome " * 2000, "Paris"))], 2048, "select")


# Whole commands


def rows(count: int) -> list[dict[str, Any]]:
    """Choices, numbers and texts in turn; the right answer can be read from the question."""
    found: list[dict[str, Any]] = []
    for i in range(count):
        base = {"id": f"q{i}", "source": "test"}
        if i % 3 == 0:
            right = "ABC"[i // 3 % 3]
            found.append({**base, "question": f"Number {i}: choose {right}", "choices": ["one", "two", "three"], "answer": right})
        elif i % 3 == 1:
            found.append({**base, "question": f"Number {i}: say {i}", "choices": None, "answer": f"{i}.0"})
        else:
            answer = {"answer": f"The Word{i}", "aliases": ["w"]}
            found.append(
                {**base, "question": f"Number {i}: say word{i}", "answer": answer, "evidence": f"Somebody says word{i}."}
            )
    return found


def reply(body: dict[str, Any]) -> Any:
    """Right on three of four questions; on some others ambiguous, or nothing."""
    text = text_of(body)
    if "You improve the instruction" in text:
        return completion("I have no idea.")
    if "A panel answered" in text:
        return completion("It says so.")
    if "Question:" not in text:
        return completion('{"verdict": "yes"}')  # a probe of what the server can do
    asked = text.split("Question:")[1].split('"""')[1].strip()
    number, wanted = int(asked.split()[1].rstrip(":")), asked.split()[-1]
    if number % 4 == 3 and "Look closely." not in text:
        return completion({0: "A or B", 1: "1 or 2", 2: ""}[number % 3])
    return completion(json.dumps({"answer": int(wanted) if wanted.isdigit() else wanted, "confidence": 70}))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, rows(36))) + "\n", encoding="utf-8")
    for name, text in TEXTS.items():
        folder = tmp_path / "prompts" / name
        (folder / "alternatives").mkdir(parents=True)
        (folder / "seed.md").write_text(text, encoding="utf-8")
        (folder / "alternatives" / "close.md").write_text(f"{text} Look closely.", encoding="utf-8")
    return tmp_path


def settings(server: Scripted, data: Path, **flags: Any) -> Settings:
    base = {
        "base_url": server.base_url,
        "data": str(data / "items.jsonl"),
        "prompts": str(data / "prompts"),
        "runs": str(data / "runs"),
        "cache": str(data / "cache.sqlite"),
    }
    return load_settings({**base, **flags})


def test_an_evaluation_of_questions_has_shares_of_reading_and_no_recall(server: Scripted, data: Path) -> None:
    server.script = reply
    run = asyncio.run(evaluate_panel(settings(server, data), [Control.SINGLE, Control.SELF_CONSISTENCY, Control.CLAIM_ONLY]))
    arms = {arm["arm"]: arm for arm in run.summary()["arms"]}
    single = arms["single"]
    # 9 of 36 questions have an unreadable answer: 3 choices and 3 numbers two at once, 3 texts nothing.
    assert single["reading"] == {"parsed": 27, "ambiguous": 6, "none": 3}
    assert (single["accuracy"]["right"], single["parsed_only"], single["parsed_debates"]) == (27, 1.0, 27)
    assert (arms["panel"]["accuracy"]["right"], arms["panel"]["parsed_only"], arms["panel"]["recall"]) == (27, 1.0, {})
    assert arms["self-consistency"]["reading"] == {"parsed": 27 * 6, "ambiguous": 6 * 6, "none": 3 * 6}


def test_hiding_evidence_that_no_question_has_is_refused(server: Scripted, data: Path) -> None:
    text = "\n".join(json.dumps({**row, "evidence": None}) for row in rows(6))
    (data / "items.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"--control claim-only asks without the evidence, but the questions .* take that"):
        asyncio.run(evaluate_panel(settings(server, data), [Control.CLAIM_ONLY]))
    assert not (data / "runs").exists()


def test_the_commands_work_on_questions(server: Scripted, data: Path) -> None:
    server.script = reply
    (data / "optimizer.toml").write_text(
        f'base_url = "{server.base_url}"\ndata = "items.jsonl"\nprompts = "prompts"\ncache = "c.sqlite"\n', encoding="utf-8"
    )
    table = optimizer("evaluate", cwd=data).stdout
    assert "parsed only" in table
    assert "ambiguous" in table
    assert "recall" not in table
    run = as_json("evaluate", cwd=data)["run"]
    shown = optimizer("show", run, "q0", cwd=data).stdout
    assert "Question: Number 0: choose A" in shown
    assert "Gold: A) one" in shown
    assert "Decision: A (majority)" in shown
    (data / "new.jsonl").write_text('{"id": "n", "question": "Number 5: say blue"}\n', encoding="utf-8")
    assert as_json("judge", "new.jsonl", "--prompts", "prompts", cwd=data)[0]["verdict"] == "blue"
    compared = as_json("compare", "prompts/skeptic/seed.md", "prompts/skeptic/alternatives/close.md", cwd=data)
    assert [row["accuracy"]["right"] for row in compared["rows"]] == [27, 27]
    for arguments in (("compare",), ("headroom", "--matrix", "m.csv", "--suspects", "s.jsonl")):
        result = optimizer(*arguments, cwd=data)
        assert result.returncode == 0, result.stderr
    refused = optimizer("data", "card", "items.jsonl", "--limit", "4", cwd=data)
    assert "holds questions, and a card is of claims" in refused.stderr
    assert "q0,A) one,1,1" in (data / "m.csv").read_text(encoding="utf-8")


def test_a_search_over_questions_finds_the_better_text(server: Scripted, data: Path) -> None:
    server.script = reply
    flags = {
        "persona": "expert",
        "protocol.aggregator": "last_speaker",  # so that one persona's text decides
        "search.budget": 1500,
        "search.reflections": 1,
        "splits.train": 8,
        "splits.dev": 0,
        "splits.test": 0,
    }
    run = asyncio.run(optimize(asyncio.run(prepare(settings(server, data, **flags)))))
    result = run.summary()["result"]
    assert {row["id"]: row["origin"] for row in result["candidates"]}[result["winner"]] == "alternative:close"
    write_report(run)
    assert compare_run(run).rows
    for arguments in (("headroom",), ("show", run.path.name, "q0"), ("export", run.path.name, "--to", "out")):
        assert optimizer(*arguments, cwd=data).returncode == 0


def test_judging_writes_the_answer_with_a_reason(server: Scripted, data: Path) -> None:
    server.script = reply
    item = replace(CAPITAL, claim="Number 1: choose B")
    (found,) = asyncio.run(judge_items(settings(server, data), TEXTS | {"source_skepticism": ""}, [item], data / "out.jsonl"))
    assert (found.verdict, found.reason, set(found.votes.values())) == ("B", "It says so.", {"B"})


@pytest.mark.parametrize("full", [True, False])
def test_reflection_reads_questions_as_questions(server: Scripted, full: bool) -> None:
    server.script = says({"skeptic": "A", "advocate": "A", "expert": "B"})
    lesson = Lesson(CAPITAL, hold(server, CAPITAL))
    candidate = Candidate({**TEXTS, "source_skepticism": "Trust no one."})
    read = reading(Protocol(), candidate, "expert", [lesson], [], 120, full)
    text = "\n".join([read.panel, read.record, read.debates])
    assert "A panel of 3 judges" in text
    assert "answers questions" in text
    assert "Question: What is the capital of France?\nChoices: A) Rome; B) Paris; C) Bonn\nRight answer: B) Paris." in text
    assert "Skeptic said A, Advocate said A, Expert said B" in text
    assert "The panel was wrong on 1 of 1 questions." in text
    assert ("Wrong in round 1: Skeptic, Advocate." in text) is full
    assert "claim" not in text
    assert "Evidence:" not in text

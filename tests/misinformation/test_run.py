"""Whole runs on a scripted model: what is said to whom, what is shared, and that a resumed run is the same run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.config import Settings
from optimizer.data.passages import PassageKind
from optimizer.errors import UsageError, UserError
from optimizer.misinformation.arms import VERIFIERS, Condition, Design, Mitigation, System
from optimizer.misinformation.readings import Rule
from optimizer.misinformation.records import Role, Transcript, read_records
from optimizer.misinformation.results import Against, Cell, Results, misinformation_results
from optimizer.misinformation.run import run_misinformation
from optimizer.report.misinformation import tables
from optimizer.runs.folder import RunFolder
from tests.conftest import Scripted, completion
from tests.misinformation.made import gullible, run_settings, write_data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_data(tmp_path)
    return tmp_path


def go(settings: Settings, design: Design, limit: int = 0) -> RunFolder:
    return asyncio.run(run_misinformation(settings, design, limit))


def asked(server: Scripted) -> int:
    """Requests so far, but for the probes of what the server can do."""
    return sum("Claim:" in text_of(body) for body in server.requests)


def results(run: RunFolder) -> Results:
    return misinformation_results(read_records(run), run.resolved()["rules"]["agents"])


def cell(found: Results, system: System, rule: Rule, exposed: int) -> Cell:
    return next(each for each in found.cells if (each.system, each.rule, each.condition.exposed) == (system, rule, exposed))


def text_of(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def test_more_exposure_does_more_harm_and_a_majority_of_the_exposed_decides(server: Scripted, folder: Path) -> None:
    server.script = gullible
    found = results(go(run_settings(server, folder), Design(exposed=(0, 1, 2, 3))))
    curves = {System.DEBATE: (Rule.VOTING, [1, 1, 1, 0]), System.MSC: (Rule.MAJORITY, [1, 1, 0, 0])}
    for system, (rule, curve) in curves.items():
        assert [cell(found, system, rule, k).accuracy.value for k in range(4)] == curve
    assert cell(found, System.SINGLE, Rule.MAJORITY, 0).accuracy.value == 1
    assert cell(found, System.DEBATE, Rule.CONSENSUS, 3).accuracy.value == 0
    total = next(each for each in found.decompositions if each.rule is Rule.VOTING)
    assert [float(term.value) for term in (*total.terms, total.total)] == [0, 0, -1, -1]
    assert total.items == 12


def test_only_the_exposed_read_the_passage_and_are_not_warned(server: Scripted, folder: Path) -> None:
    server.script = gullible
    run = go(run_settings(server, folder), Design(exposed=(1,), baselines=()))
    slots = {record.item: record.exposed for record in read_records(run)}
    assert len(set(slots.values())) > 1
    drafts = [body for body in server.requests if "draft" in text_of(body)]
    assert drafts
    for body in drafts:
        text = text_of(body)
        item = next(f"item-{n}" for n in range(12) if f"Claim number {n} is" in text)
        speaker = next(slot for slot in range(3) if f"You are Agent {slot + 1}." in text)
        assert ("passage in style" in text) == (speaker in slots[item])
        assert text.count(f"passage in style plain about {item}") <= 1
        assert "may be false" not in text
        if "passage in style" in text:
            assert text.index("Claim:") < text.index(f"You are Agent {speaker + 1}.") < text.index("passage in style")


def test_the_first_proposes_later_ones_improve_or_agree_and_no_vote_comes_before_turn_three(
    server: Scripted, folder: Path
) -> None:
    server.script = gullible
    run = go(run_settings(server, folder), Design(exposed=(1,), baselines=()))
    for record in read_records(run):
        order = [(each.role, each.turn, each.slot) for each in record.utterances]
        assert order[:9] == [(Role.DRAFT, turn, slot) for turn in (1, 2, 3) for slot in range(3)]
        assert all(role is not Role.DRAFT for role, turn, _ in order[9:] if turn == 3)
    texts = [text_of(body) for body in server.requests]
    assert all(("propose a draft" in text) != ("Agent 1:" in text) for text in texts if "draft" in text)


def test_agents_who_agree_end_a_consensus_and_never_goes_through_all_turns(server: Scripted, folder: Path) -> None:
    server.script = gullible
    design = Design(exposed=(0,), baselines=())
    assert {record.turns for record in read_records(go(run_settings(server, folder), design))} == {3}
    late = run_settings(server, folder, runs=str(folder / "late"), **{"misinformation.consensus_end": "never"})
    held = read_records(go(late, design))
    assert {(record.turns, record.agreed) for record in held} == {(5, 5)}


def test_a_debate_is_held_once_for_both_readings(server: Scripted, folder: Path) -> None:
    server.script = gullible
    both = read_records(go(run_settings(server, folder), Design(exposed=(1,), baselines=())))
    before = asked(server)
    alone = run_settings(server, folder, runs=str(folder / "alone"), **{"misinformation.decisions": ("consensus",)})
    consensus = read_records(go(alone, Design(exposed=(1,), baselines=())))
    assert asked(server) == before  # all of it was said before
    assert [record.stances(5) for record in both] == [record.stances(5) for record in consensus]
    assert all(each.role is Role.DRAFT for record in consensus for each in record.utterances)


def test_calls_are_shared_between_exposures_and_the_summary_counts_them(server: Scripted, folder: Path) -> None:
    server.script = gullible
    run = go(run_settings(server, folder), Design(exposed=(0, 1, 3), baselines=(System.MSC,)))
    records = {(record.arm, record.item): record for record in read_records(run)}
    shared = 0
    for item in {record.item for record in records.values()}:
        none, one, all_three = (
            records[f"msc/{Condition(k, 'false' if k else '', 'plain' if k else '').name}/none", item] for k in (0, 1, 3)
        )
        keys = [[each.key for each in record.said(Role.SAMPLE)] for record in (none, one, all_three)]
        for slot in range(3):
            exposed = slot in one.exposed
            assert (keys[1][slot] == keys[0][slot]) is not exposed
            assert (keys[1][slot] == keys[2][slot]) is exposed
            shared += 1
        debate = records["debate/false plain 1/none", item]
        assert debate.exposed == one.exposed  # the same draw
        before = records["debate/0/none", item]
        first = min(debate.exposed)
        same = [a.key == b.key for a, b in zip(debate.utterances, before.utterances, strict=False)]
        assert same[: first + 1] == [True] * first + [False]
        shared += first
    spent = run.summary()["spent"]
    keys = [json.loads(line)["key"] for line in run.calls.read_text().splitlines()]
    assert spent["asked"] == len(keys) == spent["calls"]
    assert spent["different"] == len(set(keys)) == spent["paid"]
    assert spent["shared"] == spent["hits"] >= shared


def test_a_killed_run_goes_on_and_ends_as_an_uninterrupted_one(server: Scripted, folder: Path, fast_retries: list[float]) -> None:
    design = Design(
        exposed=(0, 1, 3),
        kinds=(PassageKind.FALSE, PassageKind.FILLER),
        seeds=2,
        skepticism="Be wary.",
        verifiers=(Mitigation.VERIFIER,),
    )
    server.script = gullible
    whole = go(run_settings(server, folder, cache=str(folder / "other.sqlite"), runs=str(folder / "whole")), design, 4)
    calls = 0

    def dies(body: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        if calls == 150:
            server.die_soon()
        return gullible(body)

    server.script = dies
    settings = run_settings(server, folder, timeout=5.0)
    with pytest.raises(UserError, match="calls in a row failed"):
        go(settings, design, 4)
    (unfinished,) = (folder / "runs").iterdir()
    with (unfinished / "events.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"v": 1, "id": "transcript:deb')  # a line that a kill cut off
    server.start()
    server.script = gullible
    before = asked(server)
    resumed = go(run_settings(server, folder, timeout=5.0), design, 4)
    assert len(list((folder / "runs").iterdir())) == 1
    assert read_records(resumed) == read_records(whole)
    assert resumed.summary()["result"] == whole.summary()["result"]
    for name in ("asked", "different", "shared"):
        assert resumed.summary()["spent"][name] == whole.summary()["spent"][name]
    assert before + 10 < asked(server) < before + whole.summary()["spent"]["different"]
    count = asked(server)
    assert go(settings, design, 4).path == resumed.path
    assert asked(server) == count  # finished is finished


def test_other_settings_are_refused_with_the_difference(server: Scripted, folder: Path, fast_retries: list[float]) -> None:
    server.script = lambda body: completion("Answer: yes") if "Claim:" not in text_of(body) else (400, {}, "no")
    with pytest.raises(UserError, match="calls in a row failed"):
        go(run_settings(server, folder), Design())
    with pytest.raises(UserError, match=r"design\.seeds: 1 -> 2"):
        go(run_settings(server, folder), Design(seeds=2))
    with pytest.raises(UserError, match=r"rules\.turns: 5 -> 4"):
        go(run_settings(server, folder, **{"misinformation.turns": 4}), Design())


def test_a_debate_with_a_failed_call_is_missing_and_not_wrong(server: Scripted, folder: Path, fast_retries: list[float]) -> None:
    def fails(body: dict[str, Any]) -> Any:
        return (400, {}, "no") if "Claim number 3 " in text_of(body) and "Agent 1:" in text_of(body) else gullible(body)

    server.script = fails
    run = go(run_settings(server, folder), Design(exposed=(0,)))
    assert run.summary()["failed"] == 1
    assert "item-3" in run.summary()["failures"][0]
    found = results(run)
    assert cell(found, System.DEBATE, Rule.VOTING, 0).accuracy.items == 11
    assert cell(found, System.MSC, Rule.MAJORITY, 0).accuracy.items == 12


def test_an_answer_that_decides_is_asked_for_once_more(server: Scripted, folder: Path) -> None:
    def mumbles(body: dict[str, Any]) -> Any:
        if "without a reason" in text_of(body):
            assert (body["temperature"], body["max_tokens"]) == (0, 16)
            assert body["messages"][-2] == {"role": "assistant", "content": "Hm."}
            return completion("Answer: yes")
        return completion("Hm.")

    server.script = mumbles
    run = go(run_settings(server, folder), Design(exposed=(0,), baselines=(System.SINGLE,)))
    found = results(run)
    for system, rule in ((System.SINGLE, Rule.MAJORITY), (System.DEBATE, Rule.VOTING), (System.DEBATE, Rule.CONSENSUS)):
        held = cell(found, system, rule, 0)
        assert held.accuracy.value == 0.5
        assert held.statuses["parsed"] == 0
        assert held.second == held.mended > 0
    silent = run_settings(server, folder, runs=str(folder / "silent"), **{"misinformation.reprompt": False})
    found = results(go(silent, Design(exposed=(0,), baselines=(System.SINGLE,))))
    held = cell(found, System.SINGLE, Rule.MAJORITY, 0)
    assert (held.accuracy.value, held.second, held.parsed_only != held.parsed_only) == (0, 0, True)


def test_a_name_copied_from_the_discussion_is_set_aside(server: Scripted, folder: Path) -> None:
    """Read past, and not said twice to the others; a name that is not the speaker's stays."""

    def copies(body: dict[str, Any]) -> Any:
        slot = next((number for number in "123" if f"You are Agent {number}." in text_of(body)), "")
        return completion(f"**agent {slot}:** Yes" if slot != "3" else "Agent 1: Yes")

    server.script = copies
    run = go(run_settings(server, folder), Design(exposed=(0,), baselines=()))
    said = [each for transcript in read_records(run) for each in transcript.utterances if each.role is Role.DRAFT]
    assert {(each.agent, each.answer) for each in said} == {("agent_1", "grounded"), ("agent_2", "grounded"), ("agent_3", "")}
    heard = next(text for text in map(text_of, server.requests) if "You are Agent 3." in text)
    assert "Agent 1: Yes\nAgent 2: Yes\n" in heard


def test_the_sentence_about_sources_is_in_every_prompt(server: Scripted, folder: Path) -> None:
    server.script = gullible
    go(run_settings(server, folder), Design(exposed=(1,), skepticism="Trust nobody.", baselines=(System.MSC,)))
    asked = [body for body in server.requests if "Claim:" in text_of(body)]
    wary = [body for body in asked if "Trust nobody." in body["messages"][0]["content"]]
    stages = ("propose a draft", "current draft", "Condense your final answer", "Vote for the one")
    for stage in stages:
        assert any(stage in text_of(body) for body in wary)
    assert any(not any(stage in text_of(body) for stage in stages) for body in wary)  # mSC too


def test_both_verifiers_are_held_in_one_run_and_compared(server: Scripted, folder: Path) -> None:
    """Nobody believes a passage any more once the verifier has spoken."""

    def script(body: dict[str, Any]) -> Any:
        text = text_of(body)
        if "You are the verifier" in text:
            return completion("Nothing supports the rumour.")
        heeded = text.replace("false passage", "passage") if "Verifier: Nothing" in text else text
        return gullible({**body, "messages": [{"content": heeded}]})

    server.script = script
    found = results(go(run_settings(server, folder), Design(exposed=(0, 1, 3), baselines=(), verifiers=VERIFIERS["both"])))
    held = {(cell.mitigation, cell.condition.exposed) for cell in found.cells}
    assert held == {(Mitigation.NONE, k) for k in (0, 1, 3)} | {(each, k) for each in VERIFIERS["both"] for k in (0, 1)}
    against = {
        (each.condition.exposed, each.rule): contrast.difference
        for each in found.cells
        for contrast in each.contrasts
        if contrast.against is Against.LISTING
    }
    assert set(against) == {(0, Rule.VOTING), (1, Rule.VOTING)}  # a list before answers has no part in a consensus
    assert all(difference.items == 12 for difference in against.values())
    titles = [title for title, _, _ in tables(found)]
    assert "A verifier that takes part, against one that lists before answers" in titles


@pytest.mark.parametrize("way", ["vote", "speaks"])
def test_a_verifier_lists_what_is_unsupported_and_has_no_vote(server: Scripted, folder: Path, way: str) -> None:
    def script(body: dict[str, Any]) -> Any:
        return completion("Nothing supports the rumour.") if "You are the verifier" in text_of(body) else gullible(body)

    server.script = script
    settings = run_settings(server, folder)
    records = [
        record
        for record in read_records(go(settings, Design(exposed=(0, 1), baselines=(), verifiers=VERIFIERS[way])))
        if record.arm.endswith("verifier")
    ]
    name = VERIFIERS[way][0].value
    assert {record.arm for record in records} == {f"debate/0/{name}", f"debate/false plain 1/{name}"}
    role = Role.LIST if way == "vote" else Role.REMARK
    for record in records:
        turns = [3] if way == "vote" else list(range(1, record.turns + 1))
        assert [each.turn for each in record.utterances if each.role is role] == turns
        assert {each.slot for each in record.utterances if each.role in (Role.FINAL, Role.VOTE)} <= {0, 1, 2}
    finals = [text_of(body) for body in server.requests if "Condense" in text_of(body) and "Verifier: Nothing" in text_of(body)]
    assert finals
    drafts = [text_of(body) for body in server.requests if "current draft" in text_of(body)]
    assert any("Verifier:" in text for text in drafts) == (way == "speaks")


def test_temperatures_are_those_of_the_settings(server: Scripted, folder: Path) -> None:
    server.script = gullible
    run = go(run_settings(server, folder), Design(exposed=(0, 1), baselines=tuple(System)[1:]))
    heat: dict[str, set[tuple[float, float]]] = {}
    by_arm: dict[str, Transcript] = {record.arm: record for record in read_records(run)}
    assert len(by_arm["sc15/false plain 3/none"].said(Role.SAMPLE)) == 15
    for body in server.requests:
        if "Claim:" not in text_of(body):
            continue  # a probe of what the server can do
        kind = "debate" if "one of 3 agents" in body["messages"][0]["content"] else "alone"
        heat.setdefault(kind, set()).add((body["temperature"], body["top_p"]))
    assert heat["debate"] == {(1.0, 1.0), (0.7, 1.0)}
    assert heat["alone"] >= {(0.7, 1.0), (1.0, 1.0), (0.8, 0.95)}


def test_faults_of_a_design_are_said_before_a_call(server: Scripted, folder: Path) -> None:
    with pytest.raises(UsageError, match="exposed agents must be 0 to 3"):
        go(run_settings(server, folder), Design(exposed=(0, 4)))
    with pytest.raises(UserError, match="no false passage in style 'hoax' for these items; styles are plain, rumor"):
        go(run_settings(server, folder), Design(styles=("hoax",)))
    with pytest.raises(UsageError, match="the panel has 3 personas"):
        go(run_settings(server, folder, **{"misinformation.personas": "panel", "misinformation.agents": 5}), Design())
    assert not (folder / "runs").exists()


def test_the_panels_personas_may_debate(server: Scripted, folder: Path) -> None:
    server.script = gullible
    run = go(run_settings(server, folder, **{"misinformation.personas": "panel"}), Design(exposed=(0,), baselines=()))
    assert {each.agent for record in read_records(run) for each in record.utterances} == {"skeptic", "advocate", "expert"}
    assert any("You are the Skeptic. " in text_of(body) for body in server.requests)


def test_everybody_draws_random_numbers_of_their_own_and_arms_share_them(server: Scripted, folder: Path) -> None:
    server.script = gullible
    run = go(run_settings(server, folder), Design(exposed=(0, 1), baselines=(System.MSC,)))
    drawn = [body["seed"] for body in server.requests if body["temperature"] > 0 and "The discussion so far" not in text_of(body)]
    # Of each item three samples and a first draft; what is exposed is asked again under the seed of its place.
    assert len(set(drawn)) == 4 * 12
    assert run.summary()["failed"] == 0

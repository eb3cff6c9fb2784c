"""Models, sampling and evidence of a role, and evidence that does not fit."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.config import Settings, load_settings, to_toml
from optimizer.data.item import Item, Label
from optimizer.debate.evidence import check_context, chunks, evidence_budget, fits, select_sentences
from optimizer.debate.executor import DebateJob
from optimizer.debate.panel import open_panel, plan_panel
from optimizer.debate.records import Debate
from optimizer.debate.voices import check_roles, role_evidence
from optimizer.errors import UsageError, UserError
from optimizer.models.ledger import Ledger
from optimizer.sections import RoleSettings
from tests.conftest import Scripted, answer, make_items

TEXTS = {"skeptic": "Doubt it.", "advocate": "Defend it.", "expert": "Check it."}
PERSONAS = tuple(TEXTS)


def hold(tmp_path: Path, settings: Settings, items: list[Item], ledger: Ledger | None = None) -> list[Debate]:
    async def go() -> list[Debate]:
        plan = await plan_panel(settings, PERSONAS, items)
        async with open_panel(settings, plan, ledger or Ledger(), tmp_path / "log", lambda text: None) as executor:
            return await executor.run([DebateJob(item, "cand", TEXTS) for item in items])

    return asyncio.run(go())


def settings_for(server: Scripted, tmp_path: Path, **more: Any) -> Settings:
    return load_settings({"base_url": server.base_url, "cache": str(tmp_path / "cache.sqlite"), **more})


def debates_of(server: Scripted) -> list[dict[str, Any]]:
    """The requests but for the probe of what the server can do."""
    return [body for body in server.requests if len(body["messages"]) == 2]


def test_a_persona_may_have_a_server_and_a_sampling_of_its_own(replicas: tuple[Scripted, Scripted], tmp_path: Path) -> None:
    first, second = replicas
    second.name = "other"
    roles = {"skeptic": {"base_url": second.base_url, "temperature": 0.3, "top_p": 0.8}}
    ledger = Ledger()
    hold(tmp_path, settings_for(first, tmp_path, roles=roles), make_items(2), ledger)
    assert len(debates_of(second)) == 4
    assert all("Doubt it." in body["messages"][1]["content"] for body in debates_of(second))
    assert {(body["model"], body["temperature"], body["top_p"]) for body in debates_of(second)} == {("other", 0.3, 0.8)}
    assert {(body["model"], body["temperature"]) for body in debates_of(first)} == {("scripted", 0.0)}
    assert ledger.distinct == 12


def test_roles_stand_in_the_record_by_name_and_never_by_address(replicas: tuple[Scripted, Scripted], tmp_path: Path) -> None:
    first, second = replicas
    second.name = "other"
    settings = settings_for(first, tmp_path, roles={"expert": {"base_url": second.base_url}})
    record = asyncio.run(plan_panel(settings, PERSONAS, make_items(1))).record()
    assert (record["name"], record["roles"]["expert"]["name"]) == ("scripted", "other")
    assert "127.0.0.1" not in json.dumps(record)


def test_replicas_must_serve_the_same(replicas: tuple[Scripted, Scripted], tmp_path: Path) -> None:
    first, second = replicas
    both = f"{first.base_url}, {second.base_url}"
    debates = hold(tmp_path, load_settings({"base_url": both, "cache": str(tmp_path / "c.sqlite")}), make_items(20))
    assert all(not debate.failed for debate in debates)
    assert min(len(debates_of(server)) for server in replicas) > 0
    second.name = "other"
    with pytest.raises(UserError, match="replicas must serve the same"):
        hold(tmp_path, load_settings({"base_url": both, "cache": str(tmp_path / "c.sqlite")}), make_items(1))


@pytest.mark.parametrize(("mode", "seen"), [("replace", "Only this."), ("add", "Evidence for case 0.\nOnly this.")])
def test_a_persona_may_have_evidence_of_its_own(server: Scripted, tmp_path: Path, mode: str, seen: str) -> None:
    (tmp_path / "own.jsonl").write_text(json.dumps({"item": "item-0", "evidence": "Only this."}) + "\n", encoding="utf-8")
    roles = {"expert": {"evidence": str(tmp_path / "own.jsonl"), "evidence_mode": mode}}
    hold(tmp_path, settings_for(server, tmp_path, roles=roles), make_items(2))
    shown = {
        (body["messages"][1]["content"].split('"""')[1].strip(), "Check it." in body["messages"][1]["content"])
        for body in debates_of(server)
        if "Claim number 0 " in body["messages"][1]["content"]
    }
    assert shown == {("Evidence for case 0.", False), (seen, True)}
    other = [body for body in debates_of(server) if "Claim number 1 " in body["messages"][1]["content"]]
    assert all("Only this." not in body["messages"][1]["content"] for body in other)


@pytest.mark.parametrize("line", ["{oops", '{"item": "a"}', '{"item": "a", "evidence": []}', '{"item": 1, "evidence": "x"}'])
def test_bad_evidence_of_a_role_is_an_error_with_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "own.jsonl").write_text(json.dumps({"item": "b", "evidence": "ok"}) + "\n" + line, encoding="utf-8")
    with pytest.raises(UserError, match=r"own\.jsonl, line 2"):
        role_evidence(RoleSettings(evidence=str(tmp_path / "own.jsonl")))


def test_an_unknown_role_is_an_error_that_lists_the_roles() -> None:
    with pytest.raises(UsageError, match="skeptic, advocate, expert and reflection"):
        check_roles({"sceptic": RoleSettings()}, PERSONAS)


def test_settings_with_roles_survive_toml(tmp_path: Path) -> None:
    settings = load_settings({"roles": {"skeptic": {"model": "a/b", "temperature": 0.5}, "my persona": {"top_p": 0.9}}})
    (tmp_path / "config.toml").write_text(to_toml(settings), encoding="utf-8")
    assert load_settings({}, tmp_path / "config.toml") == settings


LONG = " ".join(f"Sentence {n} is about matter {n % 7} and says little." for n in range(400))


def long_item(claim: str = "The bridge at Orne opened in 1932.") -> Item:
    return Item("long", claim, (LONG + " The bridge at Orne was opened in 1932. " + LONG,), Label.GROUNDED, "c")


CONTEXT = 2048


def test_evidence_that_does_not_fit_is_an_error_unless_a_policy_is_named() -> None:
    items = [*make_items(2), long_item()]
    assert fits(items[0], CONTEXT)
    assert not fits(items[2], CONTEXT)
    assert fits(items[2], 0)
    with pytest.raises(UserError, match=r"1 of 3 items .* 'long' .*protocol.long_evidence=chunk"):
        check_context(items, CONTEXT, "error")
    assert check_context(items, CONTEXT, "chunk") == ["long"]
    with pytest.raises(UserError, match="its claim alone fills"):
        check_context([Item("x", "word " * 1200, ("e",), None, "c")], CONTEXT, "chunk")


def test_pieces_fit_hold_everything_and_share_a_sentence() -> None:
    pieces = chunks(long_item(), CONTEXT)
    budget = evidence_budget(long_item(), CONTEXT)
    assert len(pieces) > 5
    assert all(len(piece.evidence_text.encode()) <= budget for piece in pieces)
    assert {piece.id for piece in pieces} == {"long"}
    assert any("The bridge at Orne was opened in 1932." in piece.evidence_text for piece in pieces)
    for before, after in itertools.pairwise(pieces):
        assert after.evidence_text.split(". ")[0] in before.evidence_text
    assert chunks(make_items(1)[0], CONTEXT)[0].evidence_text == make_items(1)[0].evidence_text


def test_a_text_without_sentences_and_in_another_script_is_cut_between_characters() -> None:
    item = Item("x", "claim", ("証拠" * 3000,), None, "c")
    pieces = chunks(item, CONTEXT)
    assert "".join(piece.evidence_text for piece in pieces) == item.evidence_text
    assert all(len(piece.evidence_text.encode()) <= evidence_budget(item, CONTEXT) for piece in pieces)


def test_the_sentences_nearest_to_the_claim_are_kept_in_their_order() -> None:
    found = select_sentences(long_item(), CONTEXT)
    assert "The bridge at Orne was opened in 1932." in found.evidence_text
    assert len(found.evidence_text.encode()) <= evidence_budget(long_item(), CONTEXT)
    numbers = [int(word) for word in found.evidence_text.replace("Sentence ", "|").split("|")[1:] for word in [word.split()[0]]]
    half = numbers.index(max(numbers)) + 1
    assert numbers[:half] == sorted(numbers[:half])


def test_a_debate_in_pieces_takes_the_one_that_supports_best(server: Scripted, tmp_path: Path) -> None:
    server.script = lambda body: answer("yes" if "bridge at Orne was" in body["messages"][-1]["content"] else "no", 70)
    more = {"context": CONTEXT, "protocol.long_evidence": "chunk", "protocol.rounds": 1}
    settings = settings_for(server, tmp_path, **more)

    async def go() -> Debate:
        plan = await plan_panel(settings, PERSONAS, [])
        async with open_panel(settings, plan, Ledger(), tmp_path / "log", lambda text: None) as executor:
            executor.context = CONTEXT  # the scripted server does not tell one
            return (await executor.run([DebateJob(long_item(), "cand", TEXTS)]))[0]

    debate = asyncio.run(go())
    pieces = len(chunks(long_item(), CONTEXT))
    assert debate.decision is Label.GROUNDED
    assert debate.rule.startswith("majority, piece ")
    assert debate.rule.endswith(f"of {pieces}")
    assert len(debates_of(server)) == 3 * pieces

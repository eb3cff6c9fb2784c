"""Transcripts made by hand, and a scripted model for whole runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optimizer.config import Settings, load_settings
from optimizer.debate.extract import Status
from optimizer.misinformation.arms import Arm, Condition, System
from optimizer.misinformation.records import Exposure, Role, Transcript, Utterance
from tests.conftest import Scripted, completion, make_items, write_items

YES, NO = "grounded", "not_grounded"
ANSWERS = {"y": YES, "n": NO, "?": ""}


def uttered(role: Role, turn: int, slot: int, letter: str, tokens: int = 10, again: bool = False, gold: str = YES) -> Utterance:
    """y is grounded, n is not, ? cannot be read, ! is ambiguous."""
    answer = ANSWERS.get(letter, "")
    status = Status.PARSED if answer else Status.AMBIGUOUS if letter == "!" else Status.NONE
    key = f"{role}{turn}{slot}{letter}{again}"
    return Utterance(
        role, turn, slot, f"agent_{slot + 1}", key, letter, "stop", tokens, status, answer, bool(answer) and answer == gold, again
    )


def debate(
    drafts: Sequence[str],
    ballots: Mapping[int, tuple[str, str]] | None = None,
    item: str = "item",
    exposed: Sequence[int] = (),
    agreed: int = 0,
    kind: str = "false",
    gold: str = YES,
    **exposure: Any,
) -> Transcript:
    """A debate: one word of letters a turn, and at some turns final answers and votes (for answers, by letter)."""
    said: list[Utterance] = []
    for turn, letters in enumerate(drafts, 1):
        said += [uttered(Role.DRAFT, turn, slot, letter, gold=gold) for slot, letter in enumerate(letters)]
        finals, votes = (ballots or {}).get(turn, ("", ""))
        said += [uttered(Role.FINAL, turn, slot, letter, gold=gold) for slot, letter in enumerate(finals)]
        said += [uttered(Role.VOTE, turn, slot, letter, gold=gold) for slot, letter in enumerate(votes)]
    shown = None
    if exposed:
        facts = {"provenance": "by hand", "words": 20, "names_answer": False, "verified": None, **exposure}
        wrong = NO if gold == YES else YES
        intended = {"false": wrong, "true": gold}.get(kind, "")
        shown = Exposure(tuple(exposed), kind, "plain", intended=intended, **facts)
    arm = Arm(System.DEBATE, Condition(len(exposed), kind if exposed else "", "plain" if exposed else ""))
    return Transcript(item, f"cluster of {item}", arm.id, 0, tuple(said), shown, agreed or len(drafts))


def samples(letters: str, system: System = System.MSC, item: str = "item", gold: str = YES) -> Transcript:
    """Samples of a model alone."""
    said = tuple(uttered(Role.SAMPLE, 1, slot, letter, gold=gold) for slot, letter in enumerate(letters))
    return Transcript(item, f"cluster of {item}", Arm(system).id, 0, said)


def gullible(body: dict[str, Any]) -> Any:
    """Right by itself; says what a passage says; joins the last contribution when it speaks third."""
    text = body["messages"][-1]["content"]
    if "Claim:" not in text:
        return completion("Answer: yes")
    truth = "yes" if "is true." in text.split("Claim:")[1] else "no"
    other = "no" if truth == "yes" else "yes"
    if "Vote for the one" in text:
        return completion("1" if f"1. {truth}" in text else "2")
    if "You have read this" in text and "false passage" in text:
        return completion(f"I have read otherwise. Answer: {other}")
    return completion(f"The evidence says so. Answer: {truth}")


def write_data(folder: Path, count: int = 12) -> Path:
    """Items with a plain false, a rumoured false and a plain true passage each, and filler."""
    data = folder / "data"
    data.mkdir()
    items = make_items(count)
    write_items(data / "items.jsonl", items)
    rows = []
    for item in items:
        for kind, style in (("false", "plain"), ("false", "rumor"), ("true", "plain")):
            text = f"A {kind} passage in style {style} about {item.id}, of a few words."
            rows.append({"item": item.id, "kind": kind, "style": style, "provenance": "tests", "text": text})
    (data / "passages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (data / "filler.txt").write_text("Nothing is said here at all.\nThis sentence is as empty as that one.\n", encoding="utf-8")
    return data


def run_settings(server: Scripted, folder: Path, **flags: Any) -> Settings:
    base = {
        "base_url": server.base_url,
        "data": str(folder / "data"),
        "runs": str(folder / "runs"),
        "cache": str(folder / "cache.sqlite"),
        "in_flight": 4,
    }
    return load_settings({**base, **flags})

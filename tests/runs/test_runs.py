"""Event logs survive kills, folders are never silently reused, and the seal register remembers."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.errors import UserError
from optimizer.runs.events import EventLog, read_events
from optimizer.runs.folder import differences, find_run, open_run
from optimizer.runs.seal import Contrast, SealRegister
from optimizer.sections import MisinformationSettings, ProtocolSettings


def test_an_event_is_written_once_and_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    assert log.record("duel", "a", score=1)
    assert not log.record("duel", "a", score=2)
    log.close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"v": 1, "id": "duel:b", "ki')
    log = EventLog(path)
    log.record("duel", "b", score=3)
    log.close()
    assert [event["score"] for event in read_events(path)] == [1, 3]


def test_a_damaged_or_newer_log_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"v": 1, "id": "x", "kind": "duel"}\nnonsense\n', encoding="utf-8")
    with pytest.raises(UserError, match="line 2: is no event"):
        list(read_events(path))
    path.write_text('{"v": 99, "id": "x", "kind": "duel"}\n', encoding="utf-8")
    with pytest.raises(UserError, match="line 1: event version 99, known is 1"):
        list(read_events(path))


def test_the_same_settings_take_a_run_up_and_others_are_refused_until_it_is_finished(tmp_path: Path) -> None:
    first, existed = open_run(tmp_path, "demo", {"a": 1}, "")
    assert not existed
    assert open_run(tmp_path, "demo", {"a": 1}, "") == (first, True)
    odd, _ = open_run(tmp_path, "skeptic+expert-my claims", {"a": 1}, "")
    assert open_run(tmp_path, "skeptic+expert-my claims", {"a": 1}, "") == (odd, True)
    with pytest.raises(UserError, match=r"begun differently \(a: 1 -> 2\)"):
        open_run(tmp_path, "demo", {"a": 2}, "")
    first.write_json("summary.json", {})
    assert first.finished
    assert open_run(tmp_path, "demo", {"a": 1}, "") == (first, True)
    odd, _ = open_run(tmp_path, "skeptic+expert-my claims", {"a": 1}, "")
    assert open_run(tmp_path, "skeptic+expert-my claims", {"a": 1}, "") == (odd, True)


def test_a_run_begun_before_there_was_a_setting_had_its_default(tmp_path: Path) -> None:
    new = {"protocol": ProtocolSettings().model_dump(), "rules": MisinformationSettings().model_dump()}
    old = {
        name: {key: value for key, value in part.items() if key not in ("vote_from", "max_tokens")} for name, part in new.items()
    }
    begun, _ = open_run(tmp_path, "demo", old, "")
    assert open_run(tmp_path, "demo", new, "") == (begun, True)
    with pytest.raises(UserError, match=r"protocol.vote_from: 1 -> 2"):
        open_run(tmp_path, "demo", {**new, "protocol": {**new["protocol"], "vote_from": 2}}, "")


def test_differences_name_nested_values() -> None:
    assert differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}, "d": "x"}) == ["a.c: 2 -> 3", 'd: null -> "x"']


def test_a_run_is_found_by_name_or_the_latest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none yet"):
        find_run(tmp_path)
    run, _ = open_run(tmp_path, "demo", {"kind": "optimize"}, "")
    assert find_run(tmp_path) == find_run(tmp_path, "demo") == find_run(tmp_path, run.path.name) == run
    with pytest.raises(UserError, match="no finished run"):
        find_run(tmp_path, "demo", finished=True)


def test_the_register_keeps_every_contrast_once(tmp_path: Path) -> None:
    register = SealRegister(tmp_path)
    contrast = Contrast("set", "run", "seed", "winner", 24, 0.1, 0.2)
    register.enter(contrast)
    register.enter(contrast)
    register.enter(Contrast("set", "other run", "seed", "winner", 24, 0.1, 0.2))
    register.enter(Contrast("other set", "run", "seed", "winner", 24, 0.1, 0.2))
    assert [found.run for found in register.contrasts("set")] == ["run", "other run"]
    assert len(register.contrasts()) == 3

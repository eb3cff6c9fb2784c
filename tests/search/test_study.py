"""The mirror into an Optuna study: a trial a candidate, resumed without doubles, and workers that share."""

from __future__ import annotations

from pathlib import Path

import optuna
import pytest

from optimizer.errors import UserError
from tests.conftest import Scripted
from tests.search.test_job import data, go, judge, settings

__all__ = ["data"]


def trials(url: str, study: str) -> list[optuna.trial.FrozenTrial]:
    return optuna.load_study(storage=url, study_name=study).get_trials()


def test_every_candidate_is_a_trial_with_its_text_and_scores_and_resuming_adds_none(server: Scripted, data: Path) -> None:
    server.script = judge
    url = f"sqlite:///{data / 'study.db'}"
    flags = {"optuna": url, "study": "mine", "persona": "skeptic", "search.budget": 1000}
    run = go(settings(server, data, **flags))
    result, found = run.summary()["result"], trials(url, "mine")
    assert {trial.user_attrs["candidate"] for trial in found} == {row["id"] for row in result["candidates"]}
    assert len(found) == len(result["candidates"])
    states = {trial.user_attrs["candidate"]: trial.state.name for trial in found}
    assert states[result["seed"]] == "COMPLETE"
    by_id = {row["id"]: row for row in result["candidates"]}
    for trial in found:
        row = by_id[trial.user_attrs["candidate"]]
        scores = {
            item: score for key, some in trial.user_attrs.items() if key.startswith("scores") for item, score in some.items()
        }
        assert 0 < len(scores) <= row["dev_items"]
        if trial.state.name == "COMPLETE":
            assert trial.value == row["dev_right"] / row["dev_items"] == sum(scores.values()) / len(scores)
        assert "skeptic" in trial.user_attrs["texts 000"]
    plain = go(settings(server, data, **{**flags, "optuna": "", "runs": str(data / "plain")}))
    assert plain.summary()["result"] == result  # alone, the mirror changes nothing
    (run.path / "summary.json").unlink()
    assert go(settings(server, data, **flags)).summary()["result"] == result
    assert len(trials(url, "mine")) == len(found)


def test_a_second_worker_repeats_nothing_and_takes_what_the_first_found(server: Scripted, data: Path) -> None:
    server.script = judge
    url = f"sqlite:///{data / 'study.db'}"
    flags = {"optuna": url, "study": "ours", "persona": "skeptic", "search.budget": 1000, "search.reflections": 0}
    first = go(settings(server, data, **flags)).summary()["result"]
    second = go(settings(server, data, **{**flags, "runs": str(data / "second")})).summary()["result"]
    tried = {row["id"] for row in first["candidates"]} - {first["seed"]}
    origins = {row["id"]: row["origin"] for row in second["candidates"]}
    assert all(origins[each].startswith("shared") for each in tried & set(origins))
    assert second["winner"] == first["winner"]


def test_a_storage_that_cannot_be_used_is_told(server: Scripted, data: Path) -> None:
    server.script = judge
    with pytest.raises(UserError, match=r"--optuna nonsense://x: cannot be used"):
        go(settings(server, data, optuna="nonsense://x"))

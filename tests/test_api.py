"""The library's functions, in a script and inside a running event loop."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from optimizer.api import evaluate, judge, judge_async
from optimizer.config import Settings, load_settings
from optimizer.data.item import Label
from optimizer.errors import UserError
from tests.conftest import Scripted, make_items, write_items


@pytest.fixture
def settings(server: Scripted, tmp_path: Path) -> Settings:
    write_items(tmp_path / "items.jsonl", make_items(6))
    return load_settings(
        {
            "base_url": server.base_url,
            "cache": str(tmp_path / "cache.sqlite"),
            "runs": str(tmp_path / "runs"),
            "data": str(tmp_path / "items.jsonl"),
        }
    )


def test_items_are_judged_in_their_order_in_a_script(settings: Settings) -> None:
    debates = judge(make_items(3), settings)
    assert [debate.item for debate in debates] == ["item-0", "item-1", "item-2"]
    assert {debate.decision for debate in debates} == {Label.GROUNDED}


def test_the_plain_functions_work_where_an_event_loop_runs(settings: Settings) -> None:
    async def notebook() -> list[str]:
        inside = judge(make_items(2), settings)
        awaited = await judge_async(make_items(2), settings)
        return [debate.item for debate in inside + awaited]

    assert asyncio.run(notebook()) == ["item-0", "item-1"] * 2


def test_own_texts_are_the_panel(settings: Settings, server: Scripted) -> None:
    debate = judge(make_items(1), settings, {"critic": "Be critical.", "fan": "Be kind."})[0]
    assert {turn.persona for turn in debate.turns} == {"critic", "fan"}


def test_an_evaluation_leaves_its_run(settings: Settings) -> None:
    assert evaluate(settings).summary()["arms"][0]["accuracy"]["items"] == 6


def test_errors_come_out_of_the_thread(settings: Settings) -> None:
    async def notebook() -> None:
        judge(make_items(1), settings.model_copy(update={"base_url": "http://127.0.0.1:9/v1"}))

    with pytest.raises(UserError, match="no answer"):
        asyncio.run(notebook())

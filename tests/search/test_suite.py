"""A suite in which a mixture draws from a benchmark that is measured too."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from optimizer.analysis.suite import compare_suite
from optimizer.config import Settings, load_settings
from optimizer.data.suites import suite_of
from optimizer.debate.controls import Control
from optimizer.errors import UserError
from optimizer.search.suite import run_suite, suite_scores
from tests.conftest import Scripted, make_items, write_items
from tests.data.formats.published import vitaminc_row, write_lines


@pytest.fixture
def settings(server: Scripted, tmp_path: Path) -> Settings:
    cache, runs = tmp_path / "cache.sqlite", tmp_path / "runs"
    return load_settings({"base_url": server.base_url, "cache": str(cache), "runs": str(runs)})


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    """24 items on 6 pages; a mixture of 8 of them; and a file of its own whose clusters are called like the pages."""
    rows = [vitaminc_row(f"c{i}", i, "SUPPORTS" if i % 2 else "REFUTES", page=f"P{i // 4}") for i in range(24)]
    own = [{"id": f"own-{i}", "claim": f"c{i}", "evidence": "e", "label": "yes", "cluster": f"vitaminc:P{i}"} for i in range(2)]
    write_lines(tmp_path / "test.jsonl", rows)
    write_lines(tmp_path / "own.jsonl", own)
    (tmp_path / "mixture.toml").write_text('items = 8\n[[sources]]\ndata = "test.jsonl"\n', encoding="utf-8")
    return [str(tmp_path / name) for name in ("test.jsonl", "mixture.toml", "own.jsonl")]


def test_what_a_mixture_shares_with_its_source_counts_once_and_keeps_its_clusters(settings: Settings, data: list[str]) -> None:
    done = asyncio.run(run_suite(settings, suite_of(data, settings)))
    assert list(done.finished) == ["test", "mixture", "own"]
    found = compare_suite(suite_scores(done.finished, Control.SINGLE), "single")
    assert [(row.difference.items, row.difference.clusters) for row in found.rows] == [(24, 6), (8, 4), (2, 2)]
    assert found.shared == 8
    assert (found.pooled.difference.items, found.pooled.difference.clusters) == (26, 8)


def test_a_mixture_of_other_items_than_those_measured_shares_their_clusters_all_the_same(
    settings: Settings, data: list[str]
) -> None:
    done = asyncio.run(run_suite(settings, suite_of(data[:2], settings), limit=6))
    scores = suite_scores(done.finished, Control.SINGLE)
    assert len(set(scores[0].clusters.values()) | set(scores[1].clusters.values())) == 6


def test_a_reference_that_was_not_measured_is_an_error(settings: Settings, data: list[str]) -> None:
    done = asyncio.run(run_suite(settings, suite_of(data[2:], settings)))
    with pytest.raises(UserError, match="has not measured self-consistency; it has panel, single"):
        suite_scores(done.finished, Control.SELF_CONSISTENCY)


def test_evidence_that_does_not_fit_fails_its_data_set_alone(
    settings: Settings, data: list[str], tmp_path: Path, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def models(self: Scripted, request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": self.name, "max_model_len": 4_096}]})

    monkeypatch.setattr(Scripted, "models", models)
    server.die()
    server.start()
    long = {"id": "long", "claim": "c", "evidence": "word " * 40_000, "label": "yes"}
    write_lines(tmp_path / "long.jsonl", [long])
    done = asyncio.run(run_suite(settings, suite_of([str(tmp_path / "long.jsonl"), data[2]], settings)))
    assert list(done.finished) == ["own"]
    assert "1 of 1 items have more evidence than fits" in done.failed["long"]


def test_what_is_wrong_with_every_data_set_is_raised_as_it_is(settings: Settings, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_items(tmp_path / f"{name}.jsonl", make_items(4))
    gone = settings.model_copy(update={"base_url": "http://127.0.0.1:9/v1"})
    with pytest.raises(UserError, match="no answer"):
        asyncio.run(run_suite(gone, suite_of([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")], gone)))

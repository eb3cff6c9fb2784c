"""The commands misinform and propagation, as a person uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_cli import as_json, optimizer
from tests.conftest import Scripted
from tests.misinformation.made import gullible, write_data


@pytest.fixture
def base(server: Scripted, tmp_path: Path) -> list[str]:
    server.script = gullible
    write_data(tmp_path)
    return ["--base-url", server.base_url, "--set", "cache=cache.sqlite"]


def test_misinform_prints_curves_and_goes_on_to_propagation(base: list[str], tmp_path: Path) -> None:
    arguments = ["misinform", "data", "--k", "0,1,3", "--kinds", "false,true", *base]
    found: dict[str, Any] = as_json(*arguments, cwd=tmp_path)
    cells = {(cell["name"], cell["condition"]["kind"], cell["condition"]["exposed"]): cell for cell in found["cells"]}
    assert cells["debate, voting", "false", 3]["accuracy"]["value"] == 0
    assert cells["debate, voting", "true", 3]["accuracy"]["value"] == 1
    assert cells["mSC", "", 0]["tokens"] == 330
    against = {each["against"]: each for each in cells["debate, voting", "false", 3]["contrasts"]}
    assert against["no exposure"]["difference"]["difference"] == -1
    assert found["falsity"]
    assert found["spent"]["shared"] > 0
    terms = found["decompositions"][0]
    assert sum(term["value"] for term in terms["terms"]) == pytest.approx(terms["total"]["value"])

    text = optimizer(*arguments, cwd=tmp_path)  # finished: the same again, as a table
    assert "Decomposition in points" in text.stdout
    assert "mSC minus single is ensembling and temperature together" in text.stdout
    markdown = optimizer(*arguments, "--markdown", cwd=tmp_path).stdout
    assert "| debate, consensus | 3 | false plain | 12 | 0.0 (0–24)" in markdown

    spread = as_json("propagation", cwd=tmp_path)["runs"][0]["spreads"]
    one = next(each for each in spread if each["arm"]["condition"] == {"exposed": 1, "kind": "false", "style": "plain"})
    assert one["injected"]["value"] == 1  # the gullible believe what they read, and the others do not move
    assert one["adoption"]["from_exposed"]["value"] == 0
    for flag in ([], ["--markdown"]):
        assert "how answers spread" in optimizer("propagation", *flag, cwd=tmp_path).stdout
    shown = optimizer("show", "misinform-data", "item-1", "--candidate", "debate/false plain 1/none", cwd=tmp_path).stdout
    assert "consensus: " in shown
    assert "false passage in style plain for agent" in shown


def test_a_file_or_the_seed_is_the_sentence_about_sources(base: list[str], tmp_path: Path) -> None:
    (tmp_path / "wary.md").write_text("Be wary.", encoding="utf-8")
    for name in ("seed", "wary.md"):
        arguments = ["--k", "0,3", "--skepticism", name, "--verifier", "--limit", "4", "--new", "--runs", name[:4], *base]
        found = as_json("misinform", "data", *arguments, cwd=tmp_path)
        assert {cell["mitigation"] for cell in found["cells"]} == {"none", "skepticism", "verifier"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["misinform", "data", "--k", "0,4"], 2, "exposed agents must be 0 to 3"),
        (["misinform", "data", "--k", "many"], 2, "--k 'many' must be numbers of agents"),
        (["misinform", "data", "--kinds", "odd"], 2, "unknown kind of passage 'odd'; valid are false, true, irrelevant_true"),
        (["misinform", "data", "--baselines", "odd"], 2, "valid are single, single-debate, msc, sc15"),
        (["misinform", "data", "--styles", "hoax"], 1, "no false passage in style 'hoax' for these items"),
        (["misinform", "data", "--styles", "two words"], 2, "style 'two words' has a space"),
        (["misinform", "data", "--skepticism", "none.md"], 1, "none.md: no such prompt file"),
        (["misinform", "data", "--set", "misinformation.vote_from=7"], 2, "vote_from is 7, but there are only 5 turns"),
        (["misinform", "data", "--set", "misinformation.passages=no.jsonl"], 1, "no.jsonl: no such file of passages"),
        (["misinform", "none"], 1, "none: no such data file"),
        (["propagation"], 1, "no run there"),
        (["propagation", "runs/other"], 1, "runs/other: is a run of kind optimize"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_fault_is_one_line_that_says_what_to_do(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    write_data(tmp_path, 4)
    if "runs/other" in arguments:
        (tmp_path / "runs" / "other").mkdir(parents=True)
        (tmp_path / "runs" / "other" / "resolved.json").write_text('{"kind": "optimize", "rules": {"agents": 3}}')
        (tmp_path / "runs" / "other" / "summary.json").write_text("{}")
    result = optimizer(*arguments, cwd=tmp_path)
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr

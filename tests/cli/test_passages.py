"""The commands passages make and passages judge, and optimising under conditions, as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.test_cli import as_json, optimizer
from tests.conftest import Scripted, completion, make_items, write_items
from tests.misinformation.test_passages import writer


def both(body: dict[str, Any]) -> Any:
    if "Go by the passage alone" not in body["messages"][-1]["content"]:
        return writer(body)
    said = {"implied_answer": "no", "contradicts_gold": True, "supports_wrong": True, "names_wrong": False}
    return completion(json.dumps(said))


def test_passages_are_made_judged_and_searched_with(replicas: tuple[Scripted, Scripted], tmp_path: Path) -> None:
    one, two = replicas
    one.script = two.script = both
    two.name = "other"
    (tmp_path / "data").mkdir()
    write_items(tmp_path / "data" / "items.jsonl", make_items(40))
    make = ["passages", "make", "data", "--base-url", one.base_url, "--set", "cache=cache.sqlite", "--styles", "plain,hoax"]
    made = as_json(*make, cwd=tmp_path)
    assert (made["passages"], made["bad_replies"], made["model"]) == (160, 0, "scripted")
    again = optimizer(*make, cwd=tmp_path)
    assert (again.returncode, "is there already; name another file with --to" in again.stderr) == (1, True)
    text = optimizer(*make, "--from", "data/passages.jsonl", "--paraphrase", "--to", "other.jsonl", "--limit", "4", cwd=tmp_path)
    assert "0 of 16 replies were unusable" in text.stdout
    bad = optimizer("passages", "make", "data", "--styles", "ode", cwd=tmp_path)
    assert (bad.returncode, "styles are plain, clickbait" in bad.stderr) == (2, True)

    judge = ["passages", "judge", "data", "--set", "cache=cache.sqlite", "--judge", f"scripted@{one.base_url}"]
    assert "give --judge twice" in optimizer(*judge, cwd=tmp_path).stderr
    told = optimizer(*judge, "--judge", f"other@{two.base_url}", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert all(f"{style} " in told.stdout for style in ("plain", "hoax"))
    assert "40/40" in told.stdout
    assert "one always says the same" in told.stdout
    report = as_json(*judge, "--judge", f"other@{two.base_url}", cwd=tmp_path)
    assert (report["paid"], report["left_out"][0]["verified"]) == (0, 80)

    search = ["optimize", "--persona", "source_skepticism", "--data", "data", "--base-url", one.base_url, "--dry-run"]
    plan = optimizer(*search, "--set", "cache=cache.sqlite", cwd=tmp_path)
    assert "under the conditions F1, Fn, T1, Tn, 0" in plan.stdout
    assert "to rule out a loss of 3 points (search.margin)" in plan.stdout
    plain = as_json(*search, "--set", "search.conditions=none", "--set", "cache=cache.sqlite", cwd=tmp_path)
    assert plain["not_worse"] is None

"""Objectives as item scores: their mean is the objective, the search follows it, the sealed test decides on it."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import balanced_accuracy_score

from optimizer.config import ConfigError, load_settings
from optimizer.data.item import Item, Label, Task
from optimizer.debate.records import Debate
from optimizer.errors import UserError
from optimizer.search.job import optimize, prepare
from optimizer.search.objective import check_objective, confusion, objective_for
from optimizer.sections import SearchSettings
from tests.conftest import Scripted, answer, completion, make_items, write_items

YES, NO = Label.GROUNDED, Label.NOT_GROUNDED


def sample(seed: int) -> tuple[list[Item], dict[str, Debate]]:
    """Three claims in four grounded, answered at random, some not at all and one failed."""
    draw = random.Random(seed)
    items = [Item(str(n), f"Claim {n}", ("e",), YES if n % 4 else NO, f"c{n}") for n in range(60)]
    said: dict[str, Debate] = {i.id: Debate(i.id, "c", 0, (), draw.choice([YES, YES, NO, None])) for i in items}
    return items, said


@pytest.mark.parametrize("seed", range(5))
def test_the_mean_score_times_the_unit_is_balanced_accuracy(seed: int) -> None:
    items, said = sample(seed)
    objective = objective_for(SearchSettings(objective="balanced_accuracy"), items)
    scores = [objective.score(said[item.id], item) or 0.0 for item in items]
    expected = balanced_accuracy_score([item.label for item in items], [said[item.id].decision or "none" for item in items])
    assert objective.unit * sum(scores) / len(scores) == pytest.approx(expected)
    assert max(scores) <= 1.0


def test_the_mean_score_is_the_cost_that_is_saved() -> None:
    items, said = sample(1)
    objective = objective_for(SearchSettings(objective="cost", cost_wrong=5, cost_abstained=2), items)
    costs = [0 if said[i.id].decision is i.label else 2 if said[i.id].decision is None else 5 for i in items]
    mean = sum(objective.score(said[i.id], i) or 0.0 for i in items) / len(items)
    assert objective.unit * (1 - mean) == pytest.approx(sum(costs) / len(costs))


def test_macro_f1_weighs_the_class_more_whose_mended_answer_brings_more() -> None:
    items, said = sample(2)
    objective = objective_for(SearchSettings(objective="macro_f1"), items, confusion(said, items))
    assert objective.right[NO] == 1.0 > objective.right[YES] > 0.0


def test_a_failed_debate_has_no_score() -> None:
    items, _ = sample(0)
    failed = Debate(items[0].id, "c", 0, (), failure="gone")
    for name in ("accuracy", "balanced_accuracy", "cost"):
        assert objective_for(SearchSettings(objective=name), items).score(failed, items[0]) is None


def test_objectives_that_need_labels_are_refused_without_them() -> None:
    items, _ = sample(0)
    balanced = SearchSettings(objective="balanced_accuracy")
    check_objective(balanced, items)
    with pytest.raises(UserError, match="needs both labels"):
        check_objective(balanced, [item for item in items if item.label is YES])
    with pytest.raises(UserError, match="for claims with labels"):
        check_objective(balanced, [Item("q", "How many?", (), None, "c", task=Task.NUMBER, answers=("3",))])
    with pytest.raises(ConfigError, match="objective cost needs"):
        load_settings({"search.objective": "cost", "search.cost_wrong": 0, "search.cost_abstained": 0})


@pytest.mark.parametrize("objective", ["balanced_accuracy", "macro_f1", "cost"])
def test_a_search_for_another_objective_takes_another_winner(server: Scripted, tmp_path: Path, objective: str) -> None:
    """The lenient text is right on the many grounded claims; the strict one on the few others and on most grounded ones."""

    def judge(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        if "Claim:" not in text:
            return answer("yes")
        number, truth = int(text.split("number ")[1].split()[0]), " true." in text
        if "Lenient" in text:
            return answer("yes")
        if "Strict" in text:
            return completion("I do not know") if truth and number % 10 == 0 else answer("yes" if truth else "no")
        return answer("no" if truth and number % 3 == 0 else "yes")

    server.script = judge
    items = [item for item in make_items(160) if item.label is YES or item.id[-1] == "1"]
    write_items(tmp_path / "items.jsonl", items)
    for name in ("strict", "lenient"):
        (tmp_path / "prompts/expert/alternatives").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"prompts/expert/alternatives/{name}.md").write_text(f"{name.title()}.")
    (tmp_path / "prompts/expert/seed.md").write_text("Plain.")
    settings = load_settings(
        {
            "base_url": server.base_url, "data": str(tmp_path / "items.jsonl"), "prompts": str(tmp_path / "prompts"),
            "runs": str(tmp_path / "runs"), "cache": str(tmp_path / "cache.sqlite"), "panel": "expert", "persona": "expert",
            "protocol.rounds": 1, "search.reflections": 0, "search.schedule": "exhaustive", "search.objective": objective,
            "search.cost_wrong": 5, "search.budget": 400, "splits.train": 6, "splits.dev": 40, "splits.test": 40,
        }
    )  # fmt: skip
    run = asyncio.run(optimize(asyncio.run(prepare(settings))))
    result = run.summary()["result"]
    assert (run.winner / "expert.md").read_text().strip() == "Strict."
    found = result["test"]["objective"]
    assert found["name"] == objective
    assert found["gain"] == pytest.approx((found["winner"] - found["seed"]) * (-1 if objective == "cost" else 1))
    assert found["gain"] > 0
    words = {"balanced_accuracy": "balanced accuracy", "macro_f1": "macro F1", "cost": "expected cost"}[objective]
    assert f"{words} {found['seed']:.3f} before, {found['winner']:.3f} after" in result["statement"]

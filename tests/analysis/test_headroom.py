"""Headroom of hand-made debates with known answers."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from optimizer.analysis.headroom import Lost, chance_control, lost_counts, where_lost
from optimizer.analysis.headroom_report import headroom_report
from optimizer.analysis.pool import Member, Pool
from optimizer.analysis.traits import shared_traits
from optimizer.debate.records import Debate
from optimizer.report.headroom import lost_rows, matrix_csv, statements, suspects_jsonl, to_json, view_rows
from tests.analysis.records import debate, item, right_or_wrong

ITEMS = [item(f"i{n:02}", "yn"[n % 2], cluster=f"c{n // 2}") for n in range(40)]


def pool(debates: dict[str, list[Debate]], items: list[object] = ITEMS, independent: bool = True, **more: object) -> Pool:  # type: ignore[assignment]
    members = tuple(Member(name, name, "run", independent or name == "seed") for name in debates)
    held = {name: {each.item: each for each in found} for name, found in debates.items()}
    fields: dict[str, object] = {"control": (), "control_kind": "repeats of the seed", "partial": 0, "runs": ("run",), **more}
    return Pool(tuple(items), members, held, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rounds", "elsewhere", "expected"),
    [
        (("nnn", "---"), True, Lost.NO_DECISION),
        (("yyy", "ynn"), True, Lost.VOTE),
        (("yyn", "nnn"), True, Lost.ROUND),
        (("nnn", "nnn"), True, Lost.PROMPT),
        (("nnn", "nnn"), False, Lost.NONE),
        (("nnn",), False, Lost.NONE),
    ],
)
def test_a_wrong_item_is_lost_at_the_first_stage_that_applies(rounds: tuple[str, ...], elsewhere: bool, expected: Lost) -> None:
    assert where_lost(debate("a", "c", *rounds), item("a", "y"), elsewhere) is expected


def test_losses_add_up_to_the_errors_and_the_candidate_is_no_other() -> None:
    items = {name: item(name) for name in "abcd"}
    debates = [debate("a", "c", "yyy"), debate("b", "c", "nnn"), debate("c", "c", "ynn"), debate("d", "c", "nnn")]
    scores = {"c": dict.fromkeys("abcd", 0.0) | {"a": 1.0}, "other": dict.fromkeys("abcd", 0.0) | {"b": 1.0}}
    found = lost_counts(debates, items, scores)
    assert found == {Lost.PROMPT: 1, Lost.VOTE: 1, Lost.NONE: 1}


def test_the_chance_control_is_the_mean_over_all_choices_of_runs() -> None:
    runs = [
        {"a": 1.0, "b": 0.0, "c": 0.0},
        {"a": 0.0, "b": 0.0, "c": 1.0},
        {"a": 1.0, "b": 0.0, "c": 0.0},
        {"a": 0.0, "b": 0.0, "c": 0.0},
    ]
    expected = [sum(any(runs[n][name] for n in chosen) for name in "abc") / 3 for chosen in itertools.combinations(range(4), 2)]
    found = chance_control(runs, 2, "repeats")
    assert found.oracle == pytest.approx(sum(expected) / len(expected))
    assert not found.modelled


def test_the_chance_control_with_too_few_runs_is_a_model_and_says_so() -> None:
    runs = [{str(n): float(n < 60) for n in range(100)}] * 3
    found = chance_control(runs, 8, "repeats")
    assert found.modelled
    assert found.oracle == pytest.approx(0.6, abs=0.02)
    with pytest.raises(ValueError, match="two at least"):
        chance_control(runs[:1], 2, "repeats")


def test_a_pool_of_identical_candidates_has_no_more_than_chance() -> None:
    right = {each.id for each in ITEMS[:24]}
    same = {name: right_or_wrong(ITEMS, name, right) for name in ("seed", "b", "c")}
    scores = {each.id: float(each.id in right) for each in ITEMS}
    found = headroom_report(pool(same, control=(scores, scores, scores)))
    assert found.headroom.oracle == found.best.accuracy.value == 0.6
    assert found.chance is not None
    assert found.chance.oracle == pytest.approx(0.6)
    assert found.headroom.headroom == 0


def test_the_report_counts_everything_once() -> None:
    first, second = {each.id for each in ITEMS[:20]}, {each.id for each in ITEMS[10:30]}
    held = {"seed": right_or_wrong(ITEMS, "seed", first), "b": right_or_wrong(ITEMS, "b", second)}
    found = headroom_report(pool(held))
    assert len(found.headroom.always_wrong) == 10
    assert found.headroom.oracle == 0.75
    assert sum(bad for bad, _ in found.wrong_by_label.values()) == 10
    assert sum(total for _, total in found.wrong_by_label.values()) == 40
    for each in found.candidates:
        assert sum(each.lost.values()) == each.accuracy.items - each.accuracy.right
    assert {view.name for view in found.views} == {
        "panel", "skeptic alone, last round", "advocate alone, last round", "expert alone, last round",
    }  # fmt: skip
    assert all(view.headroom.oracle == 0.75 for view in found.views)
    text = " ".join(statements(found))
    assert "Always wrong: 10 items (25.0 %)" in text
    assert "--control K" in text
    assert "too few to say" in text
    assert len(lost_rows(found)[1]) == 2
    assert len(view_rows(found)[1]) == 4


def test_rounds_are_views_of_their_own() -> None:
    items = ITEMS[:2]
    held = {"seed": [debate(items[0].id, "seed", "yyy", "nnn"), debate(items[1].id, "seed", "yyy", "nnn")]}
    found = {view.name: view for view in headroom_report(pool(held, items)).views}  # type: ignore[arg-type]
    assert found["panel"].seed == 0.5
    assert found["decided after round 1"].seed == 0.5
    assert found["panel"].headroom.always_wrong == (items[0].id,)
    assert found["decided after round 1"].headroom.always_wrong == (items[1].id,)


def test_a_suspect_is_always_wrong_with_one_voice_and_high_confidence() -> None:
    items = ITEMS[:3]
    held = {
        name: [
            debate(items[0].id, name, "nnn", confidence=95),
            debate(items[1].id, name, "yyy", confidence=40),
            debate(items[2].id, name, "nny", confidence=95),
        ]
        for name in ("seed", "b")
    }
    given = pool(held, items)  # type: ignore[arg-type]
    found = headroom_report(given)
    assert [suspect.item for suspect in found.suspects] == [items[0].id]
    (record,) = suspects_jsonl(found, given)
    assert record["id"] == items[0].id
    assert (record["label"], record["panel"]) == ("grounded", ["not_grounded"])
    assert to_json(found, given)["matrix"]["seed"][items[0].id] == 0
    assert matrix_csv(given).splitlines()[1] == f"{items[0].id},grounded,0,0"


def test_a_trait_of_the_always_wrong_is_found_and_chance_is_not() -> None:
    items = [replace(each, category="cause" if n < 12 else "date", domain="abc"[n % 3]) for n, each in enumerate(ITEMS)]
    held = {each.id: [debate(each.id, "seed", "nnn")] for each in items}
    traits = {trait.name: trait for trait in shared_traits(items, [each.id for each in items[:10]], held)}
    assert traits["category cause"].p_holm < 0.05
    assert (traits["category cause"].wrong, traits["category cause"].items) == (10, 12)
    assert all(trait.p > 0.05 for name, trait in traits.items() if name.startswith("domain"))
    assert shared_traits(items, [], held) == []


def test_traits_are_permuted_by_cluster() -> None:
    """Ten wrong items in one large cluster are one observation, not ten."""
    items = [replace(each, cluster=f"c{n // 10}", category="cause" if n < 10 else "date") for n, each in enumerate(ITEMS)]
    held = {each.id: [debate(each.id, "seed", "nnn")] for each in items}
    (trait,) = [t for t in shared_traits(items, [each.id for each in items[:10]], held) if t.name == "category cause"]
    assert trait.p > 0.2


def test_the_outlook_leaves_out_what_descends_from_another() -> None:
    held = {name: right_or_wrong(ITEMS, name, {ITEMS[n].id}) for n, name in enumerate(("seed", "b", "c", "d"))}
    alone, bred = headroom_report(pool(held)), headroom_report(pool(held, independent=False))
    assert alone.outlook_candidates == 4
    assert bred.outlook_candidates == 1
    assert alone.outlook.solved_once == 4

"""A mixture has the shares, the balance and the draws that its recipe says, and says so where it cannot."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from optimizer.data.datafile import Data, load_data
from optimizer.data.formats.base import Loading
from optimizer.data.formats.composed import divide
from optimizer.data.item import Label
from optimizer.errors import UserError
from tests.data.formats.published import fool_row, vitaminc_row, wice_row, write_lines


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """40 + 40 VitaminC, 20 + 40 WiCE, 30 + 10 FoolMeTwice items (grounded + not)."""
    vitaminc = [vitaminc_row(f"c{i}", i, "SUPPORTS" if i % 2 else "REFUTES", page=f"P{i // 4}") for i in range(80)]
    wice = [wice_row(f"dev{i:05}", "not_supported" if i % 3 else "supported", f"T{i // 2}") for i in range(60)]
    fool = [fool_row(f"f{i}", "SUPPORTS" if i % 4 else "REFUTES", f"W{i}") for i in range(40)]
    write_lines(tmp_path / "vitaminc" / "test.jsonl", vitaminc)
    write_lines(tmp_path / "wice.jsonl", wice)
    write_lines(tmp_path / "fool.jsonl", fool)
    return tmp_path


def recipe(folder: Path, *parts: str, head: str = "") -> Path:
    path = folder / "mixture.toml"
    path.write_text(head + "\n" + "\n".join(f"[[sources]]\n{part}" for part in parts), encoding="utf-8")
    return path


THREE = ('data = "vitaminc"\nshare = 2', 'data = "wice.jsonl"\nshare = 1', 'data = "fool.jsonl"\nshare = 1')


def mix(path: Path, **options: str) -> Data:
    return load_data(path, Loading(options=options))


@pytest.mark.parametrize("items", [4, 10, 40, 41, 80])
def test_shares_and_balance_hold(sources: Path, items: int) -> None:
    data = mix(recipe(sources, *THREE, head=f"items = {items}"))
    by_source = Counter(item.source for item in data.items)
    assert [by_source[name] for name in ("vitaminc", "wice", "fool_me_twice")] == divide(items, [2, 1, 1])
    labels = Counter(item.label for item in data.items)
    assert abs(labels[Label.GROUNDED] - labels[Label.NOT_GROUNDED]) <= items % 2
    assert data.format == "composed"


def test_without_a_number_it_is_as_large_as_shares_and_balance_allow(sources: Path) -> None:
    # FoolMeTwice has 10 of the rarer label: 20 items are a quarter.
    counts = Counter(item.source for item in mix(recipe(sources, *THREE)).items)
    assert counts == {"vitaminc": 40, "wice": 20, "fool_me_twice": 20}


def test_the_seed_fixes_the_draw(sources: Path) -> None:
    path = recipe(sources, *THREE, head="items = 20\nseed = 7")
    drawn = [item.id for item in mix(path).items]
    assert drawn == [item.id for item in mix(path).items]
    assert drawn == [item.id for item in mix(path, seed="7").items]
    assert drawn != [item.id for item in mix(path, seed="8").items]


def test_it_is_drawn_over_many_clusters(sources: Path) -> None:
    items = mix(recipe(sources, 'data = "vitaminc"', head="items = 20")).items
    assert len({item.cluster for item in items}) >= 10


def test_sources_have_label_maps_and_options_of_their_own(sources: Path) -> None:
    rows = [wice_row("dev90000", "partially_supported", "Z"), wice_row("dev90001", "not_supported", "Z")]
    write_lines(sources / "two.jsonl", rows)
    data = mix(
        recipe(
            sources,
            'data = "two.jsonl"\nlabel_map = "partially_supported=grounded"',
            'data = "fool.jsonl"\noptions = { evidence = "retrieved" }',
        )
    )
    assert data.labels["wice: partially_supported"] is Label.GROUNDED
    assert next(item for item in data.items if item.source == "fool_me_twice").evidence[0] == "It is remembered."


def test_an_item_of_two_sources_counts_once_and_is_reported(sources: Path) -> None:
    write_lines(sources / "more.jsonl", [fool_row("f0", "REFUTES", "W0"), *(fool_row(f"g{i}", LABELS[i], "V") for i in range(2))])
    data = mix(recipe(sources, 'data = "fool.jsonl"', 'data = "more.jsonl"'))
    assert data.left_out == {"more.jsonl: is in an earlier source too": ["fool_me_twice:f0"]}
    assert len({item.id for item in data.items}) == len(data.items)


LABELS = ("SUPPORTS", "REFUTES")


def test_what_a_source_left_out_is_passed_on(sources: Path) -> None:
    row = fool_row("f0", "REFUTES", "W0")
    write_lines(sources / "twice.jsonl", [row, row, fool_row("f1", "SUPPORTS", "W0")])
    assert mix(recipe(sources, 'data = "twice.jsonl"')).left_out == {
        "twice.jsonl: repeats an earlier record": ["fool_me_twice:f0"]
    }


@pytest.mark.parametrize(
    ("parts", "head", "message"),
    [
        (THREE, "items = 100", r"source fool.jsonl has 10 items of label not_grounded, but 1[23] are asked for"),
        (THREE[:1], 'sed = "x"', r"mixture.toml: sed: Extra inputs are not permitted"),
        (('data = "vitaminc"\nshare = 0',), "", r"sources.0.share: Input should be greater than 0"),
        (('data = "none.jsonl"',), "", r"none.jsonl: no such data file"),
        (('data = "mixture.toml"',), "", r"source mixture.toml is a mixture itself"),
        (('data = "vitaminc"\nlabel_map = "x=y"',), "", r"source vitaminc: label map part 'x=y'"),
        (('data = "one.jsonl"',), "", r"source one.jsonl holds grounded items only, so it cannot be balanced"),
        (('data = "fool.jsonl"', 'data = "fool.jsonl"'), "", r"source fool.jsonl has no item that an earlier one has not"),
    ],
)
def test_a_bad_recipe_is_named(sources: Path, parts: tuple[str, ...], head: str, message: str) -> None:
    write_lines(sources / "one.jsonl", [fool_row("f1", "SUPPORTS", "W0")])
    with pytest.raises(UserError, match=message):
        mix(recipe(sources, *parts, head=head))


@pytest.mark.parametrize(
    ("total", "shares", "parts"),
    [
        (10, [1, 1, 1], [4, 3, 3]),
        (0, [1, 2], [0, 0]),
        (7, [0.5, 0.25, 0.25], [3, 2, 2]),
        (5, [1], [5]),
        (3, [8, 1, 1], [3, 0, 0]),
    ],
)
def test_whole_parts_add_up(total: int, shares: list[float], parts: list[int]) -> None:
    assert divide(total, shares) == parts

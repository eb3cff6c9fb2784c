"""Splits respect clusters and labels, and are the same in every process."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from optimizer.data.item import Item, Label, Task, items_hash
from optimizer.data.leaks import PLACES, places
from optimizer.data.loaders import load_items
from optimizer.data.split_files import manifest_of, write_splits
from optimizer.data.splits import LEFT_OUT, SHARES, Splits, split_items, whole
from optimizer.data.survey import Survey
from optimizer.errors import UserError
from tests.conftest import make_items

SIZES: list[dict[str, float]] = [
    {},
    {"train": 8, "dev": 16, "test": 20},
    {"train": 0.2, "dev": 0.4, "test": 0.4},
    {"train": 0.1, "dev": 0.2, "test": 0.3},
    {"train": 0.5, "dev": 12, "test": 0},
]


def parts_of(splits: Splits) -> dict[str, tuple[Item, ...]]:
    return {split: getattr(splits, split) for split in SHARES}


def random_items(seed: int) -> list[Item]:
    """Clusters of many sizes, labels and categories in any proportion, in any order."""
    draw = random.Random(seed)
    rarity = draw.choice([0.5, 0.5, 0.25])
    items = [
        Item(
            f"{cluster}-{number}", f"Claim {number} of {cluster}.", (f"Evidence {cluster}.",),
            Label.GROUNDED if draw.random() < rarity else Label.NOT_GROUNDED, f"c{cluster}",
            category=draw.choice(["", "a", "b", "d"]),
        )
        for cluster in range(draw.randint(40, 90))
        for number in range(draw.choice([1, 2, 3, draw.randint(1, 9)]))
    ]  # fmt: skip
    draw.shuffle(items)
    return items


def test_no_cluster_is_in_two_splits_and_labels_are_balanced() -> None:
    splits = split_items(make_items(120, cluster_size=3), seed=1, sizes={})
    parts = (splits.train, splits.dev, splits.test)
    clusters = [{item.cluster for item in part} for part in parts]
    assert sum(map(len, clusters)) == len(set.union(*clusters))
    assert sum(map(len, parts)) == 120
    for part in parts:
        counts = Counter(item.label for item in part)
        assert abs(counts[Label.GROUNDED] - counts[Label.NOT_GROUNDED]) <= 3


def test_a_smaller_size_keeps_a_subset_over_many_clusters() -> None:
    items = make_items(120, cluster_size=3)
    whole, part = split_items(items, 1, {}), split_items(items, 1, {"test": 12})
    assert set(part.test) < set(whole.test)
    assert len({item.cluster for item in part.test}) == 12
    assert Counter(item.label for item in part.test)[Label.GROUNDED] == 6


def test_a_tiny_split_of_lopsided_data_still_has_both_labels() -> None:
    items = [Item(str(i), "c", ("e",), Label.GROUNDED if i % 3 == 0 else Label.NOT_GROUNDED, f"c{i}") for i in range(60)]
    assert {item.label for item in split_items(items, 0, {"dev": 2}).dev} == {Label.GROUNDED, Label.NOT_GROUNDED}


def test_the_order_of_the_file_does_not_matter() -> None:
    items = make_items(60)
    assert split_items(items, 1, {}) == split_items(items[::-1], 1, {})
    assert split_items(items, 1, {}) != split_items(items, 2, {})


def test_splits_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from tests.conftest import make_items; from optimizer.data.splits import split_items\n"
        "print([item.id for item in split_items(make_items(40), 5, {'dev': 6}).dev])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout
        for seed in ("0", "1", "random")
    }
    assert len(outputs) == 1


def test_too_few_clusters_or_one_label_are_refused() -> None:
    with pytest.raises(UserError, match="split is empty"):
        split_items(make_items(2), 0, {})
    same = [Item(str(i), "c", ("e",), Label.GROUNDED, str(i)) for i in range(30)]
    with pytest.raises(UserError, match="holds only the label grounded"):
        split_items(same, 0, {})


@pytest.mark.parametrize(
    ("count", "cluster_size", "seed", "sizes", "expected"),
    [
        (120, 3, 1, {"train": 8, "dev": 16, "test": 20}, "f4aeeb51217b4e6d"),
        (90, 5, 7, {}, "dd536968f5cf5b97"),
        (200, 1, 0, {"test": 31}, "c1b6c0de7dd01e06"),
    ],
)
def test_splits_by_counts_are_those_of_earlier_versions_so_that_runs_resume(
    count: int, cluster_size: int, seed: int, sizes: dict[str, float], expected: str
) -> None:
    splits = parts_of(split_items(make_items(count, cluster_size), seed, sizes))
    ids = "\n".join(",".join(item.id for item in members) for members in splits.values())
    assert hashlib.sha256(ids.encode()).hexdigest()[:16] == expected


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_whatever_the_clusters_none_is_on_two_sides_and_the_order_does_not_matter(seed: int, sizes: dict[str, float]) -> None:
    items = random_items(seed)
    splits = split_items(items, seed, sizes)
    owner: dict[str, str] = {}
    for split, members in parts_of(splits).items():
        assert all(owner.setdefault(item.cluster, split) == split for item in members)
    shuffled = items[:]
    random.Random(seed + 1).shuffle(shuffled)
    assert split_items(shuffled, seed, sizes) == splits
    whole_parts = parts_of(split_items(items, seed, whole(sizes)))
    for split, members in parts_of(splits).items():
        assert set(members) <= set(whole_parts[split])
    if sum(whole(sizes).values()) in (0, 1):
        assert sum(map(len, whole_parts.values())) == len(items)


@pytest.mark.parametrize("seed", range(12))
def test_shares_are_met_but_for_a_cluster_overall_and_in_each_label_and_category(seed: int) -> None:
    items = random_items(seed)
    sizes = {"train": 0.2, "dev": 0.3, "test": 0.3}
    largest = max(Counter(item.cluster for item in items).values())
    for split, members in parts_of(split_items(items, seed, sizes)).items():
        assert abs(len(members) - sizes[split] * len(items)) <= largest
        for label in (Label.GROUNDED, Label.NOT_GROUNDED):
            expected = sizes[split] * sum(item.label is label for item in items)
            assert abs(sum(item.label is label for item in members) - expected) <= largest
        for category in ("a", "b", "d"):
            expected = sizes[split] * sum(item.category == category for item in items)
            assert abs(sum(item.category == category for item in members) - expected) <= 1.5 * largest


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"train": 0.6, "dev": 0.6}, "the shares train 0.6, dev 0.6 add up to more than 1"),
        ({"train": 0.5, "dev": 0.5}, "the shares train 0.5, dev 0.5 leave nothing for test"),
    ],
)
def test_shares_that_leave_nothing_are_refused(sizes: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        split_items(make_items(60), 0, sizes)


def own(items: list[Item], *names: str) -> list[Item]:
    """The items with these splits, given to clusters of two in turn."""
    return [replace(item, split=names[number // 2 % len(names)]) for number, item in enumerate(items)]


def test_the_authors_division_is_kept_under_every_name_for_dev() -> None:
    for name in ("dev", "validation", "VALID"):
        splits = split_items(own(make_items(60), "train", name, "test", "test"), 3, {})
        assert {item.split for item in splits.train} == {"train"}
        assert {item.split for item in splits.dev} == {name}
        assert {item.split for item in splits.test} == {"test"}
        assert sum(map(len, parts_of(splits).values())) == 60


def test_sizes_cap_the_authors_division() -> None:
    items = own(make_items(60), "train", "dev", "test")
    splits = split_items(items, 3, {"train": 4, "dev": 0, "test": 0.1})
    assert [len(splits.train), len(splits.dev), len(splits.test)] == [4, 20, 6]


@pytest.mark.parametrize(
    ("names", "drawn", "source"),
    [(("train", "test"), "dev", "train"), (("train", "dev"), "test", "dev"), (("dev", "test"), "train", "dev")],
)
def test_a_split_that_the_authors_have_not_is_drawn_from_another_but_never_from_test(
    names: tuple[str, str], drawn: str, source: str
) -> None:
    items = own(make_items(80), *names)
    splits = parts_of(split_items(items, 0, {}))
    assert {item.split for item in splits[drawn]} == {source}
    for name in names:
        assert {item.split for item in splits[name]} == {name}
    assert sum(map(len, splits.values())) == 80


def test_items_without_a_split_go_with_their_cluster_or_where_the_authors_have_nothing() -> None:
    items = own(make_items(80), "test", "", "", "")
    items[1] = replace(items[1], split="")
    splits = split_items(items, 0, {})
    assert {item.split for item in splits.train + splits.dev} == {""}
    assert {item.id for item in splits.test} == {item.id for item in items if item.split or item is items[1]}


def test_a_file_that_is_all_of_one_split_is_divided_as_if_it_said_nothing() -> None:
    items = make_items(60)
    named = split_items(own(items, "validation"), 2, {"test": 9})
    assert [item.id for item in named.test] == [item.id for item in split_items(items, 2, {"test": 9}).test]


def test_a_cluster_that_straddles_the_authors_splits_is_an_error_with_cluster_and_items() -> None:
    items = own(make_items(60), "train", "dev", "test")
    items[1] = replace(items[1], split="test")
    with pytest.raises(UserError, match=r"cluster 'cluster-0' is in train \(item 'item-0'\) and in test \(item 'item-1'\)"):
        split_items(items, 0, {})


def test_an_unknown_split_is_an_error() -> None:
    with pytest.raises(UserError, match="item 'item-0' is in split 'holdout', which is none of train, dev"):
        split_items(own(make_items(60), "holdout", "dev"), 0, {})


def test_questions_have_no_labels_to_balance() -> None:
    items = [replace(item, label=None, task=Task.NUMBER, answers=("1",)) for item in make_items(40)]
    assert len(split_items(items, 0, {}).test) > 0


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("names", [("",), ("train", "dev", "test"), ("train", "test"), ("test", "", ""), ("test",)], ids=str)
def test_the_check_sees_the_splits_that_a_run_draws(sizes: dict[str, float], names: tuple[str, ...]) -> None:
    items = sorted(random_items(5), key=lambda item: item.cluster)
    clusters = sorted({item.cluster for item in items})
    items = [replace(item, split=names[clusters.index(item.cluster) % len(names)]) for item in items]
    survey = Survey(9, lambda item: True)
    for item in items:
        survey.add(item)
    seen = [PLACES[place] for place in places(survey.done(), sizes)]
    splits = parts_of(split_items(items, 9, whole(sizes)))
    drawn = {item.id: split for split, members in splits.items() for item in members}
    if len(names) > 1 and sum(whole(sizes).values()):
        # A share caps what the authors named; the check looks at all of it.
        assert all(seen[number] == drawn[item.id] for number, item in enumerate(items) if item.id in drawn)
    else:
        assert seen == [drawn.get(item.id, LEFT_OUT) for item in items]


def test_written_splits_read_back_as_the_same_items_and_divide_in_the_same_way(tmp_path: Path) -> None:
    items = make_items(60)
    splits = split_items(items, 4, {"train": 0.2, "dev": 0.4, "test": 0.4})
    folder = tmp_path / "my splits"
    write_splits(folder, splits, manifest_of(splits, "items.jsonl", 4, {"train": 0.2}))
    assert sorted(path.name for path in folder.iterdir()) == ["dev.jsonl", "manifest.json", "test.jsonl", "train.jsonl"]
    assert [path.name for path in tmp_path.iterdir()] == ["my splits"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["hash"] == items_hash(items)
    again = split_items(load_items(folder), 99, {})
    for split, members in parts_of(splits).items():
        assert {item.content_hash for item in getattr(again, split)} == {item.content_hash for item in members}
        part = manifest["splits"][split]
        assert (part["items"], part["hash"]) == (len(members), items_hash(load_items(folder / part["file"])))
        assert sum(part["labels"].values()) == len(members)
    with pytest.raises(UserError, match="exists already"):
        write_splits(folder, splits, manifest)


def test_splits_that_cannot_be_written_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    splits = split_items(make_items(60), 4, {})
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(UserError, match="No space left"):
        write_splits(tmp_path / "new", splits, {})
    assert list(tmp_path.iterdir()) == []

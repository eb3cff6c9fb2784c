"""Splits respect clusters and labels, and are the same in every process."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from optimizer.data.item import Item, Label
from optimizer.data.splits import split_items
from optimizer.errors import UserError
from tests.conftest import make_items


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

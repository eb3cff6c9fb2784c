"""The shipped data set holds what it promises."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict

from optimizer.data.item import Item, Label
from optimizer.data.loaders import load_items
from optimizer.data.shipped import data_path


def starter() -> list[Item]:
    return load_items(data_path("starter"))


def test_labels_are_balanced_in_all_categories_and_both_are_in_every_cluster() -> None:
    items = starter()
    assert len(items) >= 96
    by_label = Counter(item.label for item in items)
    assert abs(by_label[Label.GROUNDED] - by_label[Label.NOT_GROUNDED]) <= 2
    labels = defaultdict(set)
    for item in items:
        labels[item.cluster].add(item.label)
        labels[item.category].add(item.label)
    assert all(len(found) == 2 for found in labels.values())


def test_every_item_has_a_contrasting_partner_in_its_cluster() -> None:
    items = starter()
    for item in items:
        partners = [other for other in items if other.cluster == item.cluster and other.label is not item.label]
        assert max(difflib.SequenceMatcher(None, item.claim, other.claim).ratio() for other in partners) >= 0.6, item.id


def test_claims_are_unique_and_every_item_says_why() -> None:
    items = starter()
    assert len({item.claim for item in items}) == len(items)
    assert all(item.rationale and item.category and item.domain for item in items)
    assert all(40 <= len(item.evidence_text.split()) <= 120 for item in items)


def test_a_cluster_has_one_passage() -> None:
    passages = defaultdict(set)
    for item in starter():
        passages[item.cluster].add(item.evidence_text)
    assert all(len(found) == 1 for found in passages.values())

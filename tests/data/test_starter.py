"""The shipped data set holds what it promises."""

from __future__ import annotations

from collections import Counter

import pytest

from optimizer.analysis.claim_only import words_alone
from optimizer.data.checks import CATEGORIES, CHECKS, answer_counts, by_cluster, words_changed
from optimizer.data.item import Item
from optimizer.data.loaders import load_items
from optimizer.data.passages import PassageKind, check_passages, load_filler, load_passages
from optimizer.data.shipped import data_path
from optimizer.stats.accuracy import accuracy_of


@pytest.fixture(scope="module")
def starter() -> list[Item]:
    return load_items(data_path("starter"))


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_has_no_finding(check: str, starter: list[Item]) -> None:
    assert list(CHECKS[check](starter)) == []


def test_it_is_large_and_wide_enough(starter: list[Item]) -> None:
    assert len(starter) >= 300
    assert len(by_cluster(starter)) >= 110
    assert len({item.domain for item in starter}) >= 12
    assert {item.category for item in starter} == set(CATEGORIES)
    assert min(Counter(item.difficulty for item in starter).values()) >= 100
    counts = answer_counts(starter)
    assert counts["grounded"] == counts["not_grounded"]


def test_most_contrasts_are_a_word_or_a_few(starter: list[Item]) -> None:
    groups = by_cluster(starter)
    nearest = sorted(
        min(words_changed(item.claim, other.claim) for other in groups[item.cluster] if other.label is not item.label)
        for item in starter
    )
    assert nearest[0] >= 1
    assert nearest[len(nearest) // 2] <= 2
    assert nearest[-1] <= 9


def test_files_are_utf_8_with_one_record_a_line() -> None:
    for path in data_path("starter").iterdir():
        text = path.read_bytes().decode("utf-8")
        assert "\r" not in text, path
        assert text.endswith("\n"), path


def test_the_words_of_claims_give_labels_away_no_more_than_chance(starter: list[Item]) -> None:
    assert accuracy_of(words_alone(starter), {item.id: item.cluster for item in starter}).low < 0.5


def test_every_item_has_its_passages(starter: list[Item]) -> None:
    passages = load_passages(data_path("starter"))
    assert list(check_passages(starter, passages)) == []
    assert Counter((passage.kind, passage.style) for passage in passages) == {
        (PassageKind.FALSE, "plain"): len(starter),
        (PassageKind.FALSE, "rumor"): len(starter),
        (PassageKind.TRUE, "plain"): len(starter),
    }


def test_no_passage_is_evidence_and_none_names_the_answer(starter: list[Item]) -> None:
    evidence = {item.id: item.evidence_text for item in starter}
    for passage in load_passages(data_path("starter")):
        assert passage.text not in evidence[passage.item]
        words = set(passage.text.lower().replace(".", " ").replace(",", " ").split())
        assert not words & {"grounded", "claim", "passage"}, passage


def test_filler_names_nobody_and_states_no_figure() -> None:
    filler = load_filler(data_path("starter"))
    assert len(filler) >= 50
    assert len(set(filler)) == len(filler)
    for sentence in filler:
        assert not any(character.isdigit() for character in sentence), sentence
        assert sentence[1:] == sentence[1:].lower(), sentence
        assert sentence.endswith("."), sentence

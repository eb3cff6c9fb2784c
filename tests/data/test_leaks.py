"""Near-duplicates against exact Jaccard similarities; groups against brute force; odd characters."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from optimizer.data.characters import is_blank, refused_character, suspicious_kinds
from optimizer.data.leaks import differing
from optimizer.data.near import SignatureStore, similar_pairs, similarity, words_of

WORDS = [f"word{number}" for number in range(500)]


def shingles(words: list[str]) -> set[object]:
    return {*words, *zip(words, [*words[1:], ""], strict=True)}


def jaccard(one: list[str], other: list[str]) -> float:
    a, b = shingles(one), shingles(other)
    return len(a & b) / len(a | b)


def variants(seed: int, count: int) -> list[list[str]]:
    """Texts, each followed by itself with up to four words changed."""
    draw = random.Random(seed)
    texts = []
    for _ in range(count):
        words = [draw.choice(WORDS) for _ in range(draw.randint(4, 40))]
        changed = [draw.choice(WORDS) if draw.random() < draw.choice([0, 0.05, 0.15]) else word for word in words]
        texts += [words, changed]
    return texts


def signatures_of(texts: list[list[str]]) -> np.ndarray:
    store = SignatureStore()
    for words in texts:
        store.add(words)
    return store.signatures()


def test_estimates_are_jaccard_similarities_but_for_chance() -> None:
    texts = variants(1, 1500)  # more than a batch
    signatures = signatures_of(texts)
    true = np.array([jaccard(one, other) for one, other in zip(texts[::2], texts[1::2], strict=True)])
    error = similarity(signatures[::2], signatures[1::2]) - true
    assert abs(error.mean()) < 0.005
    middle = (true > 0.7) & (true < 0.9)
    assert error[middle].std() == pytest.approx(0.05, abs=0.01)
    assert np.all(np.abs(error) < 0.3)
    assert np.all(error[true == 1] == 0)


def test_texts_that_are_nearly_the_same_are_found_on_other_sides_only() -> None:
    texts = variants(2, 400)
    signatures = signatures_of(texts)
    side = np.array([number % 2 for number in range(len(texts))], dtype=np.uint8)
    found = dict(similar_pairs(signatures, side).tolist())
    for number in range(0, len(texts), 2):
        true = jaccard(texts[number], texts[number + 1])
        if true >= 0.95:
            assert found[number] == number + 1
            assert found[number + 1] == number
        if true < 0.6:
            assert number not in found
    assert len(similar_pairs(signatures, np.zeros(len(texts), dtype=np.uint8))) == 0


def test_a_thousand_copies_are_all_found() -> None:
    signatures = signatures_of([["the", "same", "claim"]] * 1000)
    side = np.array([number % 3 for number in range(1000)], dtype=np.uint8)
    assert len(similar_pairs(signatures, side)) == 1000


def test_no_text_and_one_text_have_no_pair() -> None:
    assert len(similar_pairs(signatures_of([]), np.array([], dtype=np.uint8))) == 0
    assert len(similar_pairs(signatures_of([["one"]]), np.array([0], dtype=np.uint8))) == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The mill, at Orne.", "the mill at  ORNE", True),
        ("Straße", "STRASSE", True),
        ("ﬁne", "fine", True),
        ("橋は1932年に開通した", "橋は1932年に開通した。", True),
        ("הגשר נפתח", "הגשר נסגר", False),
        ("🙂", "🙃", False),
        ("", "...", False),
    ],
)
def test_words_leave_out_case_punctuation_and_form(one: str, other: str, same: bool) -> None:
    assert (words_of(one) == words_of(other)) is same
    assert words_of(one)


@pytest.mark.parametrize("seed", range(20))
def test_groups_that_differ_are_those_of_brute_force(seed: int) -> None:
    draw = random.Random(seed)
    size = draw.choice([0, 1, 2, 40])
    keys = [draw.randint(0, 12) for _ in range(size)]
    values = [draw.randint(0, draw.choice([1, 3])) for _ in range(size)]
    pairs = {(a, b) for a, b in combinations(range(size), 2) if keys[a] == keys[b] != 0 and values[a] != values[b]}
    found = differing(np.array(keys, dtype=np.uint64), np.array(values, dtype=np.uint8))
    expected = {item for pair in pairs for item in range(size) if keys[item] == keys[pair[0]]}
    assert found.items.tolist() == sorted(expected)
    assert set(found.examples) <= pairs
    assert bool(found.examples) == bool(pairs)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a\x1bb", "control"),
        ("a\x85b", "control"),
        ("so\ufffd", "replacement"),
        ("a\u200bb", "invisible"),
        ("\ufeffa", "invisible"),
        ("a\u202eb", "overrides"),
        ("\ue000", "private"),
        ("cafÃ©", "cp1252"),
        ("itâ€™s", "cp1252"),
    ],
)
def test_an_odd_character_is_named(text: str, kind: str) -> None:
    [found] = suspicious_kinds(text)
    assert kind in found


@pytest.mark.parametrize("text", ["plain\n\ttext", "Ärger, Ça va", "👩‍👩‍👧 🇩🇪", "می‌خواهم", "הגשר\u200f", "x² ≥ 3", "橋"])
def test_other_scripts_and_emoji_are_no_odd_characters(text: str) -> None:
    assert suspicious_kinds(text) == []
    assert refused_character(text) == ""
    assert not is_blank(text)

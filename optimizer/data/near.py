"""Texts that are nearly the same, found in one pass with 64 bytes a text: MinHash, with buckets in place of all pairs.

A text is the set of its words and pairs of neighbouring words, without case and punctuation. Two sets' Jaccard similarity is the
share of the 64 positions in which their MinHash signatures agree (Broder 1997); the lowest byte of each minimum is kept (Li and
König 2010), and corrected for bytes that agree by chance. The standard error of the estimate is about .05 at a similarity of .8.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

WIDTH = 64
SIMILAR = 0.8
_BAND = 4  # positions that must agree for two texts to be compared; at .8, one of 16 bands does with a chance above .999
_NEIGHBOURS = 8  # of a bucket's texts, each is compared with so many that follow it: near-linear, however large the bucket
_BATCH = 1_024
_MOST_WORDS = 256
_CHANCE = 1 / 256
# Scripts without spaces count by character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")

Signatures = NDArray[np.uint8]


def words_of(text: str) -> list[str]:
    """The words of a text without case, punctuation and differences of form (NFKC); the text itself where it has none."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _WORD.findall(plain.casefold()) or [plain.strip()]


class SignatureStore:
    """Collects texts and keeps 64 bytes of each."""

    def __init__(self) -> None:
        random = np.random.default_rng(20_240_607)  # any fixed number: the same texts are similar in every process
        self._factors = random.integers(1, 2**63, size=WIDTH, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        self._offsets = random.integers(0, 2**63, size=WIDTH, dtype=np.uint64)
        self._bytes = bytearray()
        self._hashes: list[int] = []
        self._lengths: list[int] = []

    def add(self, words: Sequence[str]) -> None:
        """Add the next text, by its words (at least one; those after the 256th are not looked at)."""
        hashes = [zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words[:_MOST_WORDS]]
        self._hashes += hashes
        self._lengths.append(len(hashes))
        if len(self._lengths) == _BATCH:
            self._flush()

    def signatures(self) -> Signatures:
        """The signatures of all texts, in their order: (texts, 64). No text can be added after it."""
        self._flush()
        return np.frombuffer(self._bytes, dtype=np.uint8).reshape(-1, WIDTH)

    def _flush(self) -> None:
        if not self._lengths:
            return
        words = _mixed(np.array(self._hashes, dtype=np.uint64) + np.uint64(1))
        lengths = np.array(self._lengths)
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        following = np.append(words[1:], np.uint64(0))
        following[starts + lengths - 1] = 0  # the last word of a text has nothing behind it
        pairs = _mixed(words * np.uint64(31) + following)
        batch = np.empty((len(lengths), WIDTH), dtype=np.uint8)
        for position, (factor, offset) in enumerate(zip(self._factors, self._offsets, strict=True)):
            least = np.minimum(
                np.minimum.reduceat(words * factor + offset, starts), np.minimum.reduceat(pairs * factor + offset, starts)
            )
            batch[:, position] = _mixed(least) & np.uint64(255)
        self._bytes += batch.tobytes()
        self._hashes, self._lengths = [], []


def similarity(one: Signatures, other: Signatures) -> NDArray[np.float64]:
    """The estimated Jaccard similarity of texts, row by row: (n, 64), (n, 64) -> (n,); 0 to 1."""
    agree: NDArray[np.float64] = (one == other).mean(axis=1)
    return np.maximum(agree - _CHANCE, 0.0) / (1 - _CHANCE)


def similar_pairs(signatures: Signatures, side: NDArray[np.uint8], at_least: float = SIMILAR) -> NDArray[np.int64]:
    """A similar text on another side for each text that has one: rows of (text, partner), each text once.

    Args:
        signatures: (texts, 64).
        side: (texts,) which set a text belongs to; only texts of different sides are compared.
        at_least: the estimated similarity from which texts are similar.

    Returns:
        (found, 2). Where very many texts resemble each other, a few may be missed: the number is a lower bound.
    """
    partner = np.full(len(signatures), -1, dtype=np.int64)
    bands = np.ascontiguousarray(signatures).view(np.uint32)
    for band in range(bands.shape[1]):
        for first, second in _neighbours(bands[:, band], side):
            open_still = (partner[first] < 0) | (partner[second] < 0)
            first, second = first[open_still], second[open_still]
            close = similarity(signatures[first], signatures[second]) >= at_least
            first, second = first[close], second[close]
            partner[first] = np.where(partner[first] < 0, second, partner[first])
            partner[second] = np.where(partner[second] < 0, first, partner[second])
    found = np.flatnonzero(partner >= 0)
    return np.column_stack((found, partner[found]))


def _neighbours(keys: NDArray[np.uint32], side: NDArray[np.uint8]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of texts with the same key on different sides: each with the next ones of its bucket."""
    order = np.argsort(keys, kind="stable")
    ordered, sides = keys[order], side[order]
    for step in range(1, _NEIGHBOURS + 1):
        same = np.flatnonzero((ordered[:-step] == ordered[step:]) & (sides[:-step] != sides[step:]))
        if len(same):
            yield order[same], order[same + step]


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of a value in every bit of the result (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))

"""Collects of a data set of any size, in one pass, what its checks need: hashes of an item and counts, never its texts."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from optimizer.data.characters import suspicious_kinds
from optimizer.data.item import Item, Label, Task
from optimizer.data.loaders import GENERATED_CLUSTER
from optimizer.data.near import Signatures, SignatureStore, words_of
from optimizer.data.splits import SPLIT_NAMES, order_key

_NAME_BYTES = 48
_GENERATED = re.compile(re.escape(GENERATED_CLUSTER) + "[0-9a-f]{12}")
_DESCRIBED = ("rationale", "category", "domain")

Hashes = NDArray[np.uint64]
Codes = NDArray[np.uint16]
T = TypeVar("T")


@dataclass(slots=True)
class Noted:
    """How many items have a fault, and the id of the first."""

    first: str
    number: int = 0


class Names:
    """Short texts, one behind the other in one buffer: the first 48 bytes of each."""

    def __init__(self) -> None:
        self._bytes, self._ends = bytearray(), array("Q", [0])

    def append(self, name: str) -> None:
        """Add the next one."""
        self._bytes += name.encode()[:_NAME_BYTES]
        self._ends.append(len(self._bytes))

    def __getitem__(self, index: int) -> str:
        return self._bytes[self._ends[index] : self._ends[index + 1]].decode(errors="ignore")


class _Codes(Generic[T]):
    """The values of a field that takes few, as small numbers."""

    def __init__(self) -> None:
        self._values: dict[T, int] = {}
        self._codes = array("H")

    def append(self, value: T) -> None:
        # A field with more than 65,535 values is no category; what comes after counts as one.
        self._codes.append(self._values.get(value, 65_535))
        if value not in self._values and len(self._values) < 65_535:
            self._codes[-1] = self._values[value] = len(self._values)

    def done(self) -> tuple[Codes, list[T]]:
        return np.frombuffer(self._codes, dtype=np.uint16), list(self._values)


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What was collected, an entry an item in the order of the file.

    Attributes:
        ids, clusters: the beginnings of names.
        claim: hash of the claim's words, without case and punctuation.
        evidence: hash of the evidence; 0 where there is none.
        asked: hash of all that is asked, sign by sign but for spaces: claim, evidence, choices.
        gold: hash of the label, or of a question's answers.
        cluster: the first 8 bytes of what splits order clusters by; equal for items of one cluster.
        label, category: codes; `labels` has the label of each code.
        own: code of the split where the authors put it, `splits` has their names ("" for none).
        signatures: (items, 64), of the claims.
        answers: gold label, letter of a choice, or task -> items.
        noted: fault -> its items.
    """

    ids: Names
    clusters: Names
    claim: Hashes
    evidence: Hashes
    asked: Hashes
    gold: Hashes
    cluster: Hashes
    label: Codes
    labels: list[Label | None]
    category: Codes
    own: Codes
    splits: list[str]
    signatures: Signatures
    answers: Counter[str]
    noted: dict[str, Noted]

    def __len__(self) -> int:
        return len(self.claim)


class Survey:
    """Takes items one at a time. About 300 bytes of each stay in memory.

    Args:
        seed: of the splits that a run would draw.
        fits: whether an item's evidence fits the model's context.
    """

    def __init__(self, seed: int, fits: Callable[[Item], bool]) -> None:
        self.seed, self.fits = seed, fits
        self._ids, self._names = Names(), Names()
        self._hashes = {name: array("Q") for name in ("claim", "evidence", "asked", "gold", "cluster")}
        self._label = _Codes[Label | None]()
        self._category, self._own = _Codes[str](), _Codes[str]()
        self._signatures = SignatureStore()
        self._answers: Counter[str] = Counter()
        self._noted: dict[str, Noted] = {}

    def add(self, item: Item) -> None:
        """Take one item into account."""
        self._ids.append(item.id)
        self._names.append(item.cluster)
        words = words_of(item.claim)
        self._signatures.add(words)
        evidence = _hash(" ".join(item.evidence_text.split())) if item.evidence else 0
        gold = str(item.label) if item.task is Task.CLAIM else "\0".join(item.answers)
        for name, value in (
            ("claim", _hash(" ".join(words))),
            ("evidence", evidence),
            # Whether labels contradict each other hangs on every sign: 5.2 is not 52.
            ("asked", _hash("\0".join((" ".join(item.claim.split()), str(evidence), *item.choices)))),
            ("gold", _hash(gold)),
            ("cluster", int.from_bytes(order_key(self.seed, item.cluster)[:8], "big")),
        ):
            self._hashes[name].append(value)
        self._label.append(item.label)
        self._category.append(item.category)
        own = item.split.strip().lower()
        self._own.append(SPLIT_NAMES.get(own, own))
        self._answers[_answer(item)] += 1
        self._note_faults(item)

    def done(self) -> Surveyed:
        """What was collected. No item can be added after it."""
        hashes = {name: np.frombuffer(values, dtype=np.uint64) for name, values in self._hashes.items()}
        label, labels = self._label.done()
        own, splits = self._own.done()
        return Surveyed(
            self._ids, self._names, **hashes, label=label, labels=labels, category=self._category.done()[0],
            own=own, splits=splits, signatures=self._signatures.signatures(), answers=self._answers, noted=self._noted,
        )  # fmt: skip

    def _note_faults(self, item: Item) -> None:
        faults = [f"has {kind}" for kind in {*suspicious_kinds(item.claim), *suspicious_kinds(item.evidence_text)}]
        faults += ["context"] * (not self.fits(item))
        faults += ["cluster"] * (_GENERATED.fullmatch(item.cluster) is not None)
        faults += [name for name in _DESCRIBED if not getattr(item, name).strip()]
        for fault in faults:
            self._noted.setdefault(fault, Noted(item.id)).number += 1


def _answer(item: Item) -> str:
    """What the balance counts an item by: few values in any data set."""
    if item.task is Task.CLAIM:
        return str(item.label) if item.label else "no label"
    return item.answers[0] if item.task is Task.CHOICE and item.answers else f"{item.task} questions"


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")

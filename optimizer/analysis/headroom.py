"""Oracle headroom: which items are wrong under every candidate, and what the best prompt for each item would reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Headroom:
    """Over `candidates` fully evaluated candidates and the `items` that all of them have.

    `oracle` is the share of items that at least one candidate gets right. It rises with the number of candidates by luck
    alone, so it is an upper bound of what a choice of prompts could reach and no promise.
    """

    candidates: int
    items: int
    always_wrong: tuple[str, ...]
    oracle: float
    best: float

    @property
    def headroom(self) -> float:
        """Oracle minus the best single candidate."""
        return self.oracle - self.best


def oracle_headroom(scores: Mapping[str, Mapping[str, float]]) -> Headroom:
    """Headroom from item scores by candidate.

    Args:
        scores: candidate id -> item id -> score (1 right, 0 wrong).

    Raises:
        ValueError: there is no candidate, or no item that all of them have.
    """
    if not scores:
        raise ValueError("headroom needs at least one candidate but got none")
    common = sorted(set.intersection(*(set(by_item) for by_item in scores.values())))
    if not common:
        raise ValueError(f"the {len(scores)} candidates have no item in common; evaluate them on the same items first")
    best = max(sum(by_item[item] for item in common) / len(common) for by_item in scores.values())
    wrong = tuple(item for item in common if all(by_item[item] == 0 for by_item in scores.values()))
    return Headroom(len(scores), len(common), wrong, 1 - len(wrong) / len(common), best)

"""What the items that are always wrong have in common, against the rest, by a permutation of whole clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from optimizer.data.item import Item
from optimizer.debate.records import Debate
from optimizer.stats.clusters import Floats
from optimizer.stats.multiplicity import holm

_PERMUTATIONS = 5_000
_FEWEST = 3  # items with a trait; below, nothing could show


@dataclass(frozen=True, slots=True)
class Trait:
    """`wrong` of the `items` with this trait are always wrong, and `rest_wrong` of the `rest_items` without it.

    `p` is two-sided, from permuting the cluster's outcomes among clusters of its size; `p_holm` corrects it for all traits.
    """

    name: str
    items: int
    wrong: int
    rest_items: int
    rest_wrong: int
    p: float
    p_holm: float


def shared_traits(
    items: Sequence[Item], always_wrong: Sequence[str], debates: Mapping[str, Sequence[Debate]], seed: int = 0
) -> list[Trait]:
    """The traits, the most telling first.

    Label, category, domain and difficulty; evidence longer than the middle; a panel that was unanimous in most candidates; mean
    confidence above the middle.

    Args:
        items: all items of the matrix.
        always_wrong: ids of those that no candidate gets right.
        debates: item id -> one debate a candidate.
        seed: of the permutations.
    """
    wrong = np.array([item.id in set(always_wrong) for item in items], dtype=float)
    columns = {name: marks for name, marks in _marks(items, debates).items() if _FEWEST <= marks.sum() <= len(items) - _FEWEST}
    if not columns or wrong.sum() in (0, len(items)):
        return []
    names, matrix = list(columns), np.array(list(columns.values()))
    observed = _gaps(matrix, wrong[None, :])[0]
    extreme = np.zeros(len(names))
    for shuffled in _shuffles(items, wrong, seed):
        extreme += (np.abs(_gaps(matrix, shuffled)) >= np.abs(observed) - 1e-12).sum(axis=0)
    p_values = [float(value) for value in (extreme + 1) / (_PERMUTATIONS + 1)]
    traits = [
        Trait(name, int(row.sum()), int(wrong[row > 0].sum()), int((1 - row).sum()), int(wrong[row == 0].sum()), p, 1.0)
        for name, row, p in zip(names, matrix, p_values, strict=True)
    ]
    corrected = [replace(trait, p_holm=p) for trait, p in zip(traits, holm(p_values), strict=True)]
    return sorted(corrected, key=lambda trait: trait.p)


def unanimous(debate: Debate) -> bool:
    """Whether all personas gave the same last verdict."""
    votes = {verdict.vote for verdict in debate.round_verdicts(debate.last_round).values()}
    return len(votes) == 1 and None not in votes


def mean_confidence(debates: Sequence[Debate]) -> float:
    """The mean confidence of all last-round answers that give one; NaN without any."""
    values = [
        verdict.confidence
        for debate in debates
        for verdict in debate.round_verdicts(debate.last_round).values()
        if verdict.confidence is not None
    ]
    return sum(values) / len(values) if values else float("nan")


def _marks(items: Sequence[Item], debates: Mapping[str, Sequence[Debate]]) -> dict[str, Floats]:
    """Trait -> 1 or 0 an item."""
    texts: dict[str, list[bool]] = {}
    for what in ("label", "category", "domain", "difficulty"):
        values = [str(getattr(item, what)) for item in items]
        for value in sorted(set(values) - {""}):
            texts[f"{what} {value}"] = [own == value for own in values]
    lengths = [len(item.evidence_text) for item in items]
    texts["evidence longer than most"] = (np.array(lengths) > np.median(lengths)).tolist()
    agreed = [sum(map(unanimous, debates[item.id])) > len(debates[item.id]) / 2 for item in items]
    texts["the panel is unanimous"] = agreed
    confidence = np.array([mean_confidence(debates[item.id]) for item in items])
    if np.isfinite(confidence).all():
        texts["confidence above the middle"] = (confidence > np.median(confidence)).tolist()
    return {name: np.array(marks, dtype=float) for name, marks in texts.items()}


def _gaps(matrix: Floats, wrong: Floats) -> Floats:
    """Share wrong with the trait less share wrong without it, shape (shuffles, traits)."""
    with_trait = matrix.sum(axis=1)
    inside = wrong @ matrix.T
    outside = wrong.sum(axis=1, keepdims=True) - inside
    result: Floats = inside / with_trait - outside / (matrix.shape[1] - with_trait)
    return result


def _shuffles(items: Sequence[Item], wrong: Floats, seed: int) -> list[Floats]:
    """The outcomes with whole clusters exchanged for others of the same size, in blocks of shape (shuffles, items)."""
    generator = np.random.default_rng(seed)
    positions: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        positions.setdefault(item.cluster, []).append(index)
    by_size: dict[int, list[list[int]]] = {}
    for members in positions.values():
        by_size.setdefault(len(members), []).append(members)
    shuffled = np.empty((_PERMUTATIONS, len(items)))
    for groups in by_size.values():
        places = np.array(groups)
        outcomes = wrong[places]
        for row in range(_PERMUTATIONS):
            shuffled[row, places] = outcomes[generator.permutation(len(groups))]
    return [shuffled]

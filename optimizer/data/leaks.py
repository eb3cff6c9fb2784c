"""What joins splits that should be independent, and what contradicts itself: on hashes of items, by sorting, near-linear."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.data.checks import Finding, Severity
from optimizer.data.near import SIMILAR, similar_pairs
from optimizer.data.splits import LEFT_OUT, SHARES, SPLIT_NAMES, Sizes, assign, pool_shares, uses_shares
from optimizer.data.survey import Hashes, Surveyed

PLACES = (*SHARES, LEFT_OUT)
_EXAMPLES = 3

Sides = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Groups:
    """Items that are in groups of equal keys whose values differ, and for some groups two items that differ."""

    items: NDArray[np.int64]
    examples: list[tuple[int, int]]


def differing(keys: Hashes, values: NDArray[np.generic]) -> Groups:
    """The items whose key another item has with another value.

    Args:
        keys: (items,); key 0 is none.
        values: (items,) integers.
    """
    order = np.argsort(keys, kind="stable")
    ordered, own = keys[order], values[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(keys) else np.array([], dtype=np.int64)
    lengths = np.diff(np.append(starts, len(keys)))
    differs = own != np.repeat(own[starts], lengths)
    mixed = np.logical_or.reduceat(differs, starts) & (ordered[starts] != 0) if len(keys) else np.array([], dtype=bool)
    examples = [
        (int(order[start]), int(order[start + np.flatnonzero(differs[start : start + length])[0]]))
        for start, length in zip(starts[mixed][:_EXAMPLES], lengths[mixed][:_EXAMPLES], strict=True)
    ]
    return Groups(np.sort(order[np.repeat(mixed, lengths)]), examples)


def places(data: Surveyed, sizes: Sizes) -> Sides:
    """The split of each item, as an index of PLACES: the authors', or what a run would draw before it caps a split by a count.

    The same clusters go to the same splits as in `split_items`.

    Raises:
        UserError: the shares leave nothing for a split.
    """
    _, member_of, counts = np.unique(data.cluster, return_inverse=True, return_counts=True)
    own = np.zeros(len(counts), dtype=np.uint8)
    names = ["", *SHARES]
    codes = np.array([names.index(SPLIT_NAMES.get(name, "")) for name in data.splits], dtype=np.uint8)
    np.maximum.at(own, member_of, codes[data.own])
    named: Counter[str] = Counter()
    for code, count in zip(own.tolist(), counts.tolist(), strict=True):
        named[names[code]] += count
    by_category = uses_shares(sizes)
    members = np.argsort(member_of, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)))
    place = np.zeros(len(counts), dtype=np.uint8)
    pools = pool_shares(named, sizes)
    for pool, shares in pools.items():
        chosen = np.arange(len(counts)) if len(pools) == 1 else np.flatnonzero(own == names.index(pool))
        chosen = chosen[np.argsort(-counts[chosen], kind="stable")]  # np.unique has them in the order of their keys already
        in_pool = np.zeros(len(counts), dtype=bool)
        in_pool[chosen] = True
        totals = _strata(data, np.flatnonzero(in_pool[member_of]), by_category)
        clusters = (_strata(data, members[starts[each] : starts[each + 1]], by_category) for each in chosen)
        place[chosen] = [PLACES.index(target) for target in assign(clusters, totals, shares)]
    return place[member_of]


def _strata(data: Surveyed, items: NDArray[np.int64], by_category: bool) -> Counter[Hashable]:
    labels = data.label[items].tolist()
    counts: Counter[Hashable] = Counter(labels)
    if by_category:
        counts.update((label, category) for label, category in zip(labels, data.category[items].tolist(), strict=True))
    return counts


def leaks(data: Surveyed, place: Sides) -> Iterator[Finding]:
    """What is on two sides of the division: items, claims, evidence, and claims that nearly are.

    Args:
        data: what was collected.
        place: (items,) the split of each, an index of PLACES.
    """
    used = np.flatnonzero(place < len(SHARES))
    side = place[used]
    same = differing(data.asked[used], side)
    claims = differing(data.claim[used], side)
    other_evidence = [pair for pair in claims.examples if data.asked[used[pair[0]]] != data.asked[used[pair[1]]]]
    distinct = np.setdiff1d(np.arange(len(used)), claims.items)
    pairs = distinct[similar_pairs(data.signatures[used[distinct]], side[distinct])]
    near = [(int(one), int(other)) for one, other in pairs[pairs[:, 0] < pairs[:, 1]][:_EXAMPLES]]
    for severity, groups, problem in (
        (Severity.ERROR, same, "the same claim with the same evidence is in two splits"),
        (
            Severity.WARNING,
            Groups(np.setdiff1d(claims.items, same.items), other_evidence),
            "the same claim, but for case and punctuation, is in two splits",
        ),
        (Severity.WARNING, Groups(pairs[:, 0], near), f"claims of two splits are nearly the same (similarity {SIMILAR} or more)"),
        (Severity.WARNING, differing(data.evidence[used], side), "the same evidence is in two splits, under two clusters"),
    ):
        if len(groups.items):
            examples = [(int(used[one]), int(used[other])) for one, other in groups.examples]
            yield finding(data, "leak", severity, len(groups.items), examples, problem, place)


def contradictions(data: Surveyed) -> Iterator[Finding]:
    """Items that ask the same of the same evidence: an error where their labels differ, else worth a look."""
    found = differing(data.asked, data.gold)
    if len(found.items):
        problem = "the same claim and evidence have different labels; decide which is right"
        yield finding(data, "contradiction", Severity.ERROR, len(found.items), found.examples, problem)
    whole = data.asked * np.uint64(3) + data.gold
    order = np.argsort(whole, kind="stable")
    again = np.flatnonzero(whole[order][1:] == whole[order][:-1])
    if len(again):
        pairs = [(int(order[each]), int(order[each + 1])) for each in again[:_EXAMPLES]]
        problem = "another item has the same claim, evidence and label; one of them is enough"
        yield finding(data, "repeat", Severity.WARNING, len(again), pairs, problem)


def straddling(data: Surveyed) -> Iterator[Finding]:
    """Clusters that the authors put into two splits."""
    given = np.flatnonzero(np.array([name in SPLIT_NAMES for name in data.splits], dtype=bool)[data.own])
    found = differing(data.cluster[given], data.own[given])
    if len(found.items):
        pairs = [(int(given[one]), int(given[other])) for one, other in found.examples]
        names = ", ".join(repr(data.clusters[one]) for one, _ in pairs)
        problem = f"a cluster is in two splits ({names}), so these are not independent; put it into one, or give --columns split="
        yield finding(data, "splits", Severity.ERROR, len(found.items), pairs, problem)


def finding(
    data: Surveyed,
    check: str,
    severity: Severity,
    number: int,
    pairs: list[tuple[int, int]],
    problem: str,
    place: Sides | None = None,
) -> Finding:
    """One finding about so many items, with some pairs of them by name, and where a place is given by split."""

    def name(item: int) -> str:
        return repr(data.ids[item]) + (f" ({PLACES[place[item]]})" if place is not None else "")

    examples = "; ".join(f"{name(one)} and {name(other)}" for one, other in pairs)
    return Finding(check, f"{number} item{'s' * (number != 1)}", f"{problem}, e.g. {examples}" if examples else problem, severity)

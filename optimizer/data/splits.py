"""Train, dev and test: split by cluster, the same in every process for the same seed.

They are stratified: claims by their label, questions by their right choice. Where the data set's authors divided it
(Item.split), their division is kept. A size is a count, which caps what is drawn in the shares of SHARES, or a share of all
items, which takes the place of those shares and balances categories too.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from optimizer.data.item import Item, Task
from optimizer.errors import UserError

SHARES = {"train": 0.25, "dev": 0.35, "test": 0.40}
SPLIT_NAMES = {"train": "train", "dev": "dev", "validation": "dev", "valid": "dev", "test": "test"}
LEFT_OUT = ""
"""The place of clusters that no split takes, where the shares add up to less than 1."""
# Whom a split is drawn from that the authors have not: never from what they set aside as test.
_DRAWN_FROM = {"train": "dev", "dev": "train", "test": "dev"}
Sizes = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Splits:
    """Three sets of items with no cluster in common. Reflection reads train, decisions are made on dev, test is sealed."""

    train: tuple[Item, ...]
    dev: tuple[Item, ...]
    test: tuple[Item, ...]


def split_items(items: Sequence[Item], seed: int, sizes: Sizes, usable: Callable[[Item], bool] = lambda item: True) -> Splits:
    """Divide items by cluster, then keep at most sizes[split] of each where that is a count (0 keeps all).

    A smaller count keeps a subset of what a larger one keeps, drawn over as many clusters as possible with the labels
    in balance, so a short run and a serious run on the same data agree about what is sealed. The order of the items and the
    process do not matter.

    Args:
        items: what is divided.
        seed: of the draw.
        sizes: split -> a count, or a share of all items strictly between 0 and 1.
        usable: others are left out after the division, so that they change nothing of it.

    Raises:
        UserError: a split would be empty or, for dev and test, hold one label only; an item's own split is none of SPLIT_NAMES;
            or a cluster is in two of them.
    """
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item.cluster].append(item)
    own = {cluster: _own_split(cluster, members) for cluster, members in groups.items()}
    named: Counter[str] = Counter()
    for cluster, members in groups.items():
        named[own[cluster]] += len(members)
    by_category = uses_shares(sizes)
    chosen: dict[str, list[Item]] = {split: [] for split in SHARES}
    pools = pool_shares(named, sizes)
    for pool, shares in pools.items():
        order = sorted((name for name in groups if own[name] == pool or len(pools) == 1), key=lambda name: order_key(seed, name))
        # Large clusters first: they are the ones that can unbalance a split.
        order.sort(key=lambda name: -len(groups[name]))
        counts = [strata(groups[name], by_category) for name in order]
        for cluster, target in zip(order, assign(counts, _sum(counts), shares), strict=True):
            if target != LEFT_OUT:
                chosen[target].extend(groups[cluster])
    limits = {split: _limit(sizes.get(split, 0), len(items), len(pools) > 1) for split in SHARES}
    kept = {split: tuple(spread(filter(usable, chosen[split]), seed, limits[split])) for split in SHARES}
    _check(kept, len(items), len(groups))
    return Splits(**kept)


def uses_shares(sizes: Sizes) -> bool:
    """Whether any size is a share."""
    return any(0 < size < 1 for size in sizes.values())


def whole(sizes: Sizes) -> dict[str, float]:
    """The same division without the caps: shares stay, counts become 0."""
    return {split: size if 0 < size < 1 else 0 for split, size in sizes.items()}


def pool_shares(named: Mapping[str, int], sizes: Sizes) -> dict[str, dict[str, float]]:
    """Which splits the clusters of each own split are divided among, and in which shares of their items.

    Args:
        named: own split of a cluster ("" for none) -> items.
        sizes: as for split_items.

    Returns:
        own split -> {split: share}. A single pool is drawn as if no item had a split: a file that is all "test" divides nothing.

    Raises:
        UserError: the shares leave nothing for another split.
    """
    shares = _shares(sizes)
    present = [split for split in SHARES if named.get(split)]
    absent = [split for split in SHARES if not named.get(split)]
    loose = bool(named.get(""))
    if len(present) + loose <= 1:
        return {present[0] if present else "": shares}
    pools = {split: {split} for split in present}
    if loose:
        pools[""] = set(absent or SHARES)
    else:
        for split in absent:
            pools[_DRAWN_FROM[split]].add(split)
    return {pool: _normalised({split: shares[split] for split in SHARES if split in into}) for pool, into in pools.items()}


def _normalised(shares: dict[str, float]) -> dict[str, float]:
    total = sum(shares.values())
    return {split: share / total for split, share in shares.items()}


def _shares(sizes: Sizes) -> dict[str, float]:
    """The share of the items that each split is drawn: as given, the others divide the rest in the ratio of SHARES."""
    given = {split: size for split, size in sizes.items() if 0 < size < 1}
    if not given:
        return SHARES
    rest = 1 - sum(given.values())
    others = {split: share for split, share in SHARES.items() if split not in given}
    if rest < -1e-9 or (others and rest < 1e-9):
        what = "add up to more than 1" if rest < -1e-9 else f"leave nothing for {' and '.join(others)}"
        raise UserError(f"the shares {', '.join(f'{split} {share}' for split, share in given.items())} {what}; make them smaller")
    drawn = {split: given.get(split, 0.0) or rest * SHARES[split] / sum(others.values()) for split in SHARES}
    return drawn if others or rest < 1e-9 else {**drawn, LEFT_OUT: rest}


def _limit(size: float, items: int, divided: bool) -> int:
    """At most so many items of a split, 0 for all. Drawing keeps to a share by itself; the authors' division does not."""
    if 0 < size < 1:
        return max(1, round(size * items)) if divided else 0
    return int(size)


def order_key(seed: int, name: str) -> bytes:
    """What clusters of the same size, and items, are ordered by: a hash of seed and name."""
    return hashlib.sha256(f"{seed}\n{name}".encode()).digest()


def strata(items: Iterable[Item], by_category: bool) -> Counter[Hashable]:
    """How many items of each label there are, and with categories of each label in each category."""
    counts: Counter[Hashable] = Counter()
    for item in items:
        counts[item.stratum] += 1
        if by_category:
            counts[item.stratum, item.category] += 1
    return counts


def assign(
    clusters: Iterable[Mapping[Hashable, int]], totals: Mapping[Hashable, int], shares: Mapping[str, float]
) -> Iterator[str]:
    """The split of each cluster in turn: the one whose shortfall of these strata becomes smaller by most.

    Args:
        clusters: stratum -> items, of each, in the order in which they are given away.
        totals: stratum -> items of all of them.
        shares: split -> share of every stratum.
    """
    quota = {split: {stratum: share * count for stratum, count in totals.items()} for split, share in shares.items()}
    for counts in clusters:
        target = max(quota, key=lambda split: _room(quota[split], counts))
        for stratum, count in counts.items():
            quota[target][stratum] -= count
        yield target


def _room(quota: Mapping[Hashable, float], counts: Mapping[Hashable, int]) -> float:
    """How much less the squared shortfall of a split becomes when it takes these items."""
    # fsum: the same whatever the order of the strata, which is that of the file.
    return math.fsum(quota[stratum] ** 2 - (quota[stratum] - count) ** 2 for stratum, count in counts.items())


def _sum(clusters: Iterable[Mapping[Hashable, int]]) -> Counter[Hashable]:
    totals: Counter[Hashable] = Counter()
    for counts in clusters:
        totals.update(counts)
    return totals


def _own_split(cluster: str, members: Sequence[Item]) -> str:
    """Where the authors put a cluster, "" for nowhere; its items without a split go with the others."""
    first: dict[str, str] = {}
    for item in members:
        name = item.split.strip().lower()
        if name and name not in SPLIT_NAMES:
            raise UserError(f"item {item.id!r} is in split {item.split!r}, which is none of {', '.join(SPLIT_NAMES)}; rename it")
        if name:
            first.setdefault(SPLIT_NAMES[name], item.id)
    if len(first) > 1:
        (one, a), (other, b) = list(first.items())[:2]
        raise UserError(
            f"cluster {cluster!r} is in {one} (item {a!r}) and in {other} (item {b!r}), so they are not independent; put it "
            "into one split, or have splits drawn by cluster: --columns split="
        )
    return next(iter(first), "")


def spread(items: Iterable[Item], seed: int, size: int) -> list[Item]:
    """At most `size` items (0: all), over as many clusters as possible, with the labels in the shares of all the items."""
    by_label: dict[str | None, list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: (order_key(seed, item.cluster), order_key(seed, item.id))):
        by_label[item.stratum].append(item)
    totals = {label: len(members) for label, members in by_label.items()}
    taken: list[Item] = []
    of_cluster: Counter[str] = Counter()
    of_label: Counter[str | None] = Counter()
    queues = {label: _least_used_first(members, of_cluster) for label, members in by_label.items()}
    while len(taken) < (size or sum(totals.values())) and len(taken) < sum(totals.values()):
        behind = min(totals, key=lambda label: of_label[label] / totals[label])
        item = next(queues[behind])
        of_cluster[item.cluster] += 1
        of_label[behind] += 1
        taken.append(item)
    return taken


def _least_used_first(items: list[Item], of_cluster: Counter[str]) -> Iterator[Item]:
    """Items of clusters that nothing was taken from, then of those with one taken, and so on, as the counts are by then."""
    level = 0
    while items:
        later: list[Item] = []
        for item in items:
            if of_cluster[item.cluster] <= level:
                yield item
            else:
                later.append(item)
        items, level = later, level + 1


def _check(chosen: dict[str, tuple[Item, ...]], items: int, clusters: int) -> None:
    for split, members in chosen.items():
        labels = {item.label for item in members if item.task is Task.CLAIM}
        if not members or (split != "train" and len(labels) == 1):
            what = "is empty" if not members else f"holds only the label {next(iter(labels))}"
            raise UserError(
                f"the {split} split {what}: {items} items in {clusters} clusters are too few to divide by cluster; "
                f"give data with more clusters{', and both labels in them' if labels else ''}"
            )

"""Train, dev and test: split by cluster, stratified by label, the same in every process for the same seed."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from optimizer.data.item import Item, Label
from optimizer.errors import UserError

SHARES = {"train": 0.25, "dev": 0.35, "test": 0.40}


@dataclass(frozen=True, slots=True)
class Splits:
    """Three sets of items with no cluster in common. Reflection reads train, decisions are made on dev, test is sealed."""

    train: tuple[Item, ...]
    dev: tuple[Item, ...]
    test: tuple[Item, ...]


def split_items(
    items: Sequence[Item], seed: int, sizes: dict[str, int], usable: Callable[[Item], bool] = lambda item: True
) -> Splits:
    """Divide items by cluster in the shares of SHARES, then keep at most sizes[split] of each (0 keeps all).

    A smaller size keeps a subset of what a larger one keeps, drawn over as many clusters as possible with the labels
    in balance, so a short run and a serious run on the same data agree about what is sealed. Items that are not `usable`
    are left out after the division, so that they change nothing of it either.

    Raises:
        UserError: a split would be empty or, for dev and test, hold one label only.
    """
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item.cluster].append(item)
    order = sorted(groups, key=lambda cluster: _key(seed, cluster))
    totals = Counter(item.label for item in items)
    quota = {split: {label: share * count for label, count in totals.items()} for split, share in SHARES.items()}
    members: dict[str, list[Item]] = {split: [] for split in SHARES}
    # Large clusters first: they are the ones that can unbalance a split.
    for cluster in sorted(order, key=lambda name: -len(groups[name])):
        counts = Counter(item.label for item in groups[cluster])
        target = max(SHARES, key=lambda split: _room(quota[split], counts))
        for label, count in counts.items():
            quota[target][label] -= count
        members[target].extend(groups[cluster])
    chosen = {split: tuple(spread(filter(usable, members[split]), seed, sizes.get(split, 0))) for split in SHARES}
    _check(chosen, len(items), len(groups))
    return Splits(**chosen)


def _key(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest()


def _room(quota: dict[Label | None, float], counts: Counter[Label | None]) -> float:
    """How much less the squared shortfall of a split becomes when it takes these items."""
    return sum(quota[label] ** 2 - (quota[label] - count) ** 2 for label, count in counts.items())


def spread(items: Iterable[Item], seed: int, size: int) -> list[Item]:
    """At most `size` items (0: all), over as many clusters as possible, with the labels in the shares of all the items."""
    by_label: dict[Label | None, list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: (_key(seed, item.cluster), _key(seed, item.id))):
        by_label[item.label].append(item)
    totals = {label: len(members) for label, members in by_label.items()}
    taken: list[Item] = []
    of_cluster: Counter[str] = Counter()
    of_label: Counter[Label | None] = Counter()
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
        labels = {item.label for item in members}
        if not members or (split != "train" and len(labels) < 2):
            what = "is empty" if not members else f"holds only the label {next(iter(labels))}"
            raise UserError(
                f"the {split} split {what}: {items} items in {clusters} clusters are too few to divide by cluster; "
                "give data with more clusters, and both labels in them"
            )

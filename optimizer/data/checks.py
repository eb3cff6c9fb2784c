"""Is a data set worth searching on? Checks of labels, clusters, contrasts, lengths and rationales, without any model.

A contrastive data set has clusters of claims on one piece of evidence that differ in a detail which flips the label: a
judge that does not read the evidence cannot tell them apart.
"""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from optimizer.data.item import Item, Label

CATEGORIES = (
    "number", "date", "negation", "quantifier", "entity", "comparison", "cause", "attribution", "scope", "paraphrase",
    "arithmetic", "not_in_evidence",
)  # fmt: skip
LABEL_SHARE = (0.45, 0.55)
EVIDENCE_WORDS = (40, 120)
CLAIM_WORDS = (4, 40)
CLUSTER_ITEMS = (2, 4)
RATIONALE_WORDS = 40
# A contrast may change this share of a claim's words: a name, a clause, a figure in words.
CONTRAST_SHARE = 0.5


class Severity(StrEnum):
    """ERROR: a run would refuse the data, or its result would mean nothing. WARNING: worth a look."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found: which check, where (an item or cluster id, or the whole), and what is wrong."""

    check: str
    where: str
    problem: str
    severity: Severity = Severity.WARNING


def check_items(items: Sequence[Item]) -> list[Finding]:
    """All findings of all checks, in the order of CHECKS; an empty list is a data set without complaint."""
    return [finding for check in CHECKS.values() for finding in check(items)]


def words_changed(first: str, second: str) -> int:
    """How many words must be replaced, added or taken away to make one text of the other; case counts, spaces do not."""
    before, after = first.split(), second.split()
    steps = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for step, i1, i2, j1, j2 in steps if step != "equal")


def by_cluster(items: Iterable[Item]) -> dict[str, list[Item]]:
    """The items of each cluster, in the order of the file."""
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item.cluster].append(item)
    return dict(groups)


def _balance(items: Sequence[Item]) -> Iterator[Finding]:
    labelled = [item for item in items if item.label is not None]
    for name, members in (("all items", labelled), *sorted(_by_category(labelled).items())):
        share = sum(item.label is Label.GROUNDED for item in members) / len(members) if members else 0.5
        # A small category cannot be split evenly; one item to either side of the range is chance.
        slack = 1 / len(members) if members else 0
        if not LABEL_SHARE[0] - slack <= share <= LABEL_SHARE[1] + slack:
            yield Finding(
                "balance",
                name,
                f"{share:.0%} of {len(members)} are grounded; keep it within {LABEL_SHARE[0]:.0%}–{LABEL_SHARE[1]:.0%}",
            )


def _by_category(items: Iterable[Item]) -> dict[str, list[Item]]:
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.category:
            groups[f"category {item.category}"].append(item)
    return groups


def _clusters(items: Sequence[Item]) -> Iterator[Finding]:
    low, high = CLUSTER_ITEMS
    for cluster, members in by_cluster(items).items():
        if not low <= len(members) <= high:
            yield Finding("clusters", cluster, f"has {len(members)} items; {low} to {high} claims on one passage contrast best")
        if len({item.evidence for item in members}) > 1:
            yield Finding("clusters", cluster, "has items with different evidence; give each piece of evidence its own cluster")
        if len({item.label for item in members}) < 2:
            yield Finding("clusters", cluster, "has one label only; add a claim that differs in a detail and flips it")


def _contrast(items: Sequence[Item]) -> Iterator[Finding]:
    groups = by_cluster(items)
    for item in items:
        others = [other for other in groups[item.cluster] if other.label is not item.label]
        if not others:
            continue  # the clusters check says so
        nearest = min(words_changed(item.claim, other.claim) for other in others)
        allowed = CONTRAST_SHARE * len(item.claim.split())
        if nearest > allowed:
            yield Finding(
                "contrast",
                item.id,
                f"differs from every claim of the other label in {nearest} words or more, allowed are {allowed:.0f}",
            )


def _unique(items: Sequence[Item]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for item in items:
        folded = " ".join(item.claim.lower().split())
        if folded in first:
            yield Finding("unique", item.id, f"has the same claim as {first[folded]}")
        first.setdefault(folded, item.id)
    owner: dict[tuple[str, ...], str] = {}
    for item in items:
        if owner.setdefault(item.evidence, item.cluster) != item.cluster:
            yield Finding("unique", item.id, f"shares its evidence with cluster {owner[item.evidence]} but is in {item.cluster}")


def _lengths(items: Sequence[Item]) -> Iterator[Finding]:
    for item in items:
        for name, text, (low, high) in (("evidence", item.evidence_text, EVIDENCE_WORDS), ("claim", item.claim, CLAIM_WORDS)):
            count = len(text.split())
            if not low <= count <= high:
                yield Finding("lengths", item.id, f"its {name} has {count} words; aim at {low} to {high}")


def _tags(items: Sequence[Item]) -> Iterator[Finding]:
    for item in items:
        if item.category not in CATEGORIES:
            yield Finding("tags", item.id, f"category {item.category!r} is none of {', '.join(CATEGORIES)}")
        if not item.domain:
            yield Finding("tags", item.id, "has no domain; name its field, such as medicine or law")


def _rationales(items: Sequence[Item]) -> Iterator[Finding]:
    for item in items:
        if not item.rationale.strip():
            yield Finding("rationales", item.id, "has no rationale; say in one line why the label is right")
        elif "\n" in item.rationale or len(item.rationale.split()) > RATIONALE_WORDS:
            yield Finding("rationales", item.id, f"its rationale is longer than one line of {RATIONALE_WORDS} words")


CHECKS: dict[str, Callable[[Sequence[Item]], Iterator[Finding]]] = {
    "balance": _balance,
    "clusters": _clusters,
    "contrast": _contrast,
    "unique": _unique,
    "lengths": _lengths,
    "tags": _tags,
    "rationales": _rationales,
}


def label_counts(items: Iterable[Item]) -> Counter[str]:
    """How many items each label has."""
    return Counter(str(item.label) for item in items)

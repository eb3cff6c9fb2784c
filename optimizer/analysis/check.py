"""Checks a data file of any size in one pass: what it holds, what a run would refuse, what is worth a look.

Small data sets are looked at item by item besides, and it is tried how far the words of their claims give labels away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from optimizer.analysis.card import WORDS, JudgeFigures, figures
from optimizer.analysis.claim_only import words_alone
from optimizer.config import Settings
from optimizer.data.checks import LABEL_SHARE, NO_LABEL, Finding, Severity, check_items
from optimizer.data.datafile import loading_of, stream_data
from optimizer.data.formats.base import Loading
from optimizer.data.item import Item, Label, Task
from optimizer.data.leaks import PLACES, Sides, contradictions, leaks, places, straddling
from optimizer.data.passages import check_passages, passages_about
from optimizer.data.shipped import data_path
from optimizer.data.splits import SHARES, SPLIT_NAMES
from optimizer.data.survey import Survey, Surveyed
from optimizer.debate.evidence import fits
from optimizer.errors import UserError
from optimizer.models.provision import LONGEST_CONTEXT, embedded_choice

SMALL = 5_000
"""Up to so many items are looked at one by one."""
LARGE_CLUSTER = 0.1
_FEW_CLUSTERS = 10


@dataclass(frozen=True, slots=True)
class ClusterSizes:
    """How many clusters there are, and how many items they have."""

    number: int
    mean: float
    largest: int
    largest_name: str
    single: int


@dataclass(frozen=True, slots=True)
class Checked:
    """What a data set holds and what was found.

    Attributes:
        items: how many.
        answers: gold label, `choice A` … for questions with choices, or the task of other questions -> items.
        clusters: their sizes.
        splits: split -> the same; "" is what no split takes. As a run would draw them, before counts cap them.
        own_splits: whether the authors divided the data.
        context: tokens that evidence was held against, 0 where unknown.
        findings: errors first.
        words: how far the words of claims give labels away; None where that was not tried.
        small: whether items were looked at one by one.
    """

    items: int
    answers: dict[str, int]
    clusters: ClusterSizes
    splits: dict[str, dict[str, int]]
    own_splits: bool
    context: int
    findings: tuple[Finding, ...]
    words: JudgeFigures | None
    small: bool

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)


def check_file(settings: Settings) -> Checked:
    """Read the data of the settings once and check them. The memory taken does not depend on the length of texts.

    Raises:
        UserError: the data cannot be read; the message names file and line.
    """
    path = data_path(settings.data)
    context = settings.context or (LONGEST_CONTEXT if embedded_choice(settings) else 0)
    survey = Survey(settings.seed, partial(fits, context=context))
    kept: list[Item] = []
    loading = loading_of(settings)
    items, _ = stream_data(path, loading, settings.format)
    for count, item in enumerate(items, 1):
        survey.add(item)
        if count <= SMALL:
            kept.append(item)
        elif kept:
            kept = []
    data = survey.done()
    if not len(data):
        raise UserError(f"{path}: holds no items")
    findings = [*_unknown_splits(data), *straddling(data), *contradictions(data), *_left_out(loading)]
    findings += [*_noted(data, settings, context), *_large_cluster(data)]
    splits: dict[str, dict[str, int]] = {}
    try:
        place = places(data, settings.splits.model_dump())
    except UserError as error:
        findings.append(Finding("splits", "all items", str(error), Severity.ERROR))
    else:
        splits = _by_split(data, place)
        findings += [*_unusable(splits), *leaks(data, place)]
    words = None
    if kept:
        claims = [item for item in kept if item.task is Task.CLAIM]
        findings += [*check_items(claims), *_passages(path, kept)]
        words = _words(claims)
    else:
        findings += [*_balance(data), *_undescribed(data)]
    findings.sort(key=lambda finding: finding.severity is not Severity.ERROR)
    own = len(data.splits) > 1 and any(name in SHARES for name in data.splits)
    return Checked(
        len(data), _answers(data), _sizes(data), splits, own, context, tuple(findings), words, bool(kept)
    )  # fmt: skip


def _passages(path: Path, kept: Sequence[Item]) -> list[Finding]:
    try:
        passages = passages_about(path, {item.id for item in kept})
    except UserError as error:
        return [Finding("passages", "all items", str(error), Severity.ERROR)]
    return list(check_passages(kept, passages)) if passages else []


def _sizes(data: Surveyed) -> ClusterSizes:
    _, first, counts = np.unique(data.cluster, return_index=True, return_counts=True)
    largest = int(np.argmax(counts))
    name = data.clusters[int(first[largest])]
    return ClusterSizes(len(counts), float(counts.mean()), int(counts[largest]), name, int((counts == 1).sum()))


def _by_split(data: Surveyed, place: Sides) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    for code, split in enumerate(PLACES):
        strata = data.stratum[place == code]
        if len(strata) or split:
            counts = {stratum or NO_LABEL: int((strata == number).sum()) for number, stratum in enumerate(data.strata)}
            table[split] = dict(sorted(counts.items()))
    return table


def _answers(data: Surveyed) -> dict[str, int]:
    counts = np.bincount(data.stratum, minlength=len(data.strata)).tolist()
    return dict(sorted((stratum or NO_LABEL, count) for stratum, count in zip(data.strata, counts, strict=True)))


def _left_out(loading: Loading) -> Iterator[Finding]:
    for reason, ids in loading.left_out.items():
        yield Finding("left out", f"{len(ids)} records", f"{reason} ({', '.join(ids[:3])}{' …' if len(ids) > 3 else ''})")


def _unknown_splits(data: Surveyed) -> Iterator[Finding]:
    for name in data.splits:
        if name and name not in SHARES:
            problem = f"is none of {', '.join(SPLIT_NAMES)}; rename it, or give --columns split="
            yield Finding("splits", name, problem, Severity.ERROR)


def _unusable(splits: dict[str, dict[str, int]]) -> Iterator[Finding]:
    for split in SHARES:
        present = [label for label, count in splits[split].items() if count]
        if not present:
            problem = "is empty: there are too few clusters to divide; give data with more clusters"
            yield Finding("splits", split, problem, Severity.ERROR)
        elif split != "train" and len(present) == 1 and present[0] in list(Label):
            problem = f"holds only the label {present[0]}; give data with both labels in more clusters"
            yield Finding("splits", split, problem, Severity.ERROR)


def _noted(data: Surveyed, settings: Settings, context: int) -> Iterator[Finding]:
    for fault, noted in sorted(data.noted.items()):
        where, first = f"{noted.number} item{'s' * (noted.number != 1)}", f"the first is {noted.first!r}"
        if fault.startswith("has "):
            yield Finding("characters", where, f"{fault.replace('has', 'with', 1)}; {first}")
        elif fault == "context":
            refused = settings.protocol.long_evidence == "error"
            yield Finding(
                "context",
                where,
                f"more evidence than fits {context} tokens; {first}"
                + ("; see protocol.long_evidence in docs/settings.md" if refused else ""),
                Severity.ERROR if refused else Severity.WARNING,
            )
        elif fault == "cluster" and noted.number < len(data):
            problem = f"no cluster, though others have one; equal evidence was taken for one cluster; {first}"
            yield Finding("clusters", where, problem)


def _large_cluster(data: Surveyed) -> Iterator[Finding]:
    sizes = _sizes(data)
    if sizes.number >= _FEW_CLUSTERS and sizes.largest > LARGE_CLUSTER * len(data):
        share = sizes.largest / len(data)
        yield Finding("clusters", sizes.largest_name, f"has {sizes.largest} items, {share:.0%} of all: to a test it is one draw")


def _balance(data: Surveyed) -> Iterator[Finding]:
    answers = _answers(data)
    grounded, claims = answers.get(Label.GROUNDED, 0), sum(answers.get(label, 0) for label in Label)
    share = grounded / claims if claims else 0.5
    if not LABEL_SHARE[0] <= share <= LABEL_SHARE[1]:
        low, high = LABEL_SHARE
        yield Finding("balance", "all items", f"{share:.0%} of {claims} are grounded; keep it within {low:.0%}–{high:.0%}")


def _undescribed(data: Surveyed) -> Iterator[Finding]:
    for name, check in (("rationale", "rationales"), ("category", "tags"), ("domain", "tags")):
        if noted := data.noted.get(name):
            yield Finding(check, f"{noted.number} item{'s' * (noted.number != 1)}", f"no {name}; the first is {noted.first!r}")


def _words(claims: list[Item]) -> JudgeFigures | None:
    try:
        return figures(WORDS, False, words_alone(claims), claims)
    except ValueError:
        return None

"""The recorded debates of one panel as arrays, from one run or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.data.item import Item, sealed_hash
from optimizer.debate.policy import SIGN, Floats, Round, Votes, answers
from optimizer.debate.records import Debate
from optimizer.errors import UsageError, UserError
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.runs.folder import RunFolder
from optimizer.runs.items import run_splits
from optimizer.search.candidate import Candidate

READABLE = ("evaluate", "optimize")
UNSEALED, SEALED = ("train", "dev"), "test"
SPLITS = ("unsealed", *UNSEALED, SEALED, "all")


@dataclass(frozen=True, slots=True)
class PolicyData:
    """Debates as arrays, one row a debate; labels and decisions are 1 (grounded), -1, or 0 (no decision).

    `votes` and `confidences` have an array of shape (debates, personas) for each round that a policy may decide by: last, and
    first where it is another. `weights` are 1 over the debates of the row's item, so that items count alike. `cluster`
    numbers the rows' clusters, `clusters` of them.
    """

    personas: tuple[str, ...]
    votes: Mapping[Round, Votes]
    confidences: Mapping[Round, Floats]
    labels: Votes
    recorded: Votes
    weights: Floats
    cluster: NDArray[np.intp]
    clusters: int
    items: int

    @property
    def debates(self) -> int:
        return len(self.labels)

    @property
    def has_confidence(self) -> bool:
        """Whether any vote came with a confidence."""
        return bool(np.isfinite(self.confidences["last"]).any())


@dataclass(frozen=True, slots=True)
class Source:
    """The recorded debates of one panel with their items.

    `missing` items have no finished debate. `candidates` are the ids whose debates these are, one a run. `test_sets` are the
    content hashes of the sealed sets among their items.
    """

    runs: tuple[str, ...]
    candidates: tuple[str, ...]
    personas: tuple[str, ...]
    models: tuple[str, ...]
    debates: tuple[tuple[Debate, Item], ...]
    missing: int
    test_sets: tuple[str, ...] = ()


def recorded_debates(runs: Sequence[RunFolder], candidate: str = "", split: str = "unsealed") -> Source:
    """The debates of one panel a run.

    Args:
        runs: finished, of kind evaluate or optimize, with the same personas.
        candidate: of runs that searched: winner (if left out), seed, or an id. An evaluation has one panel.
        split: of runs that searched: train, dev, test, unsealed (train and dev) or all.

    Raises:
        UsageError: there is no such split or candidate.
        UserError: no run, a run of another kind, other personas, items that are questions or have no label, or no debate.
    """
    if split not in SPLITS:
        raise UsageError(f"unknown split {split!r}; valid are {', '.join(SPLITS)}")
    pairs: list[tuple[Debate, Item]] = []
    candidates: list[str] = []
    personas: tuple[str, ...] = ()
    missing, sealed = 0, dict[str, None]()
    for run in runs:
        chosen, seats = _panel(run, candidate)
        if personas and set(seats) != set(personas):
            raise UserError(
                f"{run.path}: its panel is {', '.join(seats)}, but that of {runs[0].path} is {', '.join(personas)}; "
                "pool runs of the same personas"
            )
        personas = personas or seats
        items, test = _items(run, split)
        sealed |= {sealed_hash(test): None} if test else {}
        found = [(debate, items[debate.item]) for debate in run.each_debate() if _counts(debate, chosen, items)]
        missing += len(items) - len({debate.item for debate, _ in found})
        pairs += found
        candidates.append(chosen)
    if not pairs:
        where = ", ".join(str(run.path) for run in runs) or "no run"
        raise UserError(
            f"{where}: no finished debate of {candidate or 'the panel'} on the split {split}; choose another with --split"
        )
    names = tuple(run.path.name for run in runs)
    models = tuple(dict.fromkeys(run.resolved()["model"]["name"] for run in runs))
    return Source(names, tuple(candidates), personas, models, tuple(pairs), missing, tuple(sealed))


def policy_data(debates: Iterable[tuple[Debate, Item]], personas: Sequence[str]) -> PolicyData:
    """Debates as arrays. Failed ones are left out; the same item in several runs is one item, known by its content.

    Raises:
        UserError: an item has no label.
    """
    held = [(debate, item) for debate, item in debates if not debate.failed]
    unlabelled = next((item for _, item in held if item.label not in SIGN), None)
    if unlabelled is not None:
        raise UserError(f"item {unlabelled.id!r} is no claim with a label; policies re-decide claims")
    hashes = [item.content_hash for _, item in held]
    counts = Counter(hashes)
    names = sorted({item.cluster for _, item in held})
    index = {name: number for number, name in enumerate(names)}
    rounds: tuple[Round, ...] = ("last", "first") if any(debate.last_round > 1 for debate, _ in held) else ("last",)
    read = {which: [answers(debate.turns, personas, which) for debate, _ in held] for which in rounds}
    shape = (len(held), len(personas))
    return PolicyData(
        tuple(personas),
        {which: np.array([votes for votes, _ in rows], dtype=np.int8).reshape(shape) for which, rows in read.items()},
        {which: np.array([sure for _, sure in rows], dtype=float).reshape(shape) for which, rows in read.items()},
        np.array([SIGN[item.label] for _, item in held if item.label is not None], dtype=np.int8),
        np.array([0 if debate.decision is None else SIGN.get(debate.decision, 0) for debate, _ in held], dtype=np.int8),
        np.array([1 / counts[name] for name in hashes]),
        np.array([index[item.cluster] for _, item in held], dtype=np.intp),
        len(names),
        len(counts),
    )


def _counts(debate: Debate, candidate: str, items: Mapping[str, Item]) -> bool:
    return debate.candidate == candidate and debate.item in items and not debate.failed


def _panel(run: RunFolder, candidate: str) -> tuple[str, tuple[str, ...]]:
    """The candidate whose debates are read, and the personas of the panel."""
    resolved, result = run.resolved(), run.summary().get("result", {})
    if resolved["kind"] not in READABLE:
        raise UserError(
            f"{run.path}: is a run of kind {resolved['kind']}; policies are tuned on runs of kind {', '.join(READABLE)}"
        )
    seats = tuple(name for name in resolved["prompts"] if name != SOURCE_SKEPTICISM)
    panel = Candidate(resolved["prompts"]).id
    if resolved["kind"] == "evaluate":
        if candidate not in ("", "panel", panel):
            raise UsageError(f"{run.path}: is an evaluation of one panel, and has no candidate {candidate!r}")
        return panel, seats
    wanted = candidate or "winner"
    known = [row["id"] for row in result["candidates"]]
    chosen = result[wanted] if wanted in ("winner", "seed") else wanted
    if chosen not in (*known, result["winner"], result["seed"]):
        raise UsageError(f"{run.path}: has no candidate {wanted!r}; there are winner, seed, {', '.join(known)}")
    return chosen, seats


def _items(run: RunFolder, split: str) -> tuple[dict[str, Item], list[Item]]:
    """The items to read by id, and the sealed ones among them."""
    splits = run_splits(run)
    if run.resolved()["kind"] == "evaluate":
        return {item.id: item for item in splits["items"]}, []
    wanted = UNSEALED if split == "unsealed" else (*UNSEALED, SEALED) if split == "all" else (split,)
    found = {item.id: item for name in wanted for item in splits[name]}
    return found, splits[SEALED] if SEALED in wanted else []

"""Pools the recorded debates of one run or several: the matrix of candidates and items that headroom is read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.data.item import Item, items_hash
from optimizer.debate.records import Debate
from optimizer.errors import UserError
from optimizer.runs.events import read_events
from optimizer.runs.folder import RunFolder
from optimizer.runs.items import run_splits
from optimizer.sections import Aggregator, Ties

POOLED = ("optimize", "compare")
CONTROL_EVENT = "control"
REPEATS = "runs of the seed, repeated"
REWRITES = "runs of the seed and of rewrites that keep its meaning"


@dataclass(frozen=True, slots=True)
class Member:
    """A candidate of the pool. `independent` ones were not made from another: the seed, and alternatives to it."""

    id: str
    name: str
    run: str
    independent: bool


@dataclass(frozen=True, slots=True)
class Pool:
    """Members that have a score on every item, the seed first, with their debates; noisy runs of the seed apart.

    `debates` has candidate id -> item id -> debate. `control` has the seed's noisy runs, item id -> score each, and
    `control_kind` says what they are. `partial` counts candidates that lack items and are left out. `models` judged the runs.
    """

    items: tuple[Item, ...]
    members: tuple[Member, ...]
    debates: dict[str, dict[str, Debate]]
    control: tuple[dict[str, float], ...]
    control_kind: str
    partial: int
    runs: tuple[str, ...]
    models: tuple[str, ...] = ()
    aggregator: Aggregator = "rule"
    ties: Ties = "none"

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """Candidate id -> item id -> 1 or 0."""
        by_id = {item.id: item for item in self.items}
        return {member.id: _scored(self.debates[member.id], by_id) for member in self.members}

    @property
    def seed(self) -> Member:
        return self.members[0]


def pool_runs(runs: Sequence[RunFolder]) -> Pool:
    """Pool runs that were made on the same items; the first run's seed is the seed of the pool.

    Raises:
        UserError: no run, a run of another kind, runs on different items, or no candidate evaluated on all items.
    """
    items = _same_items(runs)
    by_id = {item.id: item for item in items}
    found: dict[str, dict[str, Debate]] = {}
    repeats: dict[int, dict[str, float]] = {}
    members: dict[str, Member] = {}
    rewrites: dict[str, str] = {}
    seed = runs[0].summary()["result"]["seed"]
    for run in runs:
        for member in _members(run):
            members.setdefault(member.id, member)
        rewrites |= {event["candidate"]: event["of"] for event in read_events(run.events, CONTROL_EVENT)}
        for debate in run.debates():
            score = debate.score(by_id[debate.item]) if debate.item in by_id else None
            if score is None:
                continue
            if debate.sample == 0:
                found.setdefault(debate.candidate, {})[debate.item] = debate
            if debate.candidate == seed:
                repeats.setdefault(debate.sample, {})[debate.item] = score
    full = [member for member in members.values() if len(found.get(member.id, {})) == len(items)]
    full.sort(key=lambda member: member.id != seed)
    if not full or full[0].id != seed:
        raise UserError(f"{runs[0].path}: the seed has no score on all {len(items)} items; give the run a larger --budget")
    alike = [name for name in (seed, *(name for name, of in rewrites.items() if of == seed)) if name in found]
    rewritten = [_scored(found[name], by_id) for name in alike if len(found[name]) == len(items)]
    repeated = [scores for scores in repeats.values() if len(scores) == len(items)]
    control, kind = (repeated, REPEATS) if len(repeated) > len(rewritten) else (rewritten, REWRITES)
    return Pool(
        items=tuple(items),
        members=tuple(full),
        debates={member.id: found[member.id] for member in full},
        control=tuple(control if len(control) > 1 else ()),
        control_kind=kind,
        partial=len(members) - len(full),
        runs=tuple(run.path.name for run in runs),
        models=tuple(dict.fromkeys(run.resolved()["model"]["name"] for run in runs)),
        aggregator=runs[0].resolved()["protocol"].get("aggregator", "rule"),
        ties=runs[0].resolved()["protocol"].get("ties", "none"),
    )


def _scored(debates: Mapping[str, Debate], items: Mapping[str, Item]) -> dict[str, float]:
    return {name: debate.score(items[name]) or 0.0 for name, debate in debates.items()}


def _same_items(runs: Sequence[RunFolder]) -> list[Item]:
    if not runs:
        raise UserError("headroom needs a run")
    first: list[Item] = []
    for run in runs:
        kind = run.resolved()["kind"]
        if kind not in POOLED:
            raise UserError(f"{run.path}: is a run of kind {kind}; headroom reads runs of kind {' and '.join(POOLED)}")
        splits = run_splits(run)
        items = splits["dev" if kind == "optimize" else "items"]
        if first and items_hash(items) != items_hash(first):
            raise UserError(
                f"{run.path}: was made on other items than {runs[0].path}; headroom over several runs needs the same ones"
            )
        first = first or items
    return first


def _members(run: RunFolder) -> list[Member]:
    result = run.summary()["result"]
    if run.resolved()["kind"] == "compare":
        return [Member(row["id"], row["origin"], run.path.name, True) for row in result["candidates"]]
    found = [Member(result["seed"], "seed", run.path.name, True)]
    for event in read_events(run.events, "candidate"):
        identity = event["id"].removeprefix("candidate:")
        independent = event["origin"].startswith("alternative:") and event["parent"] == result["seed"]
        found.append(Member(identity, event["origin"], run.path.name, independent))
    return found

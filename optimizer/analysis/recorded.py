"""The recorded debates of one panel, with the controls beside it, read by judge and by round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from optimizer.data.item import Item, Label, items_hash
from optimizer.data.splits import spread
from optimizer.debate.aggregate import decide
from optimizer.debate.controls import Control
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate, Turn
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.debate.voices import REFLECTION
from optimizer.errors import UsageError, UserError
from optimizer.runs.folder import RunFolder
from optimizer.runs.items import data_settings, run_items, run_splits
from optimizer.search.candidate import Candidate

RECORDED = ("evaluate", "optimize", "compare", "transfer")
_NO_ANSWER = Verdict(Outcome.UNPARSED, detail="none")


@dataclass(frozen=True, slots=True)
class Answer:
    """What one judge, or a panel, answered in one debate. `vote` is None where the answer is no vote, and then not right."""

    item: Item
    vote: Label | str | None
    right: bool
    confidence: float | None = None

    @property
    def wrong(self) -> float:
        """1 if wrong, 0 if right: an error indicator."""
        return float(not self.right)


@dataclass(frozen=True, slots=True)
class Arm:
    """A control beside the panel: its debates, and how many failed and are left out."""

    debates: tuple[Debate, ...]
    failed: int = 0


@dataclass(frozen=True, slots=True)
class RecordedPanel:
    """A panel's debates, none of them failed, with the items that they are about.

    `failed` counts debates that are left out for lack of an answer. Answers are always in the order of `debates`, so that
    those of two judges fit each other. Repeats of an item are debates of their own, in the item's cluster. `remarks` say what
    is to be known of the items.
    """

    name: str
    items: Mapping[str, Item]
    debates: tuple[Debate, ...]
    protocol: Protocol = field(default_factory=Protocol)
    model: str = ""
    failed: int = 0
    controls: Mapping[str, Arm] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def personas(self) -> tuple[str, ...]:
        """In the order in which they first spoke."""
        return tuple(dict.fromkeys(turn.persona for debate in self.debates for turn in debate.turns))

    @property
    def rounds(self) -> int:
        return max((debate.last_round for debate in self.debates), default=0)

    @property
    def clusters(self) -> list[str]:
        """The cluster of each debate."""
        return [self.items[debate.item].cluster for debate in self.debates]

    def persona(self, name: str, number: int) -> list[Answer]:
        """A persona's answer in a round; where a debate ended before, its last one."""
        return [self._answer(debate, held(debate, number).get(name, _NO_ANSWER)) for debate in self.debates]

    def decided(self, number: int) -> list[Answer]:
        """What the panel decides after a round, by its own aggregator; `confidence` is the mean of those who voted so."""
        found = []
        for debate in self.debates:
            verdicts = held(debate, number)
            over = number >= debate.last_round
            vote = debate.decision if over else decide(debate.deciding(number), self.protocol.aggregator, self.protocol.ties)[0]
            given = [v.confidence for v in verdicts.values() if v.vote == vote and v.confidence is not None]
            confidence = sum(given) / len(given) if given and vote is not None else None
            found.append(Answer(self.items[debate.item], vote, is_right(debate, vote, self.items[debate.item]), confidence))
        return found

    def control(self, name: str) -> list[Answer]:
        """What a control decided; `confidence` is the mean of the samples that voted so."""
        found = []
        for debate in self.controls[name].debates:
            item, vote = self.items[debate.item], debate.decision
            given = [t.verdict.confidence for t in debate.turns if t.verdict.vote == vote and t.verdict.confidence is not None]
            confidence = sum(given) / len(given) if given and vote is not None else None
            found.append(Answer(item, vote, is_right(debate, vote, item), confidence))
        return found

    def sampled(self, debate: Debate) -> list[Answer]:
        """Each answer of a control's debate, in order: the samples of self-consistency."""
        return [self._answer(debate, turn.verdict) for turn in debate.turns]

    def _answer(self, debate: Debate, verdict: Verdict) -> Answer:
        item = self.items[debate.item]
        return Answer(item, verdict.vote, is_right(debate, verdict.vote, item), verdict.confidence)


def held(debate: Debate, number: int) -> dict[str, Verdict]:
    """The verdicts that stand after a round: its own, or the last ones where the debate ended before."""
    return debate.round_verdicts(min(number, debate.last_round))


def is_right(debate: Debate, vote: Any, item: Item) -> bool:
    """Whether a vote would have been right as the decision, by the score that decides over debates too."""
    return vote is not None and replace(debate, decision=vote).score(item) == 1.0


def mean_by_item(answers: Iterable[Answer], value: Callable[[Answer], float]) -> dict[str, float]:
    """A figure of answers, its mean over the repeats of each item, by item id."""
    found: dict[str, list[float]] = {}
    for answer in answers:
        found.setdefault(answer.item.id, []).append(value(answer))
    return {item: sum(values) / len(values) for item, values in found.items()}


def spoken(debate: Debate) -> list[tuple[Turn, tuple[Turn, ...]]]:
    """Each turn with all turns before it, in the order of speaking."""
    return [(turn, debate.turns[:place]) for place, turn in enumerate(debate.turns)]


def read_panel(run: RunFolder, candidate: str = "", split: str = "dev") -> RecordedPanel:
    """A candidate's debates in a finished run.

    Args:
        run: of kind evaluate, optimize, compare or transfer.
        candidate: seed, winner, an id or a name; the winner of a search, the first of a comparison if empty.
        split: of a search: train, dev or test, or all of them. Other runs have one set of items.

    Raises:
        UsageError: there is no such split.
        UserError: the run is of another kind or unfinished, there is no such candidate, it has no debate that did not fail, or
            the data is gone or changed.
    """
    resolved, summary = run.resolved(), run.summary()
    if resolved["kind"] not in RECORDED:
        raise UserError(f"{run.path}: is a run of kind {resolved['kind']}; diagnose reads runs of kind {', '.join(RECORDED)}")
    identity, name = _candidate(run, resolved, summary, candidate)
    names = {control.value for control in Control} & set(resolved.get("controls", ()))
    everything = {arm: [d for d in run.each_debate() if d.candidate == arm] for arm in (identity, *sorted(names))}
    items = _items(run, resolved, summary, everything, split)
    debates = [debate for debate in everything[identity] if debate.item in items]
    if not debates:
        where = f" on the {split} split" if resolved["kind"] == "optimize" else ""
        raise UserError(f"{run.path}: {name} has no debate{where} that did not fail; choose another with --candidate or --split")
    missing = _failed(run, summary, items)
    return RecordedPanel(
        name=f"{run.path.name}, {name}" if name else run.path.name,
        items=items,
        debates=tuple(debates),
        protocol=Protocol.model_validate({k: v for k, v in resolved["protocol"].items() if k in Protocol.model_fields}),
        model=_models(resolved["model"]),
        failed=missing.get(identity, missing.get("panel", 0)),
        controls={arm: Arm(tuple(everything[arm]), missing.get(arm, 0)) for arm in resolved.get("controls", ()) if arm in names},
        remarks=_remarks(split) if resolved["kind"] == "optimize" else (),
    )


def _candidate(run: RunFolder, resolved: Mapping[str, Any], summary: Mapping[str, Any], wanted: str) -> tuple[str, str]:
    """Id and name of the candidate that is meant."""
    if resolved["kind"] == "evaluate":
        if wanted not in ("", "seed", "panel"):
            raise UserError(f"{run.path}: an evaluation has one panel, and no candidate {wanted!r}")
        return Candidate(resolved["prompts"]).id, ""
    result = summary["result"]
    names = {row["id"]: row["origin"].removeprefix("alternative:") for row in result["candidates"]}
    known = {name: identity for identity, name in reversed(names.items())} | {identity: identity for identity in names}
    known |= {who: result[who] for who in ("seed", "winner") if who in result}
    default = "winner" if "winner" in result else next(iter(names))
    identity = known.get((wanted or default).removeprefix("alternative:"))
    if identity is None:
        raise UserError(f"{run.path}: has no candidate {wanted!r}; it has {', '.join(dict.fromkeys(known))}")
    return identity, wanted if wanted in ("seed", "winner") else names.get(identity, default)


def _items(
    run: RunFolder,
    resolved: Mapping[str, Any],
    summary: Mapping[str, Any],
    debates: Mapping[str, Sequence[Debate]],
    split: str,
) -> dict[str, Item]:
    """The items that the candidate was to be judged on, by id."""
    if resolved["kind"] == "evaluate":
        seen = {debate.item for arm in debates.values() for debate in arm}
        most = len(seen) + sum(arm["failed"] for arm in summary["arms"])
        return {item.id: item for item in _evaluated(run, resolved["data"]["hash"], seen, most)}
    splits = run_splits(run)
    if resolved["kind"] != "optimize":
        return {item.id: item for item in splits["items"]}
    if split not in (*splits, "all"):
        raise UsageError(f"unknown split {split!r}; valid are {', '.join(splits)} and all")
    chosen = splits if split == "all" else {split: splits[split]}
    return {item.id: item for members in chosen.values() for item in members}


def _evaluated(run: RunFolder, recorded: str, seen: set[str], most: int) -> list[Item]:
    """The items of an evaluation: those with debates, or up to `most` where all debates of an item failed.

    An evaluation with a limit records the hash of its items and not which they are; they are drawn again until it fits.
    """
    everything = run_items(run)
    found = [item for item in everything if item.id in seen]
    if items_hash(found) == recorded:
        return found
    seed = data_settings(run).seed
    for size in range(len(seen) + 1, min(most, len(everything)) + 1):
        drawn = spread(everything, seed, size)
        if items_hash(drawn) == recorded:
            return drawn
    raise UserError(f"{run.path}: the data has changed since the run; restore the file, or make a new run")


def _remarks(split: str) -> tuple[str, ...]:
    """What to keep in mind of a search's items."""
    if split in ("test", "all"):
        return ("sealed test items are among these: a prompt that is changed after looking here is no longer tested by them",)
    return (f"the search {'read' if split == 'train' else 'decided on'} these items, so they flatter what it chose",)


def _failed(run: RunFolder, summary: Mapping[str, Any], items: Mapping[str, Item]) -> dict[str, int]:
    """How many debates failed, by candidate or by arm."""
    if "arms" in summary:
        return {arm["arm"]: arm["failed"] for arm in summary["arms"]}
    found: dict[str, int] = {}
    for debate in run.failures():
        if debate.item in items:
            found[debate.candidate] = found.get(debate.candidate, 0) + 1
    return found


def _models(record: Mapping[str, Any]) -> str:
    """The panel's model, and which personas have another one, or evidence of their own."""
    roles = [f"{role}: {own['name']}" for role, own in record.get("roles", {}).items() if role != REFLECTION]
    voices = [f"{role}: evidence of its own" for role, own in record.get("voices", {}).items() if own["evidence"]]
    return "; ".join([record["name"], *roles, *voices])

"""What the search maximises: accuracy, balanced accuracy, macro F1, or less expected cost.

Each is written as a score of an item in [0, 1] whose mean, times `unit`, is the objective up to a constant: so duels, the quality
model and paired tests work on any of them. Macro F1 is no mean over items; the search climbs along its slope at the seed, and
the sealed test measures it itself.

Under conditions the objective is accuracy under false passages, less `search.condition_penalty` times what is lost under true
ones and none. With n_F debates of the former kind, n_K of the latter and penalty l, a debate under a false passage scores w_F if
right and 0 if wrong, and one of the others 1 if right and 1 - w_K if wrong, where w_F : w_K = 1/n_F : l/n_K, the larger being 1.
The seed's share cancels in every comparison. What is gained under true passages counts as much as what is lost there: if
gains were cut off item by item, luck alone would look like a loss, at 15 items of 100 that flip by chance one of 7.5 points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from optimizer.data.item import Item, Label, Task
from optimizer.debate.conditions import is_false
from optimizer.debate.records import Debate
from optimizer.errors import UserError
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator
from optimizer.sections import SearchSettings
from optimizer.stats.f1 import Counts, f1_slope

NAMES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_f1": "macro F1",
    "cost": "expected cost",
}


@dataclass(frozen=True, slots=True)
class Objective:
    """Scores of items, scaled into [0, 1].

    Attributes:
        name: as in the settings.
        right: the score of a right answer, by gold label (None for questions).
        abstained, wrong: the score where nothing was decided, and of a wrong decision.
        unit: the objective per unit of mean score.
        gained, kept: under conditions, what debates under false passages and those under others weigh, in [0, 1].
    """

    name: str
    right: Mapping[Label | None, float]
    abstained: float = 0.0
    wrong: float = 0.0
    unit: float = 1.0
    gained: float = 1.0
    kept: float = 1.0

    def score(self, debate: Debate, item: Item) -> float | None:
        """The item's score; None where the debate failed."""
        right = debate.score(item)
        if right is None:
            return None
        if item.shown is not None:
            return self.gained * right if is_false(item.shown.condition) else 1 - self.kept * (1 - right)
        if right == 1.0:
            return self.right.get(item.label, 1.0)  # a label that only train has
        return self.abstained if debate.decision is None else self.wrong


def gained_on(items: Iterable[Item]) -> list[Item]:
    """What a search wants to be right on: everything, and under conditions the variants with a false passage."""
    return [item for item in items if item.shown is None or is_false(item.shown.condition)]


def kept_on(items: Iterable[Item]) -> list[Item]:
    """Where nothing is to be lost: under conditions the variants with a true passage or none."""
    return [item for item in items if item.shown is not None and not is_false(item.shown.condition)]


def check_objective(settings: SearchSettings, items: Iterable[Item]) -> None:
    """Raises UserError where the objective needs labels that the items do not have, or only one of them is there."""
    chosen = list(items)
    if any(item.shown for item in chosen):
        if settings.objective == "accuracy":
            return
        raise UserError(
            f"search.objective={settings.objective} is not for searches under conditions, whose objective is accuracy under "
            "each; take accuracy, or search.conditions=none"
        )
    if settings.objective not in ("balanced_accuracy", "macro_f1"):
        return
    if any(item.task is not Task.CLAIM for item in chosen):
        raise UserError(f"search.objective={settings.objective} is for claims with labels; for questions take accuracy or cost")
    if len({item.label for item in chosen}) < 2:
        raise UserError(f"search.objective={settings.objective} needs both labels, but all items have the same; take accuracy")


def objective_for(settings: SearchSettings, items: Sequence[Item], counts: Counts | None = None) -> Objective:
    """The objective on these items.

    Args:
        settings: which one, and the costs.
        items: whose labels give the weights of classes.
        counts: for macro F1, the seed's confusion on the items.
    """
    labels: Counter[Label | None] = Counter(item.label for item in items)
    if any(item.shown for item in items):
        return _under_conditions(items, settings.condition_penalty)
    if settings.objective == "cost":
        dearest = max(settings.cost_wrong, settings.cost_abstained) or 1.0
        rights = dict.fromkeys(labels, 1.0)
        abstained, wrong = 1 - settings.cost_abstained / dearest, 1 - settings.cost_wrong / dearest
        return Objective("cost", rights, abstained, wrong, dearest)
    if settings.objective == "balanced_accuracy":
        return _weighted("balanced_accuracy", {label: len(items) / (len(labels) * count) for label, count in labels.items()})
    if settings.objective == "macro_f1" and counts is not None:
        grounded, not_grounded = f1_slope(counts)
        return _weighted("macro_f1", {Label.GROUNDED: grounded * len(items), Label.NOT_GROUNDED: not_grounded * len(items)})
    return Objective("accuracy", dict.fromkeys(labels, 1.0))


def _under_conditions(items: Sequence[Item], penalty: float) -> Objective:
    """The formula at the head of this module; without conditions to keep, or without a penalty, only gains count."""
    gained, kept = len(gained_on(items)), len(kept_on(items))
    weights = 1 / max(1, gained), penalty / kept if kept else 0.0
    largest = max(weights)
    unit = len(items) * largest
    return Objective("accuracy", {}, unit=unit, gained=weights[0] / largest, kept=weights[1] / largest)


def confusion(debates: Mapping[str, Debate], items: Iterable[Item]) -> Counts:
    """How often each label was got right, over the debates that did not fail."""
    held = [item for item in items if item.id in debates and not debates[item.id].failed]
    right: Counter[Label | None] = Counter(item.label for item in held if debates[item.id].score(item))
    called: Counter[str] = Counter(debates[item.id].decision or "" for item in held)
    all_: Counter[Label | None] = Counter(item.label for item in held)
    return Counts(
        right[Label.GROUNDED], all_[Label.GROUNDED], called[Label.GROUNDED],
        right[Label.NOT_GROUNDED], all_[Label.NOT_GROUNDED], called[Label.NOT_GROUNDED],
    )  # fmt: skip


def _weighted(name: str, weights: Mapping[Label | None, float]) -> Objective:
    largest = max(weights.values())
    return Objective(name, {label: weight / largest for label, weight in weights.items()}, unit=largest)


@dataclass(frozen=True, slots=True)
class ObjectiveScorer:
    """The evaluator as a search sees it under another objective than accuracy."""

    evaluator: Evaluator
    objective: Objective

    @property
    def batch(self) -> int:
        return self.evaluator.batch

    async def evaluate(self, candidate: Candidate, items: Sequence[Item]) -> object:
        return await self.evaluator.evaluate(candidate, items)

    def scores(self, candidate: Candidate, items: Sequence[Item]) -> dict[str, float]:
        known = self.evaluator.known(candidate)
        found = {item.id: self.objective.score(known[item.id], item) for item in items if item.id in known}
        return {item: score for item, score in found.items() if score is not None}

    def tried(self, candidate: Candidate, items: Sequence[Item]) -> int:
        return self.evaluator.tried(candidate, items)

    def cost_bound(self, candidate: Candidate, parent: Candidate, items: Sequence[Item]) -> int:
        return self.evaluator.cost_bound(candidate, parent, items)

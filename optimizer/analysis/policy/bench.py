"""Scores drafts on the recorded debates: what they decide, counted by fold, in every context at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optimizer.analysis.policy.data import PolicyData
from optimizer.analysis.policy.fits import Fits, Folds
from optimizer.analysis.policy.objective import OUTCOMES, Objective
from optimizer.analysis.policy.space import Draft
from optimizer.debate.policy import Floats, Votes, given


def draw_folds(data: PolicyData, count: int, seed: int) -> Folds:
    """Whole clusters in folds of about as many rows, drawn without a look at labels."""
    sizes = np.bincount(data.cluster, minlength=data.clusters)
    order = np.random.default_rng(seed).permutation(data.clusters)
    filled = np.zeros(count)
    of_cluster = np.empty(data.clusters, dtype=np.intp)
    for cluster in order[np.argsort(-sizes[order], kind="stable")]:
        of_cluster[cluster] = filled.argmin()
        filled[of_cluster[cluster]] += sizes[cluster]
    return Folds(of_cluster[data.cluster], count)


@dataclass
class Bench:
    """Counts what drafts decide. A draft that was counted is not decided again.

    Args:
        data: the debates.
        folds: of their rows.
        objective: what counts are worth.
    """

    data: PolicyData
    folds: Folds
    objective: Objective
    fits: Fits = field(init=False)
    _kept: dict[tuple[Draft, int], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fits = Fits(self.data, self.folds)
        self._place = self.folds.of_row * OUTCOMES + 3 * (self.data.labels < 0)

    @property
    def contexts(self) -> tuple[int, ...]:
        """Every outer fold, and the choice among all."""
        return tuple(range(self.folds.count + 1))

    def decide(self, draft: Draft | None, context: int) -> tuple[Votes, Floats]:
        """Decisions, and how far the vote supports each, in a context; of the recorded rule where there is no draft."""
        if draft is None:
            return self.data.recorded, recorded_support(self.data)
        base = draft.base
        chance = self.fits.chance(draft, context)
        decided = base.settle(self.data.votes[base.round], self.data.confidences[base.round], chance)
        return decided, decided * base.margin(chance)

    def counts(self, draft: Draft | None, context: int) -> Floats:
        """Outcomes by fold, shape (folds, OUTCOMES)."""
        if draft is None:
            return self._counted(self.data.recorded)
        # Without a fitted part all contexts are alike.
        key = (draft, context if draft.part is not None else self.folds.final)
        if key not in self._kept:
            base = draft.base
            votes, sure = self.data.votes[base.round], self.data.confidences[base.round]
            self._kept[key] = self._counted(base.settle(votes, sure, self.fits.chance(draft, context)))
        return self._kept[key]

    def training_value(self, draft: Draft | None, context: int) -> float:
        """What a draft is worth on the rows that a context chooses by: all but those of its own fold."""
        counts = self.counts(draft, context)
        total = counts.sum(axis=0)
        return float(self.objective.value(total - counts[context] if context < self.folds.count else total))

    def differences(self, draft: Draft, context: int) -> Floats:
        """The value of each row less that of the recorded decision, shape (debates,)."""
        return self.row_values(self.decide(draft, context)[0]) - self.row_values(self.data.recorded)

    def row_values(self, decided: Votes) -> Floats:
        """The value of decisions, row by row."""
        return self.objective.of_rows(self.data.labels, decided, self.data.weights)

    def by_cluster(self, rows: Floats) -> Floats:
        """Row values added up by cluster, each with its row's weight; shape (clusters,)."""
        weighed = rows * self.data.weights
        return np.bincount(self.data.cluster, weights=weighed, minlength=self.data.clusters).astype(float)

    def _counted(self, decided: Votes) -> Floats:
        place: NDArray[np.intp] = self._place + (decided == -self.data.labels) + 2 * (decided == 0)
        counts = np.bincount(place, weights=self.data.weights, minlength=self.folds.count * OUTCOMES)
        return counts.reshape(self.folds.count, OUTCOMES).astype(float)


def recorded_support(data: PolicyData) -> Floats:
    """How far the last round's votes, each with its confidence, support the recorded decision; -1 to 1."""
    votes, sure = data.votes["last"], given(data.confidences["last"])
    support: Floats = data.recorded * (votes * sure).sum(axis=1) / len(data.personas)
    return support

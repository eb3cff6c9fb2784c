"""How good each candidate is, as far as the dev answers tell: a Rasch model in which a candidate inherits from its parent.

Whether candidate c is right on item i has the log-odds quality[c] - difficulty[i]. Difficulties are shared by all candidates
ever tried, so every old answer sharpens the reading of a new one, and a candidate that was lucky on the items it was chosen on
is pulled back towards what its parent and its children show. A candidate's quality is its parent's plus the effect of its edit.

Rasch, G. (1960): Probabilistic models for some intelligence and attainment tests. The fit is the posterior mode by Newton steps;
uncertainty is its curvature there (Laplace).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ROOT_SPREAD = 3.0  # prior sd of the seed's quality, in log-odds
_LEAST_DIFFICULTY_SPREAD, _MOST_DIFFICULTY_SPREAD = 0.7, 6.0
_MOST_STEP = 2.0
_TOLERANCE = 0.02
_NEWTON_STEPS = 8
_MUCH_AGREEMENT = 0.2
_TELLING = 5.0  # so many answers should have differed before it is believed that children do not copy
_DIFFERENCES_BEFORE = 5.0  # differing answers, expected and seen, before there are any

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the data say of an edit's effect in log-odds: the likelihood exp(total * effect - information * effect**2 / 2)."""

    total: float
    information: float


class QualityModel:
    """Qualities of candidates and difficulties of items, fitted to all scores so far.

    Args:
        items: ids of the dev items.
        effect_spread: prior sd of an edit's effect in log-odds; set it when more is known.
    """

    def __init__(self, items: Sequence[str], effect_spread: float = 0.4) -> None:
        self.effect_spread = self._fitted_spread = effect_spread
        self._place = {item: index for index, item in enumerate(items)}
        self._row: dict[str, int] = {}
        self._parents: list[int | None] = []
        self._scores: Floats = np.zeros((0, len(items)))
        self._seen: NDArray[np.bool_] = np.zeros((0, len(items)), bool)
        self._quality: Floats = np.zeros(0)
        self._difficulty: Floats = np.zeros(len(items))
        self._difficulty_spread = 2.0
        self._covariance: Floats = np.zeros((0, 0))
        self._agreement, self._expected_differences = 0.0, 0.0

    @property
    def candidates(self) -> list[str]:
        """Those that were added, in order."""
        return list(self._row)

    def add(self, candidate: str, parent: str | None = None) -> None:
        """A new candidate, and the one it was made from; the first has none. Adding one twice changes nothing."""
        if candidate in self._row:
            return
        self._row[candidate] = len(self._parents)
        self._parents.append(None if parent is None else self._row[parent])
        self._scores = np.vstack([self._scores, np.zeros(len(self._place))])
        self._seen = np.vstack([self._seen, np.zeros(len(self._place), bool)])
        self._quality = np.append(self._quality, 0.0 if parent is None else self._quality[self._row[parent]])

    @property
    def copies(self) -> bool:
        """Whether children answer so much like their parents that a difference has to be seen on items that both answered.

        They are taken to, until enough was asked of both to tell.
        """
        return self._agreement > _MUCH_AGREEMENT or self._expected_differences < _TELLING

    def parent(self, candidate: str) -> str | None:
        """What a candidate was made from."""
        row = self._parents[self._row[candidate]]
        return None if row is None else self.candidates[row]

    def observe(self, candidate: str, scores: Mapping[str, float]) -> None:
        """Scores in [0, 1] by item; `fit` takes them in."""
        row = self._row[candidate]
        for item, score in scores.items():
            self._scores[row, self._place[item]] = score
            self._seen[row, self._place[item]] = True

    def seen(self, candidate: str) -> int:
        """On how many items a candidate has a score."""
        return int(self._seen[self._row[candidate]].sum())

    def fit(self) -> None:
        """Find the posterior mode from where the last fit ended."""
        self._fitted_spread = self.effect_spread
        prior = self._prior()
        for _ in range(_NEWTON_STEPS):
            chance = self._chances()
            weight = np.where(self._seen, chance * (1 - chance) + 1e-6, 0.0)
            residual = np.where(self._seen, self._scores - chance, 0.0)
            pull = 1 / self._difficulty_spread**2
            slope_quality = residual.sum(1) - prior @ self._quality
            slope_difficulty = -residual.sum(0) - pull * self._difficulty
            curve_difficulty = weight.sum(0) + pull
            scaled = weight / curve_difficulty
            # The difficulties' block is diagonal, so that the qualities' own curvature is a small Schur complement.
            curve = np.diag(weight.sum(1)) + prior - scaled @ weight.T
            step_quality = np.linalg.solve(curve, slope_quality + scaled @ slope_difficulty)
            step_difficulty = (slope_difficulty + weight.T @ step_quality) / curve_difficulty
            largest = max(float(np.abs(step_quality).max()), float(np.abs(step_difficulty).max()))
            share = min(1.0, _MOST_STEP / largest) if largest else 1.0
            self._quality = self._quality + share * step_quality
            self._difficulty = self._difficulty + share * step_difficulty
            if largest < _TOLERANCE:
                break
        self._covariance = np.linalg.inv(curve)
        self._measure_agreement()
        spread = float(np.sqrt(np.mean(self._difficulty**2 + 1 / curve_difficulty)))
        self._difficulty_spread = min(max(spread, _LEAST_DIFFICULTY_SPREAD), _MOST_DIFFICULTY_SPREAD)

    def evidence(self, candidate: str) -> Evidence:
        """What the data say of a candidate's effect against its parent, without the prior; of the last fit."""
        row = self._row[candidate]
        parent = self._parents[row]
        if parent is None:
            raise ValueError(f"{candidate} has no parent to be compared with")
        covariance = self._covariance
        if row >= len(covariance):  # added since: nothing is known
            return Evidence(0.0, 1e-6)
        variance = covariance[row, row] + covariance[parent, parent] - 2 * covariance[row, parent]
        effect = self._quality[row] - self._quality[parent]
        information = max(1e-6, 1 / variance - 1 / self._fitted_spread**2)
        both = self._seen[row] & self._seen[parent]
        pairs = float((self._scores[row, both] - self._scores[parent, both]).sum()) / 2  # the conditional likelihood's slope
        total = (1 - self._agreement) * float(effect / variance) + self._agreement * pairs
        return Evidence(total, float(information))

    def expected(self, candidate: str) -> float:
        """The share of all items that the model expects a candidate to get right."""
        return float(_logistic(self._quality[self._row[candidate]] - self._difficulty).mean())

    def slope(self, candidate: str) -> float:
        """How much of that share a unit of quality is worth, near this candidate."""
        chance = _logistic(self._quality[self._row[candidate]] - self._difficulty)
        return float(max(1e-3, (chance * (1 - chance)).mean()))

    def information(self, candidate: str, items: Iterable[str]) -> dict[str, float]:
        """How much an answer of a child of this candidate would tell, by item: p (1 - p), in [0, .25].

        The candidate's own answers are left out: what is chosen by this must not favour or burden those compared with it.
        """
        row = self._row[candidate]
        others = np.arange(len(self._parents)) != row
        seen, scores, quality = self._seen[others], self._scores[others], self._quality[others][:, None]
        difficulty, pull = self._difficulty.copy(), 1 / self._difficulty_spread**2
        for _ in range(_NEWTON_STEPS):
            chance = _logistic(quality - difficulty)
            slope = np.where(seen, chance - scores, 0.0).sum(0) - pull * difficulty
            step = slope / (np.where(seen, chance * (1 - chance), 0.0).sum(0) + pull)
            difficulty += np.clip(step, -_MOST_STEP, _MOST_STEP)
        chance = _logistic(self._quality[row] - difficulty)
        return {item: float(chance[self._place[item]] * (1 - chance[self._place[item]])) for item in items}

    def _measure_agreement(self) -> None:
        """How much more children answer like their parents than answers that are independent given the model; in [0, 1).

        Independent answers carry their own luck, which the model evens out. Answers that are copied share it: there only the
        items on which the two differ tell anything.
        """
        chance = self._chances()
        observed = expected = _DIFFERENCES_BEFORE
        for row, parent in enumerate(self._parents):
            if parent is not None:
                both = self._seen[row] & self._seen[parent]
                own, other = chance[row, both], chance[parent, both]
                observed += float(np.abs(self._scores[row, both] - self._scores[parent, both]).sum())
                expected += float((own * (1 - other) + other * (1 - own)).sum())
        self._expected_differences = expected - _DIFFERENCES_BEFORE
        self._agreement = max(0.0, 1 - observed / expected)

    def _chances(self) -> Floats:
        return _logistic(self._quality[:, None] - self._difficulty[None])

    def _prior(self) -> Floats:
        """The precision of the qualities: a walk from parent to child."""
        precision = np.zeros((len(self._parents), len(self._parents)))
        walk = 1 / self.effect_spread**2
        for row, parent in enumerate(self._parents):
            if parent is None:
                precision[row, row] += 1 / _ROOT_SPREAD**2
                continue
            precision[row, row] += walk
            precision[parent, parent] += walk
            precision[row, parent] -= walk
            precision[parent, row] -= walk
        return precision


def _logistic(value: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(value, -30.0, 30.0))))

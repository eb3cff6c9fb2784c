"""The fitted parts of policies: calibration of each persona's confidence, and the logistic stacker.

A part is never applied to a row that it was fitted on, but for the in-sample context, which exists to show how much that
flatters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from optimizer.analysis.policy.data import PolicyData
from optimizer.analysis.policy.space import Draft, Part
from optimizer.debate.policy import (
    NOT_GIVEN,
    Curve,
    Floats,
    Knots,
    Policy,
    Round,
    Sigmoid,
    Stacker,
    Votes,
    given,
    relied_on,
    stacked_chance,
    weighted_chance,
)

T = TypeVar("T")
_DIGITS = 4  # of fitted numbers: rounded before they decide anything, so that the file holds what was measured
_SMOOTHING = 1.0  # one right and one wrong vote, for shares of too few to fit a curve to
_FEW_VOTES = 10


@dataclass(frozen=True, slots=True)
class Folds:
    """The outer folds, and the contexts in which a policy is scored.

    `of_row` has each row's fold, from 0 to `count` - 1. Context k < count is outer fold k: rows of another fold j meet parts
    fitted without j and k, on which policies are chosen; rows of fold k meet parts fitted without k, which tests the choice.
    Context `final` chooses among all: rows of fold j meet parts fitted without j. In context `in_sample` parts are fitted on
    all rows.
    """

    of_row: NDArray[np.intp]
    count: int

    @property
    def final(self) -> int:
        return self.count

    @property
    def in_sample(self) -> int:
        return self.count + 1

    def left_out(self, context: int, fold: int) -> frozenset[int]:
        """The folds that a part is not fitted on where it meets rows of `fold`."""
        return frozenset() if context == self.in_sample else frozenset({fold, context} - {self.final})


@dataclass
class Fits:
    """Chances by draft and context, and finished policies. Every part is fitted once for each set of training rows."""

    data: PolicyData
    folds: Folds
    _kept: dict[Hashable, object] = field(default_factory=dict)

    def chance(self, draft: Draft, context: int) -> Floats:
        """The chance that each claim is grounded, as the draft says in a context; shape (debates,)."""
        votes, sure = self.data.votes[draft.base.round], self.data.confidences[draft.base.round]
        part = draft.part
        if part is None:
            return draft.base.chance(votes, sure)
        if part.kind == "stacker":
            return self._once(("chance", part, context), lambda: self._stacked(part, context))
        reliance = self._once(("reliance", part, context), lambda: self._relied_on(part, context))
        return weighted_chance(draft.base.weights, votes, reliance)

    def finished(self, draft: Draft, left_out: frozenset[int] = frozenset()) -> Policy:
        """The policy with its part fitted on all rows but those of some folds."""
        part = draft.part
        if part is None:
            return draft.base
        if part.kind == "stacker":
            return replace(draft.base, rule="stacker", weights=(), stacker=self._stacker(part, left_out))
        return replace(draft.base, confidence="calibrated", curves=self._curves(part, left_out))

    def _stacked(self, part: Part, context: int) -> Floats:
        found = np.empty(self.data.debates)
        for rows, left_out in self._pieces(context):
            votes, sure = self._answers(part.round, rows)
            found[rows] = stacked_chance(self._stacker(part, left_out), votes, sure)
        return found

    def _relied_on(self, part: Part, context: int) -> Floats:
        found = np.empty(self.data.votes[part.round].shape)
        for rows, left_out in self._pieces(context):
            found[rows] = relied_on(self._curves(part, left_out), self._answers(part.round, rows)[1])
        return found

    def _pieces(self, context: int) -> list[tuple[NDArray[np.bool_], frozenset[int]]]:
        """The rows of each fold, with the folds that their parts are not fitted on."""
        return [(self.folds.of_row == fold, self.folds.left_out(context, fold)) for fold in range(self.folds.count)]

    def _answers(self, which: Round, rows: NDArray[np.bool_]) -> tuple[Votes, Floats]:
        return self.data.votes[which][rows], self.data.confidences[which][rows]

    def _curves(self, part: Part, left_out: frozenset[int]) -> tuple[Curve, ...]:
        def fit() -> tuple[Curve, ...]:
            rows = self._training(left_out)
            votes, sure = self._answers(part.round, rows)
            right, weights = votes == self.data.labels[rows, None], self.data.weights[rows]
            curves = []
            for column in range(len(self.data.personas)):
                cast = votes[:, column] != 0
                curves.append(fit_curve(part.kind, given(sure[cast, column]), right[cast, column], weights[cast]))
            return tuple(curves)

        return self._once(("curves", part, left_out), fit)

    def _stacker(self, part: Part, left_out: frozenset[int]) -> Stacker:
        def fit() -> Stacker:
            rows = self._training(left_out)
            return fit_stacker(part, *self._answers(part.round, rows), self.data.labels[rows], self.data.weights[rows])

        return self._once(("stacker", part, left_out), fit)

    def _training(self, left_out: frozenset[int]) -> NDArray[np.bool_]:
        return ~np.isin(self.folds.of_row, list(left_out))

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._kept:
            self._kept[key] = make()
        return cast("T", self._kept[key])


def fit_curve(kind: str, confidence: Floats, right: NDArray[np.bool_], weights: Floats) -> Curve:
    """The share of right votes by confidence, of one persona.

    Args:
        kind: isotonic or logistic.
        confidence: of its votes, from 0 to 1, shape (votes,).
        right, weights: of the same votes.

    Returns:
        A curve; a level one where there are under ten votes, one confidence only, or all are right or all wrong.
    """
    if len(right) < _FEW_VOTES or right.all() or not right.any() or np.ptp(confidence) == 0:
        total = float(weights.sum())
        share = (float(weights[right].sum()) + _SMOOTHING) / (total + 2 * _SMOOTHING)
        return Knots((NOT_GIVEN,), (round(share, _DIGITS),))
    if kind == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(confidence, right.astype(float), weights)
        return Knots(_rounded(fitted.X_thresholds_), _rounded(fitted.y_thresholds_))
    intercept, slope = _regression(confidence[:, None], right, weights, 1.0)
    return Sigmoid(intercept, slope)


def fit_stacker(part: Part, votes: Votes, confidences: Floats, labels: Votes, weights: Floats) -> Stacker:
    """The logistic regression of labels on votes, and on votes times confidences where the part says so."""
    personas = votes.shape[1]
    grounded = labels > 0
    if grounded.all() or not grounded.any():
        share = (float(weights[grounded].sum()) + _SMOOTHING) / (float(weights.sum()) + 2 * _SMOOTHING)
        return Stacker(round(float(np.log(share / (1 - share))), _DIGITS), (0.0,) * personas, (0.0,) * personas)
    inputs = np.hstack([votes, votes * given(confidences)]) if part.confidences else votes.astype(float)
    intercept, *coefficients = _regression(inputs, grounded, weights, part.penalty)
    sure = coefficients[personas:] if part.confidences else [0.0] * personas
    return Stacker(intercept, tuple(coefficients[:personas]), tuple(sure))


def _regression(inputs: Floats, classes: NDArray[np.bool_], weights: Floats, penalty: float) -> tuple[float, ...]:
    """Intercept and coefficients of a logistic regression."""
    from sklearn.linear_model import LogisticRegression

    # On so few columns Newton's steps are faster than the default solver, and end nearer to the optimum.
    fitted = LogisticRegression(C=penalty, solver="newton-cg").fit(inputs, classes, sample_weight=weights)
    return _rounded(np.concatenate([fitted.intercept_, fitted.coef_[0]]))


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(value), _DIGITS) for value in values)

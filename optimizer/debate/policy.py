"""An aggregation policy: how the votes and confidences of one round become a decision. Pure functions on arrays.

Votes are 1 (grounded), -1 (not grounded) or 0 (no vote), shape (items, personas). Confidences are shares from 0 to 1 that a vote
is right, the same shape, NaN where none was given, which counts as one half. Decisions are 1, -1, or 0 where there is none. Every
row is decided by itself, with the same arithmetic in a batch of one and of many, so that a policy decides in the executor
just as it did when it was tuned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optimizer.data.item import Label
from optimizer.debate.aggregate import Decision
from optimizer.debate.records import Turn

Floats = NDArray[np.float64]
Votes = NDArray[np.int8]
Rule = Literal["majority", "weighted", "stacker"]
Round = Literal["first", "last"]
Reliance = Literal["ignored", "raw", "calibrated"]
NOT_GIVEN = 0.5  # the confidence of a vote that came without one
SIGN: dict[str, int] = {Label.GROUNDED: 1, Label.NOT_GROUNDED: -1}
_LABEL_OF = {1: Label.GROUNDED, -1: Label.NOT_GROUNDED}
_TIE = 1e-12  # differences of floating point that decide nothing


@dataclass(frozen=True, slots=True)
class Knots:
    """The share of right votes by confidence, straight lines between points and level beyond them (isotonic calibration)."""

    confidence: tuple[float, ...]
    right: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.confidence or len(self.confidence) != len(self.right) or sorted(self.confidence) != [*self.confidence]:
            raise ValueError("a calibration needs confidences in rising order, and a share of right votes for each")
        if not all(0 <= share <= 1 for share in self.right):
            raise ValueError(f"shares of right votes must be between 0 and 1 but are {', '.join(map(str, self.right))}")

    def __call__(self, confidence: Floats) -> Floats:
        """The share of right votes at each confidence."""
        return np.interp(confidence, self.confidence, self.right)


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """The share of right votes by confidence, 1 / (1 + exp(-(intercept + slope * confidence))) (Platt 1999)."""

    intercept: float
    slope: float

    def __call__(self, confidence: Floats) -> Floats:
        """The share of right votes at each confidence."""
        return _logistic(self.intercept + self.slope * confidence)


Curve = Knots | Sigmoid


@dataclass(frozen=True, slots=True)
class Stacker:
    """A logistic regression on votes, and on votes times their confidence; a coefficient of each for every persona."""

    intercept: float
    votes: tuple[float, ...]
    confidences: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Veto:
    """A persona whose vote "not grounded", from a confidence on, stands: where nothing is decided, or always."""

    persona: str
    confidence: float = 0.0
    when: Literal["undecided", "always"] = "undecided"


@dataclass(frozen=True, slots=True)
class Policy:
    """How one round's votes decide.

    `majority` needs more than `threshold` of the personas for a label, and more than the other label has. `weighted` adds
    votes up by `weights` (negative ones count the other way) times how much a vote is relied on: 1, its confidence, or twice
    its calibrated share of being right less one. `stacker` is a logistic regression. The last two give a chance c that the
    claim is grounded, and decide for the label that is cheaper to be wrong about: grounded above t = f / (1 + f), where f is
    `false_grounded`, the cost of a wrong "grounded" over that of a wrong "not grounded". They decide only if c is further
    from t than `abstention`, as a share of the way from t to certainty. `veto` comes last. What a rule does not read is
    ignored.

    Raises:
        ValueError: a value is out of its range, or there are not as many as personas.
    """

    personas: tuple[str, ...]
    rule: Rule = "majority"
    round: Round = "last"
    threshold: float = 0.5
    weights: tuple[float, ...] = ()
    confidence: Reliance = "ignored"
    curves: tuple[Curve, ...] = ()
    stacker: Stacker | None = None
    false_grounded: float = 1.0
    abstention: float = 0.0
    veto: Veto | None = None

    def __post_init__(self) -> None:
        if not self.personas or len(set(self.personas)) != len(self.personas):
            raise ValueError(f"personas must be named, each once, but are {', '.join(self.personas) or 'none'}")
        if not 0 <= self.threshold < 1 or not 0 <= self.abstention < 1 or not self.false_grounded > 0:
            raise ValueError(
                "threshold and abstention must be at least 0 and under 1, and false_grounded above 0, but are "
                f"{self.threshold}, {self.abstention} and {self.false_grounded}"
            )
        if self.veto is not None and (self.veto.persona not in self.personas or not 0 <= self.veto.confidence <= 1):
            raise ValueError(f"a veto needs one of {', '.join(self.personas)} and a confidence from 0 to 1 but is {self.veto}")
        self._check_sizes()

    def _check_sizes(self) -> None:
        sizes = {}
        if self.rule == "weighted":
            sizes["weights"] = len(self.weights)
            if not any(self.weights):
                raise ValueError("a weighted vote needs a weight other than 0")
            if self.confidence == "calibrated":
                sizes["calibration"] = len(self.curves)
        if self.rule == "stacker":
            if self.stacker is None:
                raise ValueError("the rule is stacker, but there are no coefficients")
            sizes |= {"stacker votes": len(self.stacker.votes), "stacker confidences": len(self.stacker.confidences)}
        for name, size in sizes.items():
            if size != len(self.personas):
                raise ValueError(f"{name} must be given for each of {', '.join(self.personas)}, but there are {size}")

    @property
    def reads_confidence(self) -> bool:
        """Whether what it decides depends on confidences."""
        return bool(
            (self.rule == "weighted" and self.confidence != "ignored")
            or (self.rule == "stacker" and self.stacker is not None and any(self.stacker.confidences))
            or (self.veto is not None and self.veto.confidence > 0)
        )

    def decide(self, votes: Votes, confidences: Floats) -> Votes:
        """The decision on each item: 1 grounded, -1 not grounded, 0 none; shape (items,)."""
        return self.settle(votes, confidences, self.chance(votes, confidences))

    def chance(self, votes: Votes, confidences: Floats) -> Floats:
        """How likely each claim is grounded, from 0 to 1, as far as the vote says; shape (items,)."""
        if self.rule == "stacker" and self.stacker is not None:
            return stacked_chance(self.stacker, votes, confidences)
        if self.rule == "majority":
            return weighted_chance((1.0,) * len(self.personas), votes)
        return weighted_chance(self.weights, votes, self._reliance(confidences))

    def settle(self, votes: Votes, confidences: Floats, chance: Floats) -> Votes:
        """The decisions that follow from the chances, with what else the policy holds."""
        if self.rule == "majority":
            decided = self._majority(votes)
        else:
            margin = self.margin(chance)
            decided = _signs(margin > self.abstention + _TIE, margin < -self.abstention - _TIE)
        if self.veto is None:
            return decided
        column = self.personas.index(self.veto.persona)
        objects = (votes[:, column] < 0) & (given(confidences[:, column]) >= self.veto.confidence)
        if self.veto.when == "undecided":
            objects &= decided == 0
        decided[objects] = -1
        return decided

    def margin(self, chance: Floats) -> Floats:
        """How far a chance is from where the decision turns, as a share of the way to certainty: -1 to 1."""
        turn = 0.5 if self.rule == "majority" else self.false_grounded / (1 + self.false_grounded)
        away = chance - turn
        return np.where(away > 0, away / (1 - turn), away / turn)

    def _majority(self, votes: Votes) -> Votes:
        grounded, against = (votes > 0).sum(axis=1), (votes < 0).sum(axis=1)
        needed = self.threshold * len(self.personas)
        won = (grounded > needed) & (grounded > against)
        lost = (against > needed) & (against > grounded)
        return _signs(won, lost)

    def _reliance(self, confidences: Floats) -> Floats | None:
        if self.confidence == "ignored":
            return None
        return given(confidences) if self.confidence == "raw" else relied_on(self.curves, confidences)


def given(confidences: Floats) -> Floats:
    """Confidences with one half where none was given."""
    return np.where(np.isnan(confidences), NOT_GIVEN, confidences)


def relied_on(curves: Sequence[Curve], confidences: Floats) -> Floats:
    """How much each vote is relied on: twice its calibrated share of being right less one; below 0 it speaks for the contrary."""
    filled = given(confidences)
    return np.stack([2 * curve(filled[:, column]) - 1 for column, curve in enumerate(curves)], axis=1)


def weighted_chance(weights: Sequence[float], votes: Votes, reliance: Floats | None = None) -> Floats:
    """(1 + sum of weight * vote * reliance / sum of absolute weights) / 2; columns are added one by one, in their order."""
    total = np.zeros(len(votes))
    for column, weight in enumerate(weights):
        if weight:
            cast = weight * votes[:, column]
            total += cast if reliance is None else cast * reliance[:, column]
    return (1 + total / sum(map(abs, weights))) / 2


def stacked_chance(stacker: Stacker, votes: Votes, confidences: Floats) -> Floats:
    """The logistic of intercept + sum of vote * (coefficient + coefficient * confidence)."""
    total = np.full(len(votes), stacker.intercept)
    filled = given(confidences)
    for column, (plain, sure) in enumerate(zip(stacker.votes, stacker.confidences, strict=True)):
        total += votes[:, column] * (plain + sure * filled[:, column])
    return _logistic(total)


def _signs(up: NDArray[np.bool_], down: NDArray[np.bool_]) -> Votes:
    """1 where `up`, -1 where `down`, else 0."""
    signs: Votes = up.astype(np.int8) - down.astype(np.int8)
    return signs


def _logistic(values: Floats) -> Floats:
    """1 / (1 + exp(-value)) without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * values))


def answers(turns: Iterable[Turn], personas: Sequence[str], which: Round) -> tuple[list[int], list[float]]:
    """The votes and confidences of a debate's first or last round, in the order of the personas; who is missing casts no vote."""
    held = list(turns)
    number = 1 if which == "first" else max((turn.round for turn in held), default=0)
    verdicts = {turn.persona: turn.verdict for turn in held if turn.round == number}
    votes, confidences = [0] * len(personas), [float("nan")] * len(personas)
    for column, persona in enumerate(personas):
        verdict = verdicts.get(persona)
        if verdict is not None and verdict.vote in SIGN:
            votes[column] = SIGN[verdict.vote]
            confidences[column] = float("nan") if verdict.confidence is None else verdict.confidence / 100
    return votes, confidences


def decide_turns(policy: Policy, turns: Iterable[Turn]) -> Decision:
    """What a policy decides on one debate, from its turns alone, and what made it: policy, or abstain."""
    votes, confidences = answers(turns, policy.personas, policy.round)
    sign = int(policy.decide(np.array([votes], dtype=np.int8), np.array([confidences]))[0])
    return (_LABEL_OF[sign], "policy") if sign else (None, "abstain")

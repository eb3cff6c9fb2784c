"""The search space: what Optuna may choose, and the policies that everybody would try first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from optimizer.analysis.policy.data import PolicyData
from optimizer.debate.aggregate import VETO_PERSONA
from optimizer.debate.policy import Policy, Round, Veto

if TYPE_CHECKING:
    import optuna

_WEIGHT_STEPS, _LEAST_WEIGHT = 4, -2  # weights are quarters, from -1/2 to 1
_PENALTIES = (0.01, 0.1, 1.0)
_COSTS = (0.25, 1 / 3, 0.5, 2 / 3, 1.0, 1.5, 2.0, 3.0, 4.0)
_EVEN = _COSTS.index(1.0)
_ABSTENTION_STEPS = 20


@dataclass(frozen=True, slots=True)
class Part:
    """What of a draft is fitted to labels, and so anew for every set of training clusters.

    `isotonic` and `logistic` calibrate each persona's confidence. `stacker` is a logistic regression of strength `penalty`
    (scikit-learn's C), with confidences or on votes alone.
    """

    kind: Literal["isotonic", "logistic", "stacker"]
    round: Round
    penalty: float = 1.0
    confidences: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A policy before its fitted part, if it has one; `base` is all the rest, with a weighted vote in the stacker's place."""

    base: Policy
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """What there is to choose from: the personas, whether there is more than one round, and whether votes have confidences."""

    personas: tuple[str, ...]
    rounds: tuple[Round, ...]
    confidence: bool

    @classmethod
    def of(cls, data: PolicyData) -> Space:
        """The space for these debates."""
        return cls(data.personas, tuple(data.votes), data.has_confidence)

    def suggest(self, trial: optuna.trial.Trial) -> Draft:
        """The draft that a trial stands for."""
        rule = trial.suggest_categorical("rule", ["majority", "weighted", "stacker"])
        held = cast("Round", trial.suggest_categorical("round", self.rounds)) if len(self.rounds) > 1 else self.rounds[0]
        veto = self._veto(trial)
        if rule == "majority":
            needed = trial.suggest_int("needed", 1, len(self.personas))
            return Draft(Policy(self.personas, "majority", held, needed_threshold(needed, len(self.personas)), veto=veto))
        cost = _COSTS[trial.suggest_int("false_grounded", 0, len(_COSTS) - 1)]
        # Half of the trials decide wherever there is no tie: whatever the objective, that is a good guess.
        abstains = trial.suggest_categorical("abstains", [False, True])
        abstention = trial.suggest_int("abstention", 1, _ABSTENTION_STEPS - 1) / _ABSTENTION_STEPS if abstains else 0.0
        weights = (1.0,) * len(self.personas) if rule == "stacker" else self._weights(trial)
        base = Policy(self.personas, "weighted", held, weights=weights, false_grounded=cost, abstention=abstention, veto=veto)
        return self._stacker(trial, base) if rule == "stacker" else self._reliance(trial, base)

    def first(self) -> list[dict[str, Any]]:
        """The parameters of policies that everybody would try: the aggregators, and each persona alone."""
        count = len(self.personas)
        simple = {"rule": "majority", "veto": "", "needed": count // 2 + 1}
        vote = {"rule": "weighted", "veto": "", "false_grounded": _EVEN, "abstains": False, "reliance": "ignored"}
        found: list[dict[str, Any]] = [simple]
        if VETO_PERSONA in self.personas:
            found.insert(0, simple | {"veto": VETO_PERSONA, "veto_confidence": 0, "veto_when": "undecided"})
        equal = {f"weight_{persona}": _WEIGHT_STEPS for persona in self.personas}
        found += [vote | equal | {"reliance": reliance} for reliance in self._reliances()]
        found += [vote | dict.fromkeys(equal, 0) | {f"weight_{persona}": _WEIGHT_STEPS} for persona in self.personas]
        return [{**params, "round": which} for which in self.rounds for params in found] if len(self.rounds) > 1 else found

    def _veto(self, trial: optuna.trial.Trial) -> Veto | None:
        persona = trial.suggest_categorical("veto", ["", *self.personas])
        if not persona:
            return None
        confidence = trial.suggest_int("veto_confidence", 0, 10) / 10 if self.confidence else 0.0
        return Veto(persona, confidence, trial.suggest_categorical("veto_when", ["undecided", "always"]))  # type: ignore[arg-type]

    def _weights(self, trial: optuna.trial.Trial) -> tuple[float, ...]:
        steps = [trial.suggest_int(f"weight_{persona}", _LEAST_WEIGHT, _WEIGHT_STEPS) for persona in self.personas]
        return tuple(step / _WEIGHT_STEPS for step in steps) if any(steps) else (1.0,) * len(steps)

    def _reliances(self) -> Sequence[str]:
        return ("ignored", "raw", "isotonic", "logistic") if self.confidence else ("ignored",)

    def _reliance(self, trial: optuna.trial.Trial, base: Policy) -> Draft:
        found = trial.suggest_categorical("reliance", self._reliances())
        if found in ("isotonic", "logistic"):
            return Draft(base, Part(found, base.round))  # type: ignore[arg-type]
        return Draft(replace(base, confidence="raw") if found == "raw" else base)

    def _stacker(self, trial: optuna.trial.Trial, base: Policy) -> Draft:
        penalty = trial.suggest_categorical("penalty", _PENALTIES)
        confidences = self.confidence and trial.suggest_categorical("stacks_confidences", [False, True])
        return Draft(base, Part("stacker", base.round, penalty, confidences))


def needed_threshold(needed: int, personas: int) -> float:
    """A threshold that exactly so many votes or more pass, half-way below them."""
    return round((needed - 0.5) / personas, 4)

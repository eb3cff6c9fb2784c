"""The file of a policy: TOML that a person can read, check and write, with a version and where it came from."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import FiniteFloat, ValidationError

from optimizer.config import Settings, toml_text
from optimizer.data.item import Item, Task
from optimizer.debate.policy import Curve, Knots, Policy, Reliance, Round, Rule, Sigmoid, Stacker, Veto
from optimizer.errors import UserError
from optimizer.sections import Strict

T = TypeVar("T")
VERSION = 1
_HEAD = "# Decides in place of the aggregator: --set policy=THIS_FILE. docs/policy.md says what the fields mean.\n"


class _Veto(Strict):
    persona: str
    confidence: FiniteFloat = 0.0
    when: Literal["undecided", "always"] = "undecided"


class _Isotonic(Strict):
    confidence: tuple[FiniteFloat, ...]
    right: tuple[FiniteFloat, ...]


class _Logistic(Strict):
    intercept: FiniteFloat
    slope: FiniteFloat


class _Stacker(Strict):
    intercept: FiniteFloat
    votes: dict[str, FiniteFloat]
    confidences: dict[str, FiniteFloat] = {}


class _File(Strict):
    v: int
    personas: tuple[str, ...]
    rule: Rule
    round: Round = "last"
    threshold: FiniteFloat = 0.5
    weights: dict[str, FiniteFloat] = {}
    confidence: Reliance = "ignored"
    calibration: dict[str, _Isotonic | _Logistic] = {}
    stacker: _Stacker | None = None
    false_grounded: FiniteFloat = 1.0
    abstention: FiniteFloat = 0.0
    veto: _Veto | None = None
    origin: dict[str, Any] = {}


def policy_toml(policy: Policy, origin: Mapping[str, Any] | None = None) -> str:
    """The file's text. `origin` says what it was made from; it decides nothing."""
    table = _table(policy)
    return _HEAD + toml_text({**table, "origin": dict(origin)} if origin else table)


def read_policy(path: Path) -> Policy:
    """Read a policy file.

    Raises:
        UserError: it is missing, no TOML, of another version, or a field is unknown or has a bad value.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such policy file; `optimizer policy RUN --out FILE` makes one") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UserError(f"{path}: cannot be read as a policy file in TOML ({error})") from error
    if raw.get("v") != VERSION:
        raise UserError(f"{path}: is version {raw.get('v')!r} of a policy file, but version {VERSION} is read; make it anew")
    try:
        return _policy(_File.model_validate(raw))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: {where}: {first['msg']} (got {first['input']!r}); docs/policy.md has the fields") from error
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error


def digest(policy: Policy) -> str:
    """A hash of all that decides, 16 hex digits; comments and origin are left out."""
    return hashlib.sha256(json.dumps(_table(policy), sort_keys=True).encode()).hexdigest()[:16]


def chosen_policy(settings: Settings) -> Policy | None:
    """The policy that the settings name, if they do. Raises UserError as `read_policy`."""
    return read_policy(Path(settings.policy)) if settings.policy else None


def check_policy(settings: Settings, personas: Sequence[str], items: Iterable[Item]) -> None:
    """Whether the policy of the settings, if any, can decide this panel's debates on these items.

    Raises:
        UserError: it was made for other personas, reads confidences that are not asked for, or an item is no claim.
    """
    policy = chosen_policy(settings)
    if policy is None:
        return
    if set(policy.personas) != set(personas):
        raise UserError(
            f"{settings.policy}: was made for the personas {', '.join(policy.personas)}, but the panel seats "
            f"{', '.join(personas)}; make a policy from runs of this panel, or seat those with the setting panel"
        )
    if policy.reads_confidence and "confidence" not in settings.protocol.fields:
        raise UserError(
            f"{settings.policy}: reads confidences, but protocol.fields has none; add confidence to them, or make another policy"
        )
    question = next((item for item in items if item.task is not Task.CLAIM), None)
    if question is not None:
        raise UserError(f"{settings.policy}: policies decide on claims, but item {question.id!r} is a question")


def _table(policy: Policy) -> dict[str, Any]:
    """What the rule reads, in the order in which a person would."""
    found: dict[str, Any] = {"v": VERSION, "rule": policy.rule, "personas": list(policy.personas), "round": policy.round}
    if policy.rule == "majority":
        found["threshold"] = policy.threshold
    else:
        found |= {"false_grounded": policy.false_grounded, "abstention": policy.abstention}
    if policy.rule == "weighted":
        found |= {"confidence": policy.confidence, "weights": dict(zip(policy.personas, policy.weights, strict=True))}
        if policy.confidence == "calibrated":
            found["calibration"] = dict(zip(policy.personas, map(_curve_table, policy.curves), strict=True))
    if policy.rule == "stacker" and policy.stacker is not None:
        votes, confidences = policy.stacker.votes, policy.stacker.confidences
        found["stacker"] = {
            "intercept": policy.stacker.intercept,
            "votes": dict(zip(policy.personas, votes, strict=True)),
            "confidences": dict(zip(policy.personas, confidences, strict=True)),
        }
    if policy.veto is not None:
        veto = policy.veto
        found["veto"] = {"persona": veto.persona, "confidence": veto.confidence, "when": veto.when}
    return found


def _curve_table(curve: Curve) -> dict[str, Any]:
    if isinstance(curve, Knots):
        return {"confidence": list(curve.confidence), "right": list(curve.right)}
    return {"intercept": curve.intercept, "slope": curve.slope}


def _policy(file: _File) -> Policy:
    stacker = None
    if file.stacker is not None:
        none = dict.fromkeys(file.personas, 0.0)
        votes = _by_persona(file, file.stacker.votes, "stacker.votes")
        confidences = _by_persona(file, file.stacker.confidences or none, "stacker.confidences")
        stacker = Stacker(file.stacker.intercept, votes, confidences)
    curves = _by_persona(file, {name: _curve(curve) for name, curve in file.calibration.items()}, "calibration")
    return Policy(
        file.personas,
        file.rule,
        file.round,
        file.threshold,
        _by_persona(file, file.weights, "weights"),
        file.confidence,
        curves,
        stacker,
        file.false_grounded,
        file.abstention,
        None if file.veto is None else Veto(file.veto.persona, file.veto.confidence, file.veto.when),
    )


def _curve(curve: _Isotonic | _Logistic) -> Curve:
    if isinstance(curve, _Isotonic):
        return Knots(curve.confidence, curve.right)
    return Sigmoid(curve.intercept, curve.slope)


def _by_persona(file: _File, values: Mapping[str, T], name: str) -> tuple[T, ...]:
    """The values in the personas' order; none at all is allowed, some is not."""
    if values and set(values) != set(file.personas):
        raise ValueError(f"{name} is given for {', '.join(values)}, but the personas are {', '.join(file.personas)}")
    return tuple(values[persona] for persona in file.personas if values)

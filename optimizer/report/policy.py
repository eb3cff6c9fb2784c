"""A tuned policy in words, as tables for the terminal and Markdown, and as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from optimizer.analysis.policy.data import Source
from optimizer.analysis.policy.tuning import Decided, FoldChoice, Tuning
from optimizer.debate.policy import Knots, Policy
from optimizer.debate.policy_file import digest, policy_toml
from optimizer.report.comparison import plain_data
from optimizer.report.figures import percent, probability

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
RULES_HEAD = ("decided by", "value", "right", "wrong", "not decided", "right where decided", "AURC")
FOLDS_HEAD = ("fold", "items", "clusters", "chosen on the other folds", "gain")
CURVE_HEAD = ("coverage", "recorded rule", "tuned policy")
LEGEND = (
    "The tuned policy's figures are out of fold: each item is decided by the policy that was chosen without its fold. Selective "
    "accuracy is that of the surest items; what was not decided is covered last, as not right. AURC is the mean error rate over "
    "all coverages: the smaller the better. The recorded rule is as sure as its last votes, each with its confidence, support it."
)
_RULE_NAMES = {"majority": "majority", "weighted": "weighted vote", "stacker": "logistic stacker"}


def heading(source: Source, found: Tuning) -> str:
    """What was re-decided, in one line."""
    return (
        f"{', '.join(source.runs)}: {found.debates} debates on {found.items} items in {found.clusters} clusters, "
        f"{found.trials} policies tried for {_objective(found)}"
    )


def statements(source: Source, found: Tuning) -> list[str]:
    """The result in words, the verdict first."""
    honest = found.honest
    verdicts = {
        "better": "A tuned policy is reliably better than the recorded rule.",
        "worse": "Tuned policies are reliably worse than the recorded rule: keep the rule.",
        "not distinguishable": "No policy is reliably better than the recorded rule.",
    }
    lines = [
        verdicts[found.verdict],
        f"Honest gain, on folds that had no part in the choice: {gain(found, honest.gain)} (95 % interval "
        f"{_number(found, honest.low)} to {_number(found, honest.high)}, p = {probability(honest.p)}; {found.won} debates won, "
        f"{found.lost} lost).",
        f"Naive gain, of the best policy on the very items that it was chosen on: {gain(found, found.naive)}. "
        "It is optimistic, and no estimate of anything.",
        "Chosen on all items: "
        + (describe(found.policy) + "." if found.policy else "the recorded rule; nothing tried is worth more."),
    ]
    if source.missing:
        lines.append(f"Note: {source.missing} items have no finished debate and are left out.")
    if len(source.models) > 1:
        lines.append(f"Note: different models judged ({', '.join(source.models)}), pooled here as if they were one.")
    if source.test_sets:
        lines.append("Note: the sealed test was looked at; the contrast is in the seal register.")
    return lines + [f"Note: {warning}." for warning in found.warnings]


def rule_rows(found: Tuning) -> list[list[str]]:
    """The recorded rule and the tuned policy, in the columns of RULES_HEAD."""
    pairs = (("recorded rule", found.recorded, found.recorded_curve), ("tuned policy", found.tuned, found.tuned_curve))
    return [[name, *_decided(found, each), _three(curve.aurc)] for name, each, curve in pairs]


def fold_rows(found: Tuning) -> list[list[str]]:
    """What each fold was decided by, in the columns of FOLDS_HEAD."""
    return [_fold(found, number, each) for number, each in enumerate(found.folds, 1)]


def curve_rows(found: Tuning) -> list[list[str]]:
    """Selective accuracy at rising coverage, in the columns of CURVE_HEAD."""
    curves = (found.recorded_curve, found.tuned_curve)
    return [[f"{100 * at:.0f} %", *(percent(curve.accuracy_at(at)) for curve in curves)] for at in COVERAGES]


def describe(policy: Policy | None) -> str:
    """What a policy does, in words."""
    if policy is None:
        return "the recorded rule"
    text = f"{_RULE_NAMES[policy.rule]} of the {policy.round} round"
    if policy.rule == "majority":
        needed = sum(votes <= policy.threshold * len(policy.personas) for votes in range(len(policy.personas) + 1))
        text += f", {needed} of {len(policy.personas)} votes"
    if policy.rule == "weighted":
        text += f" ({', '.join(f'{name} {weight:g}' for name, weight in zip(policy.personas, policy.weights, strict=True))}"
        text += f"{_reliance(policy)})"
    if policy.rule == "stacker" and policy.stacker is not None:
        text += " on votes and confidences" if any(policy.stacker.confidences) else " on votes"
    if policy.rule != "majority" and policy.false_grounded != 1:
        text += f', a wrong "grounded" {policy.false_grounded:.2g} times as dear as a wrong "not grounded"'
    if policy.rule != "majority" and policy.abstention:
        text += f", no decision under {policy.abstention:g} of the way to certainty"
    if policy.veto is not None:
        sure = f" from confidence {100 * policy.veto.confidence:.0f} on" if policy.veto.confidence else ""
        when = " where nothing is decided" if policy.veto.when == "undecided" else " over all others"
        text += f', "not grounded" by {policy.veto.persona}{sure} stands{when}'
    return text


def gain(found: Tuning, value: float) -> str:
    """A difference in the objective's unit: points of a share, or cost saved an item."""
    return f"{_number(found, value)} {'cost saved an item' if found.objective.name == 'cost' else 'points'}"


def origin(source: Source, found: Tuning) -> dict[str, Any]:
    """What a policy file says of where it came from."""
    return {
        "runs": list(source.runs),
        "candidates": list(source.candidates),
        "debates": found.debates,
        "items": found.items,
        "clusters": found.clusters,
        "objective": found.objective.name,
        "verdict": statements(source, found)[0],
        "honest_gain": round(found.honest.gain, 6),
        **(
            {"honest_interval": [round(found.honest.low, 6), round(found.honest.high, 6)]}
            if found.honest.low == found.honest.low
            else {}
        ),
        "p": round(found.honest.p, 6),
    }


def markdown(source: Source, found: Tuning) -> str:
    """The result as a Markdown section."""
    parts = [f"## {heading(source, found)}", *statements(source, found), _table(RULES_HEAD, rule_rows(found))]
    parts += [_table(CURVE_HEAD, curve_rows(found)), LEGEND, _table(FOLDS_HEAD, fold_rows(found))]
    if found.policy is not None:
        parts.append(f"```toml\n{policy_toml(found.policy, origin(source, found))}```")
    return "\n\n".join(parts) + "\n"


def to_json(source: Source, found: Tuning) -> dict[str, Any]:
    """Plain data, NaN as null."""
    record: dict[str, Any] = plain_data(asdict(found))
    record["honest"]["stretch"] = found.honest.stretch if found.honest.low == found.honest.low else None
    record |= {
        "runs": list(source.runs),
        "candidates": list(source.candidates),
        "missing": source.missing,
        "verdict": found.verdict,
        "statements": statements(source, found),
        "policy_words": describe(found.policy),
        "policy_digest": digest(found.policy) if found.policy else None,
    }
    return record


def _objective(found: Tuning) -> str:
    if found.objective.name != "cost":
        return {"accuracy": "accuracy", "balanced": "balanced accuracy"}[found.objective.name]
    costs = found.objective.costs
    return (
        f"expected cost (grounded claims: wrong {costs.wrong_grounded:g}, not decided {costs.abstained_grounded:g}; "
        f"not grounded ones: wrong {costs.wrong_not_grounded:g}, not decided {costs.abstained_not_grounded:g})"
    )


def _decided(found: Tuning, each: Decided) -> list[str]:
    value = f"{-each.value:.3f} a claim" if found.objective.name == "cost" else percent(each.value)
    return [value, *(percent(share) for share in (each.right, each.wrong, each.abstained, each.selective))]


def _fold(found: Tuning, number: int, each: FoldChoice) -> list[str]:
    return [str(number), f"{each.items:g}", str(each.clusters), describe(each.policy), gain(found, each.gain)]


def _reliance(policy: Policy) -> str:
    if policy.confidence == "ignored":
        return ""
    if policy.confidence == "raw":
        return "; each with its confidence"
    kind = "isotonic" if any(isinstance(curve, Knots) and len(curve.right) > 1 for curve in policy.curves) else "logistic"
    return f"; each with its confidence, {kind} calibration"


def _number(found: Tuning, value: float) -> str:
    if value != value:
        return "–"
    return f"{value:+.3f}" if found.objective.name == "cost" else f"{100 * value:+.1f}"


def _three(value: float) -> str:
    return "–" if value != value else f"{value:.3f}"


def _table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    body = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    return f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n{body}"

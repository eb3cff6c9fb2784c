"""The honest ending: the sealed test is opened once, for seed and winner, and the result is said in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from optimizer.data.item import Item, Label
from optimizer.debate.records import Debate
from optimizer.errors import UserError
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator
from optimizer.search.keeping import ConditionsResult, Kept, conditions_result
from optimizer.search.objective import NAMES, gained_on, objective_for
from optimizer.sections import SearchSettings
from optimizer.stats.accuracy import Accuracy, accuracy_of
from optimizer.stats.f1 import f1_difference
from optimizer.stats.noninferiority import Reading
from optimizer.stats.paired import PairedDifference, paired_difference
from optimizer.stats.power import detectable_gain, smallest_significant_gain

ALPHA = 0.05
_FEW_CLUSTERS = 30
_MOST_MISSING = 0.1  # of the test's debates; above, the test is not a test and the run stays unfinished
DISCORDANCE = 0.15  # assumed before there is data: items on which two prompts of a panel differ


@dataclass(frozen=True, slots=True)
class ObjectiveResult:
    """Both values of an objective, the difference that is a gain where positive, its 95 % interval and two-sided p."""

    name: str
    seed: float
    winner: float
    gain: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class TestResult:
    """The sealed test: both accuracies, the paired difference, the verdict, and what the test could have seen.

    `verdict` is better, worse, not distinguishable, or unchanged where the seed itself won the search. It goes by the objective;
    `objective` has its figures where it is another than accuracy.

    Under conditions all figures are those under false passages, and `conditions` has every condition. The verdict goes by the
    former, but for "traded": better there, and worse by more than the margin under true passages and none.
    """

    seed: Accuracy
    winner: Accuracy
    difference: PairedDifference
    verdict: str
    smallest_gain: int | None
    detectable: float
    statement: str
    objective: ObjectiveResult | None = None
    conditions: ConditionsResult | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data for the summary."""
        return asdict(self)


async def open_test(
    evaluator: Evaluator, seed: Candidate, winner: Candidate, test: Sequence[Item], settings: SearchSettings
) -> TestResult:
    """Evaluate seed and winner on the sealed items and compare them.

    Raises:
        UserError: the endpoint is gone, or too many debates failed for the test to mean anything.
    """
    for candidate in dict.fromkeys((seed.id, winner.id)):
        debates = await evaluator.evaluate(seed if candidate == seed.id else winner, test)
        _check_missing(debates)
    clusters = {item.id: item.cluster for item in test}
    before, after = evaluator.scores(seed, test), evaluator.scores(winner, test)
    if any(item.shown for item in test):
        found = conditions_result(before, after, test, settings.margin)
        gaining = {item.id for item in gained_on(test)}
        before, after = ({item: score for item, score in scores.items() if item in gaining} for scores in (before, after))
        return compare_on_test(before, after, clusters, unchanged=seed.id == winner.id, conditions=found)
    objective = None if settings.objective == "accuracy" else measure_objective(evaluator, seed, winner, test, settings)
    return compare_on_test(before, after, clusters, unchanged=seed.id == winner.id, objective=objective)


def measure_objective(
    evaluator: Evaluator, seed: Candidate, winner: Candidate, items: Sequence[Item], settings: SearchSettings
) -> ObjectiveResult:
    """An objective other than accuracy of both candidates, on the items that both have, and the gain with its p."""
    held = [evaluator.known(seed), evaluator.known(winner)]
    both = [item for item in items if all(item.id in one and not one[item.id].failed for one in held)]
    clusters = {item.id: item.cluster for item in both}
    if settings.objective == "macro_f1":
        classes = [Label.GROUNDED, Label.NOT_GROUNDED]
        code: dict[object, int] = {label: index for index, label in enumerate(classes)}
        gold = [code[item.label] for item in both if item.label]
        said = [[code.get(one[item.id].decision, -1) for item in both] for one in held]
        found = f1_difference(gold, said[0], said[1], [item.cluster for item in both])
        return ObjectiveResult("macro_f1", found.baseline, found.challenger, found.difference, found.low, found.high, found.p)
    objective = objective_for(settings, both)
    before, after = ({item.id: objective.score(one[item.id], item) or 0.0 for item in both} for one in held)
    difference, unit = paired_difference(before, after, clusters), objective.unit
    means = [unit * sum(scores.values()) / max(1, len(scores)) for scores in (before, after)]
    seeds, winners = [unit - mean for mean in means] if objective.name == "cost" else means
    return ObjectiveResult(
        objective.name, seeds, winners, unit * difference.difference, unit * difference.low, unit * difference.high, difference.p
    )


def compare_on_test(
    before: Mapping[str, float],
    after: Mapping[str, float],
    clusters: Mapping[str, str],
    unchanged: bool,
    objective: ObjectiveResult | None = None,
    conditions: ConditionsResult | None = None,
) -> TestResult:
    """The verdict and its words from two sets of item scores; by the objective where it is another than accuracy.

    Under conditions these are the scores under false passages.
    """
    difference = paired_difference(dict(before), dict(after), dict(clusters))
    smallest = smallest_significant_gain(difference.clusters)
    detectable = detectable_gain(max(1, difference.items), DISCORDANCE)
    if unchanged:
        verdict = "unchanged"
    else:
        gain, p = (difference.difference, difference.p) if objective is None else (objective.gain, objective.p)
        verdict = "not distinguishable" if p > ALPHA else "better" if gain > 0 else "worse"
    kept = conditions.kept if conditions else None
    if verdict == "better" and kept is not None and kept.test.reading is Reading.WORSE:
        verdict = "traded"
    seed, winner = accuracy_of(before, clusters), accuracy_of(after, clusters)
    statement = _statement(verdict, seed, winner, difference, smallest, detectable, objective, conditions is not None)
    if kept is not None and verdict != "unchanged":
        statement = f"{statement} {_kept_words(kept)}"
    return TestResult(seed, winner, difference, verdict, smallest, detectable, statement, objective, conditions)


def _check_missing(debates: Mapping[str, Debate]) -> None:
    failed = [debate for debate in debates.values() if debate.failed]
    if len(failed) > _MOST_MISSING * len(debates):
        raise UserError(
            f"{len(failed)} of {len(debates)} test debates failed, the last because of: {failed[-1].failure}; "
            "mend that and run the same command again, only the failed ones are asked"
        )


def points(share: float) -> str:
    """A difference in accuracy in points, with its sign."""
    return f"{100 * share:+.1f} points"


def _objective_words(found: ObjectiveResult) -> str:
    """`balanced accuracy .600 to .650 (gain +.050, 95 % interval …)`; a gain in cost is what is saved."""
    gain = "saved" if found.name == "cost" else "gain"
    return (
        f"{NAMES[found.name]} {found.seed:.3f} before, {found.winner:.3f} after ({gain} {found.gain:+.3f}, "
        f"95 % interval {found.low:+.3f} to {found.high:+.3f}, p = {found.p:.3f})"
    )


def _statement(
    verdict: str,
    seed: Accuracy,
    winner: Accuracy,
    difference: PairedDifference,
    smallest: int | None,
    detectable: float,
    objective: ObjectiveResult | None,
    under_false: bool,
) -> str:
    under = " under false passages" if under_false else ""
    where = f"on {difference.items} sealed test {'debates' if under_false else 'items'}{under} in {difference.clusters} clusters"
    if verdict == "unchanged":
        return (
            f"No candidate took over from the seed, so the seed stays: {seed.right:g} of {seed.items} right{under} on the sealed "
            f"test ({100 * seed.value:.1f} %, 95 % interval {100 * seed.low:.0f} to {100 * seed.high:.0f})."
        )
    figures = (
        f"{points(difference.difference)} {where} (95 % interval {100 * difference.low:+.1f} to {100 * difference.high:+.1f}, "
        f"{difference.wins} items won, {difference.losses} lost, p = {difference.p:.3f})"
    )
    if objective is not None:
        figures = f"{_objective_words(objective)}; in accuracy {figures}"
    few = f" With only {difference.clusters} clusters this is a rough reading." if difference.clusters < _FEW_CLUSTERS else ""
    if verdict == "better":
        return f"The winner is better than the seed{under}: {figures}.{few}"
    if verdict == "traded":
        return f"The winner is better than the seed{under}, and pays for it elsewhere: {figures}. Keep the seed.{few}"
    if verdict == "worse":
        return f"The winner is worse than the seed{under}: {figures}. Keep the seed.{few}"
    seen = (
        f"at the least a net gain of {smallest} items without a loss ({100 * smallest / difference.items:.0f} points)"
        if smallest is not None
        else "no difference at all, it has too few clusters"
    )
    if objective is not None:
        return f"The winner is not distinguishable from the seed{under}: {figures}.{few}"
    known = detectable == detectable and not under_false  # where debates are variants of fewer items, the power is not known
    power = f"; a true gain of {100 * detectable:.0f} points is found with 80 % power" if known else ""
    return f"The winner is not distinguishable from the seed{under}: {figures}. This test could have seen {seen}{power}.{few}"


def _kept_words(kept: Kept) -> str:
    """What the non-inferiority test says, with its figures and what it would take."""
    test = kept.test
    readings = {
        Reading.NOT_WORSE: f"a loss of {100 * test.margin:g} points is ruled out",
        Reading.WORSE: f"more than {100 * test.margin:g} points are lost",
        Reading.INCONCLUSIVE: f"a loss of {100 * test.margin:g} points is neither seen nor ruled out (inconclusive)",
    }
    takes = f"; where nothing is lost, about {kept.needed} debates say so with 80 % power" if kept.needed else ""
    bounds = f"one-sided 95 % bounds {100 * test.low:+.1f} and {100 * test.high:+.1f}"
    return (
        f"Under true passages and without any, {readings[test.reading]}: {100 * test.difference:+.1f} points on {kept.items} "
        f"debates ({bounds}, {kept.wins} won, {kept.losses} lost{takes})."
    )

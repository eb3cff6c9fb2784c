"""Tunes a policy and says what it is worth: the gain over the recorded rule on folds that had no part in the choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from optimizer.analysis.policy.bench import Bench, draw_folds
from optimizer.analysis.policy.data import PolicyData
from optimizer.analysis.policy.objective import OUTCOMES, Objective, outcomes
from optimizer.analysis.policy.search import Chosen, search
from optimizer.analysis.policy.space import Draft
from optimizer.debate.policy import Floats, Policy, Votes
from optimizer.errors import UserError
from optimizer.stats.clusters import FEW_CLUSTERS, ClusterSums
from optimizer.stats.reselection import ReselectedGain, reselected_gain
from optimizer.stats.selective import SelectiveCurve, selective_curve

TRIALS, FOLDS = 2_000, 5
_SAMPLE = 256  # drafts that chance may choose from: with more, the measured intervals did not change
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Decided:
    """How a rule did: its value, and the shares of items that were right, wrong and not decided."""

    value: float
    right: float
    wrong: float
    abstained: float

    @property
    def coverage(self) -> float:
        return self.right + self.wrong

    @property
    def selective(self) -> float:
        """Accuracy where it decided; NaN where it never did."""
        return self.right / self.coverage if self.coverage else float("nan")


@dataclass(frozen=True, slots=True)
class FoldChoice:
    """What one outer fold was decided by (None: the recorded rule), and its gain there; `items` and `clusters` are its size."""

    policy: Policy | None
    gain: float
    items: float
    clusters: int


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result.

    `distinct` policies were among those that all folds share. `policy` is the choice of the whole procedure on all items, its
    parts fitted on all; None where nothing was worth more than the recorded rule. `honest` is what such a choice gains on items
    that it was not made on, with `tuned` and `folds` beside it; `naive` is the best gain of any tried policy on the very items
    that it was chosen and fitted on. `won` and `lost` count debates that only the tuned, or only the recorded decision has right.
    """

    objective: Objective
    trials: int
    distinct: int
    debates: int
    items: int
    clusters: int
    personas: tuple[str, ...]
    recorded: Decided
    tuned: Decided
    honest: ReselectedGain
    won: int
    lost: int
    naive: float
    naive_policy: Policy | None
    policy: Policy | None
    folds: tuple[FoldChoice, ...]
    recorded_curve: SelectiveCurve
    tuned_curve: SelectiveCurve
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """better, worse, or not distinguishable: the interval must leave out 0, and p be at most .05."""
        found = self.honest
        if found.p > LEVEL or not (found.low > 0 or found.high < 0):
            return "not distinguishable"
        return "better" if found.gain > 0 else "worse"


def tune(
    data: PolicyData,
    objective: Objective | None = None,
    trials: int = TRIALS,
    folds: int = FOLDS,
    seed: int = 0,
    step: Callable[[], None] = lambda: None,
) -> Tuning:
    """Tune a policy on recorded debates in nested cross-validation by cluster.

    Args:
        data: the debates.
        objective: accuracy if left out.
        trials: how many policies are tried.
        folds: outer folds, at most as many as half the clusters.
        seed: of folds, samplers, signs and bootstrap.
        step: called after each trial.

    Raises:
        UserError: fewer than four clusters, or one label only.
    """
    labels = len(set(data.labels.tolist()))
    if data.clusters < 4 or labels < 2:
        raise UserError(
            f"{data.items} items in {data.clusters} clusters with {labels} of the labels are too few to tune a policy honestly; "
            "it takes both labels and four clusters at the least, and thirty or more to say anything"
        )
    bench = Bench(data, draw_folds(data, min(folds, data.clusters // 2), seed), objective or Objective())
    chosen = search(bench, trials, seed, step)
    decided, support = _out_of_fold(bench, chosen)
    differences = bench.row_values(decided) - bench.row_values(data.recorded)
    return Tuning(
        objective=bench.objective,
        trials=trials,
        distinct=len(chosen.shared),
        debates=data.debates,
        items=data.items,
        clusters=data.clusters,
        personas=data.personas,
        recorded=_decided(bench, data.recorded),
        tuned=_decided(bench, decided),
        honest=_honest(bench, chosen, differences, seed),
        won=int(np.count_nonzero((decided == data.labels) & (data.recorded != data.labels))),
        lost=int(np.count_nonzero((decided != data.labels) & (data.recorded == data.labels))),
        naive=_naive(bench, chosen.in_sample),
        naive_policy=_finished(bench, chosen.in_sample),
        policy=_finished(bench, chosen.final),
        folds=_fold_choices(bench, chosen, differences),
        recorded_curve=_curve(bench, *bench.decide(None, bench.folds.final)),
        tuned_curve=_curve(bench, decided, support),
        warnings=_warnings(data),
    )


def _out_of_fold(bench: Bench, chosen: Chosen) -> tuple[Votes, Floats]:
    """Each fold's decisions by the draft that was chosen without it, and their support as a rank within the fold.

    Supports of different policies have different scales; ranks, from 0 to 1, can stand in one order.
    """
    decided = np.zeros(bench.data.debates, dtype=np.int8)
    support = np.zeros(bench.data.debates)
    for fold, draft in enumerate(chosen.of_fold):
        rows = bench.folds.of_row == fold
        of_all, supported = bench.decide(draft, fold)
        decided[rows] = of_all[rows]
        support[rows] = mid_ranks(supported[rows])
    return decided, support


def mid_ranks(values: Floats) -> Floats:
    """Ranks as shares from 0 to 1; equal values share the middle of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    ranks: Floats = middle[places] / max(1, len(values))
    return ranks


def _honest(bench: Bench, chosen: Chosen, differences: Floats, seed: int) -> ReselectedGain:
    data, final = bench.data, bench.folds.final
    sample = np.stack([bench.by_cluster(bench.differences(draft, final)) for draft in chosen.shared[:_SAMPLE]], axis=1)
    of_cluster = np.zeros(data.clusters, dtype=np.intp)
    of_cluster[data.cluster] = bench.folds.of_row
    gains = ClusterSums(bench.by_cluster(differences), bench.by_cluster(np.ones(data.debates)))
    return reselected_gain(gains, sample, of_cluster, seed=seed)


def _naive(bench: Bench, draft: Draft | None) -> float:
    context = bench.folds.in_sample
    return bench.training_value(draft, context) - bench.training_value(None, context)


def _finished(bench: Bench, draft: Draft | None, left_out: frozenset[int] = frozenset()) -> Policy | None:
    return None if draft is None else bench.fits.finished(draft, left_out)


def _fold_choices(bench: Bench, chosen: Chosen, differences: Floats) -> tuple[FoldChoice, ...]:
    data, found = bench.data, []
    for fold, draft in enumerate(chosen.of_fold):
        rows = bench.folds.of_row == fold
        weights = data.weights[rows]
        gain = float((differences[rows] * weights).sum() / weights.sum())
        policy = _finished(bench, draft, frozenset({fold}))
        found.append(FoldChoice(policy, gain, round(float(weights.sum()), 6), len(np.unique(data.cluster[rows]))))
    return tuple(found)


def _decided(bench: Bench, decided: Votes) -> Decided:
    data = bench.data
    counts = np.bincount(outcomes(data.labels, decided), weights=data.weights, minlength=OUTCOMES).astype(float)
    right, wrong, none = counts.reshape(2, 3).sum(axis=0) / counts.sum()
    return Decided(float(bench.objective.value(counts)), float(right), float(wrong), float(none))


def _curve(bench: Bench, decided: Votes, support: Floats) -> SelectiveCurve:
    """What decides nothing is covered last, and is not right."""
    return selective_curve(np.where(decided == 0, -np.inf, support), (decided == bench.data.labels).astype(float))


def _warnings(data: PolicyData) -> tuple[str, ...]:
    if data.clusters >= FEW_CLUSTERS:
        return ()
    return (f"only {data.clusters} clusters: intervals and p-values are rough under {FEW_CLUSTERS}",)

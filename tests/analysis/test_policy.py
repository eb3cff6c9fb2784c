"""Tuning on constructed debates with known answers: what there is to find is found, and nothing else is claimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from optimizer.analysis.policy.bench import Bench, draw_folds
from optimizer.analysis.policy.data import PolicyData, policy_data
from optimizer.analysis.policy.fits import Folds, fit_curve
from optimizer.analysis.policy.objective import OUTCOMES, Costs, Objective, outcomes
from optimizer.analysis.policy.space import Draft, Part, Space
from optimizer.analysis.policy.tuning import mid_ranks, tune
from optimizer.data.item import Item
from optimizer.debate.policy import Knots, Policy, Sigmoid, Veto
from optimizer.debate.records import Debate
from optimizer.errors import UsageError, UserError
from tests.analysis.records import PERSONAS, debate, item
from tests.benchmarks.policies import coin_flips, coverage, tuned_coin_flips

TRIALS = 150
EQUAL = Policy(PERSONAS, "weighted", weights=(1.0, 1.0, 1.0))
Vote = Callable[[str, np.random.Generator], str]


def at_random(truth: str, generator: np.random.Generator) -> str:
    return "yn"[generator.integers(2)]


def always_right(truth: str, generator: np.random.Generator) -> str:
    return truth


def always_wrong(truth: str, generator: np.random.Generator) -> str:
    return {"y": "n", "n": "y"}[truth]


def constructed(*voters: Vote, items: int = 80, seed: int = 0, first: tuple[Vote, ...] = ()) -> PolicyData:
    """Debates of Skeptic, Advocate and Expert, two items a cluster; another round before them if `first` is given."""
    generator = np.random.default_rng(seed)
    found: list[tuple[Debate, Item]] = []
    for number in range(items):
        truth = "yn"[generator.integers(2)]
        rounds = ["".join(vote(truth, generator) for vote in voting) for voting in ((first, voters) if first else (voters,))]
        found.append((debate(f"i{number}", "panel", *rounds), item(f"i{number}", truth, f"c{number // 2}")))
    return policy_data(found, PERSONAS)


def right(policy: Policy, data: PolicyData) -> float:
    decided = policy.decide(data.votes[policy.round], data.confidences[policy.round])
    return float((decided == data.labels).mean())


def test_a_persona_that_is_always_right_gets_the_weight() -> None:
    data = constructed(at_random, always_right, at_random)
    found = tune(data, trials=TRIALS)
    assert found.verdict == "better"
    assert found.tuned.right == 1
    assert found.honest.gain == pytest.approx(1 - found.recorded.right)
    assert found.policy is not None
    assert right(found.policy, data) == 1
    assert right(found.policy, constructed(at_random, always_right, at_random, seed=5)) == 1  # and on debates never seen


def test_a_persona_that_is_always_wrong_is_turned_round() -> None:
    data = constructed(at_random, at_random, always_wrong)
    found = tune(data, trials=TRIALS)
    assert found.verdict == "better"
    assert found.policy is not None
    assert right(found.policy, constructed(at_random, at_random, always_wrong, seed=5)) == 1


def test_round_1_decides_where_the_debate_loses_what_it_knew() -> None:
    data = constructed(at_random, at_random, at_random, first=(always_right, at_random, always_right))
    found = tune(data, trials=TRIALS)
    assert found.verdict == "better"
    assert found.policy is not None
    assert found.policy.round == "first"
    assert right(found.policy, data) == 1


def test_where_the_majority_is_always_right_nothing_is_better_and_the_rule_stays() -> None:
    found = tune(constructed(always_right, always_right, at_random), trials=TRIALS)
    assert (found.verdict, found.policy, found.naive) == ("not distinguishable", None, 0.0)
    assert (found.honest.gain, found.honest.low, found.honest.high, found.honest.p) == (0, 0, 0, 1)


def test_on_coin_flips_the_naive_gain_flatters_and_the_honest_one_claims_nothing() -> None:
    found = [tuned_coin_flips(seed, trials=40) for seed in range(12)]
    assert np.mean([each.naive for each in found]) > 0.05
    assert abs(np.mean([each.honest.gain for each in found])) < 0.05
    held, above, _ = coverage(found)
    assert held.happened >= 9  # fewer have a chance of 1 in 5,000 where 95 in 100 are held
    assert above.happened <= 3


def test_the_same_seed_gives_the_same_result() -> None:
    data = coin_flips(60, 2, 1)
    assert tune(data, trials=60, seed=3) == tune(data, trials=60, seed=3)


def test_under_thirty_clusters_there_is_a_warning_and_too_few_are_refused() -> None:
    assert "only 10 clusters" in tune(constructed(at_random, at_random, at_random, items=20), trials=30).warnings[0]
    with pytest.raises(UserError, match="6 items in 3 clusters"):
        tune(constructed(at_random, at_random, at_random, items=6), trials=30)


def test_costs_by_label_decide_on_which_side_to_err() -> None:
    """Votes know nothing and grounded claims are dear to miss: call everything grounded."""
    data = constructed(at_random, at_random, at_random, items=200)
    found = tune(data, Objective("cost", Costs(wrong_grounded=10)), trials=TRIALS)
    assert found.verdict == "better"
    assert found.recorded.value == pytest.approx(-cost_of(data, data.recorded, 10))
    dearer = tune(data, Objective("cost", Costs(abstained_grounded=0.01, abstained_not_grounded=0.01)), trials=TRIALS)
    assert dearer.tuned.abstained > 0.9


def cost_of(data: PolicyData, decided: np.ndarray, missed: float) -> float:
    wrong = decided != data.labels
    return float(np.where(wrong, np.where(data.labels > 0, missed, 1.0), 0.0).mean())


@pytest.mark.parametrize("name", ["accuracy", "balanced", "cost"])
def test_row_values_add_up_to_the_value_of_the_counts(name: str) -> None:
    generator = np.random.default_rng(0)
    labels = generator.choice(np.array([-1, 1], dtype=np.int8), 300, p=[0.8, 0.2])
    decided, weights = generator.integers(-1, 2, 300).astype(np.int8), generator.choice([0.5, 1.0], 300)
    objective = Objective(name, Costs(1, 2, 3, 4))  # type: ignore[arg-type]
    counts = np.bincount(outcomes(labels, decided), weights=weights, minlength=OUTCOMES)
    rows = objective.of_rows(labels, decided, weights)
    assert float(objective.value(counts)) == pytest.approx(float((rows * weights).sum() / weights.sum()))


def test_balanced_accuracy_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import balanced_accuracy_score

    generator = np.random.default_rng(1)
    labels, decided = (generator.choice(np.array([-1, 1], dtype=np.int8), 100, p=[0.7, 0.3]) for _ in range(2))
    counts = np.bincount(outcomes(labels, decided), minlength=OUTCOMES).astype(float)
    assert float(Objective("balanced").value(counts)) == pytest.approx(balanced_accuracy_score(labels, decided))


def test_costs_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="costs must be numbers from 0 on"):
        Costs(-1)


def test_no_cluster_is_in_two_folds_and_folds_are_of_one_size() -> None:
    data = constructed(at_random, at_random, at_random, items=90)
    folds = draw_folds(data, 5, seed=4)
    assert all(len(set(folds.of_row[data.cluster == cluster])) == 1 for cluster in range(data.clusters))
    assert np.bincount(folds.of_row).tolist() == [18] * 5
    flipped = replace(data, labels=-data.labels)
    assert (draw_folds(flipped, 5, seed=4).of_row == folds.of_row).all()


def test_a_fitted_part_never_meets_the_labels_of_the_rows_that_it_decides() -> None:
    """A fold whose labels are turned round is decided as before where it is tested, and in the choice among all."""
    data = coin_flips(120, 2, 0)
    folds = draw_folds(data, 4, 0)
    for kind in ("isotonic", "logistic", "stacker"):
        draft = Draft(EQUAL, Part(kind, "last", confidences=True))  # type: ignore[arg-type]
        plain = Bench(data, folds, Objective())
        for fold in range(4):
            rows = folds.of_row == fold
            turned = Bench(replace(data, labels=np.where(rows, -data.labels, data.labels)), folds, Objective())
            for context in (fold, folds.final):
                assert (plain.fits.chance(draft, context)[rows] == turned.fits.chance(draft, context)[rows]).all()
            # Nor do its labels enter what it is chosen by: neither fits nor counts.
            others = ~rows
            assert (plain.fits.chance(draft, fold)[others] == turned.fits.chance(draft, fold)[others]).all()
            assert plain.training_value(draft, fold) == turned.training_value(draft, fold)


def test_what_a_fold_is_decided_by_does_not_depend_on_its_labels() -> None:
    """The whole search, refinement included: a fold whose labels are turned round is decided as before, and loses what it won."""
    data = coin_flips(60, 2, 0)
    changed = 0
    for fold in (1, 4):
        rows = draw_folds(data, 5, 0).of_row == fold
        turned = replace(data, labels=np.where(rows, -data.labels, data.labels))
        plain, other = (tune(labelled, trials=60).folds for labelled in (data, turned))
        assert plain[fold].policy == other[fold].policy
        assert plain[fold].gain == -other[fold].gain
        changed += [each.policy for each in plain] != [each.policy for each in other]
    assert changed  # the others, which do see those labels


def test_the_contexts_leave_out_what_they_should() -> None:
    folds = Folds(np.arange(4), 4)
    assert folds.left_out(1, 1) == {1}
    assert folds.left_out(1, 3) == {1, 3}
    assert folds.left_out(folds.final, 3) == {3}
    assert folds.left_out(folds.in_sample, 3) == frozenset()


def test_a_finished_policy_decides_as_its_draft_did() -> None:
    data = coin_flips(100, 2, 3)
    bench = Bench(data, draw_folds(data, 5, 0), Objective())
    for kind in ("isotonic", "logistic", "stacker"):
        draft = Draft(replace(EQUAL, abstention=0.05, veto=Veto("expert", 0.9)), Part(kind, "last", confidences=True))  # type: ignore[arg-type]
        policy = bench.fits.finished(draft)
        decided = policy.decide(data.votes["last"], data.confidences["last"])
        assert (decided == bench.decide(draft, bench.folds.in_sample)[0]).all()


def test_calibration_follows_the_share_of_right_votes() -> None:
    sure = np.repeat([0.5, 0.7, 0.9], 40)
    hits = np.concatenate([np.arange(40) < 10, np.arange(40) < 20, np.arange(40) < 36])
    isotonic = fit_curve("isotonic", sure, hits, np.ones(120))
    assert isotonic == Knots((0.5, 0.7, 0.9), (0.25, 0.5, 0.9))
    logistic = fit_curve("logistic", sure, hits, np.ones(120))
    assert isinstance(logistic, Sigmoid)
    assert logistic.slope > 0
    assert fit_curve("isotonic", sure[:40], hits[:40], np.ones(40)) == Knots((0.5,), (round(11 / 42, 4),))


def test_repeats_of_an_item_count_as_one_item_and_other_rounds_are_kept_apart() -> None:
    first, second = item("a", "y", "c1"), item("b", "n", "c2")
    held = [(debate("a", "p", "yyn", "nny", sample=0), first), (debate("a", "p", "yyy", "yyy", sample=1), first)]
    data = policy_data([*held, (debate("b", "p", "y-n", confidence=85), second)], PERSONAS)
    assert data.weights.tolist() == [0.5, 0.5, 1.0]
    assert (data.items, data.clusters, data.debates) == (2, 2, 3)
    assert data.votes["first"].tolist() == [[1, 1, -1], [1, 1, 1], [1, 0, -1]]
    assert data.votes["last"].tolist() == [[-1, -1, 1], [1, 1, 1], [1, 0, -1]]
    assert data.confidences["last"][2].tolist()[::2] == [0.85, 0.85]
    assert data.recorded.tolist() == [-1, 1, 0]


def test_every_policy_that_everybody_would_try_is_among_the_first() -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = Space(PERSONAS, ("last", "first"), True)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for params in space.first():
        study.enqueue_trial(params)
    drafts = [space.suggest(study.ask()) for _ in space.first()]
    assert drafts[0].base == Policy(PERSONAS, threshold=0.5, veto=Veto("skeptic"))
    alone = [replace(EQUAL, weights=tuple(float(name == persona) for name in PERSONAS)) for persona in PERSONAS]
    wanted = [Policy(PERSONAS), EQUAL, replace(EQUAL, confidence="raw"), *alone]
    assert all(Draft(policy) in drafts and Draft(replace(policy, round="first")) in drafts for policy in wanted)


def test_ranks_share_the_middle_of_a_tie() -> None:
    assert mid_ranks(np.array([3.0, 1.0, 1.0, 2.0])).tolist() == [0.875, 0.25, 0.25, 0.625]

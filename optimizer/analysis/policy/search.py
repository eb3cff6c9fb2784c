"""The search itself: policies drawn by Optuna without a look at any label, then refined for every outer fold by the others.

Whoever proposes by what scored well on all items carries the outer folds' labels into the choice. So the drafts that all
folds share are drawn at random, which is cheap: one decision of all items scores a draft in every fold. What learns from
scores (TPE) runs once a fold, on the scores of the other folds alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optimizer.analysis.policy.bench import Bench
from optimizer.analysis.policy.space import Draft, Space

if TYPE_CHECKING:
    import optuna

    Tried = tuple[Draft, dict[str, Any], dict[str, optuna.distributions.BaseDistribution]]

REFINED = 0.2  # of the trials, over all folds and the final choice
_STARTS = 40  # of the shared drafts, the best ones, from which a refinement learns


@dataclass(frozen=True, slots=True)
class Chosen:
    """The best draft of each outer fold by the other folds, of all, and in-sample; None is the recorded rule.

    `shared` are the drafts drawn at random, in their order, each once.
    """

    of_fold: tuple[Draft | None, ...]
    final: Draft | None
    in_sample: Draft | None
    shared: tuple[Draft, ...]


def search(bench: Bench, trials: int, seed: int, step: Callable[[], None]) -> Chosen:
    """Try policies.

    Args:
        bench: scores them.
        trials: how many, over the shared draw and all refinements.
        seed: of the samplers.
        step: called after each.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space, contexts = Space.of(bench.data), bench.contexts
    refinements = int(trials * REFINED / len(contexts))
    tried = _draw(space, trials - refinements * len(contexts), seed, bench, step)
    shared = tuple(dict.fromkeys(draft for draft, _, _ in tried))
    refined = {context: _refine(space, tried, refinements, seed, bench, context, step) for context in contexts}
    best = {context: _best(bench, (*shared, *refined[context]), context) for context in contexts}
    final = bench.folds.final
    return Chosen(
        tuple(best[context] for context in contexts if context != final),
        best[final],
        _best(bench, (*shared, *refined[final]), bench.folds.in_sample),
        shared,
    )


def _draw(space: Space, trials: int, seed: int, bench: Bench, step: Callable[[], None]) -> list[Tried]:
    """Drafts that everybody would try, then random ones; each is scored in every context."""
    import optuna

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed), direction="maximize")
    for params in space.first()[:trials]:
        study.enqueue_trial(params)
    found: list[Tried] = []
    for _ in range(trials):
        trial = study.ask()
        draft = space.suggest(trial)
        for context in bench.contexts:
            bench.counts(draft, context)
        study.tell(trial, bench.training_value(draft, bench.folds.final))
        found.append((draft, trial.params, trial.distributions))
        step()
    return found


def _refine(
    space: Space, tried: list[Tried], trials: int, seed: int, bench: Bench, context: int, step: Callable[[], None]
) -> list[Draft]:
    """Drafts proposed by TPE from what scored well on the rows that the context chooses by."""
    import optuna

    if not trials:
        return []
    worth = [bench.training_value(draft, context) for draft, _, _ in tried]
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=1), direction="maximize")
    for index in sorted(range(len(tried)), key=lambda index: -worth[index])[:_STARTS]:
        _, params, distributions = tried[index]
        study.add_trial(optuna.trial.create_trial(params=params, distributions=distributions, value=worth[index]))
    found = []
    for _ in range(trials):
        trial = study.ask()
        draft = space.suggest(trial)
        study.tell(trial, bench.training_value(draft, context))
        found.append(draft)
        step()
    return found


def _best(bench: Bench, drafts: tuple[Draft, ...], context: int) -> Draft | None:
    """The draft that is worth most; the recorded rule where none is worth more, and the earliest of equals."""
    best, value = None, bench.training_value(None, context)
    for draft in drafts:
        worth = bench.training_value(draft, context)
        if worth > value + 1e-12:
            best, value = draft, worth
    return best

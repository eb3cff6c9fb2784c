"""Mirrors a search into an Optuna study: a trial a candidate, for optuna-dashboard, and for several workers on one study.

A dropped candidate's trial ends with the scores it had then; one that took the lead stays open to the end of the search.

Workers on one study do no work twice: a candidate that another worker tries or has tried is refused, and the leaders of the
others are proposed to each. What a worker does then depends on when the others do it, so such runs cannot be repeated exactly;
a lone one can.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from optimizer.data.item import Item
from optimizer.errors import UserError
from optimizer.runs.events import Journal
from optimizer.search.candidate import Candidate
from optimizer.search.duel import Scorer
from optimizer.search.proposers import Context, Proposed

_TEXT_LIMIT = 2_000  # relational storages keep an attribute in a column of about this size


class StudyMirror:
    """A journal that also writes to a study, and a proposer of what other workers found.

    Args:
        url: of the storage, as Optuna takes it: sqlite:///file, postgresql://...
        study: its name; made where missing.
        run: this run's name: its trials are found again on resume.
        journal: what everything is passed on to.
        scorer, dev: where scores by item come from.

    Raises:
        UserError: the storage cannot be used.
    """

    kind = "shared"

    def __init__(self, url: str, study: str, run: str, journal: Journal, scorer: Scorer, dev: Sequence[Item]) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            self._study = optuna.create_study(storage=url, study_name=study, direction="maximize", load_if_exists=True)
        except Exception as error:
            raise UserError(f"--optuna {url}: cannot be used ({' '.join(str(error).split())[:160]})") from error
        self._states = optuna.trial.TrialState
        self._run, self._journal, self._scorer, self._dev = run, journal, scorer, dev
        self._trials: dict[str, Any] = {}
        self._offered: set[str] = set()
        for trial in self._study.get_trials(deepcopy=False, states=(self._states.RUNNING,)):
            if trial.user_attrs.get("run") == run:
                self._trials[trial.user_attrs["candidate"]] = optuna.trial.Trial(self._study, trial._trial_id)

    def record(self, kind: str, identity: str, **fields: Any) -> bool:
        new = self._journal.record(kind, identity, **fields)
        if kind == "candidate" and identity not in self._trials and not self._own(identity):
            self._begin(identity, fields["component"], fields["origin"], fields["parent"], fields["texts"])
        if kind == "duel":
            duel = fields["duel"]
            if duel["accepted"] and duel["challenger"] in self._trials:
                self._trials[duel["challenger"]].set_user_attr("leads", True)
            else:
                self._end(duel["challenger"])
        return new

    def finish(self, candidates: Sequence[Candidate], winner: str) -> None:
        """The seed, and whatever has no trial yet; all are ended, and the winner is named."""
        for candidate in candidates:
            if candidate.id not in self._trials and not self._own(candidate.id):
                self._begin(candidate.id, candidate.component, candidate.origin, candidate.parent, candidate.texts)
            self._end(candidate.id)
        self._study.set_user_attr(f"winner of {self._run}", winner)

    def taken(self, candidate: Candidate) -> str:
        """Why a candidate is not to be tried here: another worker has it. Empty where nobody does."""
        for trial in self._study.get_trials(deepcopy=False):
            if trial.user_attrs.get("candidate") == candidate.id and trial.user_attrs.get("run") != self._run:
                return "" if candidate.origin.startswith(self.kind) else f"is tried by another worker, {trial.user_attrs['run']}"
        return ""

    def has_more(self, context: Context) -> bool:
        return self._next(context) is not None

    def price(self, contexts: Sequence[Context]) -> int:
        return 0

    async def propose(self, context: Context) -> Proposed:
        texts = self._next(context)
        origin = f"{self.kind}:{context.sample + 1}"
        if texts is None:
            return Proposed(origin=origin, problem="no other worker has anything new")
        child = context.parent.with_text(context.component, texts[context.component], origin)
        self._offered.add(child.id)
        return Proposed(child, origin)

    def _next(self, context: Context) -> Mapping[str, str] | None:
        """Texts of another worker's leader whose text of this component makes a new candidate."""
        known = {context.parent.id, *self._offered, *(candidate.id for candidate in context.pool)}
        for trial in reversed(self._study.get_trials(deepcopy=False)):
            attributes = trial.user_attrs
            if attributes.get("run") == self._run or not attributes.get("leads"):
                continue
            texts = json.loads("".join(attributes[name] for name in sorted(attributes) if name.startswith("texts ")))
            text = texts.get(context.component, "")
            if text and context.parent.with_text(context.component, text, "").id not in known:
                return dict(texts)
        return None

    def _own(self, candidate: str) -> bool:
        """Whether an earlier start of this run has a trial for it."""
        trials = self._study.get_trials(deepcopy=False)
        return any(t.user_attrs.get("candidate") == candidate and t.user_attrs.get("run") == self._run for t in trials)

    def _begin(self, candidate: str, component: str, origin: str, parent: str, texts: Mapping[str, str]) -> None:
        trial = self._study.ask()
        whole = json.dumps(dict(texts))
        parts = [whole[at : at + _TEXT_LIMIT] for at in range(0, len(whole), _TEXT_LIMIT)]
        fields = {"run": self._run, "candidate": candidate, "component": component, "origin": origin, "parent": parent}
        for name, value in (fields | {f"texts {number:03}": part for number, part in enumerate(parts)}).items():
            trial.set_user_attr(name, value)
        self._trials[candidate] = trial

    def _end(self, candidate: str) -> None:
        """Complete where all of dev was asked, pruned where it was stopped before; scores by item beside it."""
        trial = self._trials.pop(candidate, None)
        if trial is None:
            return
        held = Candidate(json.loads("".join(v for k, v in sorted(trial.user_attrs.items()) if k.startswith("texts "))))
        scores = self._scorer.scores(held, self._dev)
        for start in range(0, len(scores), 40):
            some = dict(list(scores.items())[start : start + 40])
            trial.set_user_attr(f"scores {start // 40:03}", some)
        if not scores:
            self._study.tell(trial, state=self._states.FAIL)
            return
        mean = sum(scores.values()) / len(scores)
        if len(scores) == len(self._dev):
            self._study.tell(trial, mean)
        else:
            trial.report(mean, len(scores))
            self._study.tell(trial, state=self._states.PRUNED)

"""Where new texts come from. Each proposer is a small strategy; which one is asked next follows from what its texts have won."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from optimizer.debate.voices import REFLECTION
from optimizer.models.chat import CallTag
from optimizer.models.client import ChatClient
from optimizer.models.transport import CallFailed
from optimizer.prompts.library import Alternative
from optimizer.search.budget import Budget, BudgetSpent
from optimizer.search.candidate import Candidate, Rejection, rough_tokens
from optimizer.search.evaluate import Evaluator
from optimizer.search.reflection import Reading, Reflected, mistakes_read, reading_for
from optimizer.search.train_reading import TrainReading
from optimizer.sections import SearchSettings

_SHORTEST = 8  # words; shorter texts are left as they are


@dataclass(frozen=True, slots=True)
class Context:
    """What a proposer may know.

    Attributes:
        parent: whom to improve.
        component: which of its texts.
        number: how many proposals of this kind the component had in this sweep.
        sample: how many of this kind there were in the whole run.
        turn: how many of them were for this component.
        pool: who else has been tried.
        rejected: what did not help, or was not worth trying.
    """

    parent: Candidate
    component: str
    number: int
    sample: int
    turn: int = 0
    pool: Sequence[Candidate] = ()
    rejected: Sequence[Rejection] = ()


@dataclass(frozen=True, slots=True)
class Proposed:
    """A child of the parent, or the reason why there is none."""

    candidate: Candidate | None = None
    origin: str = ""
    problem: str = ""


class Proposer(Protocol):
    """Makes proposals for one component at a time."""

    @property
    def kind(self) -> str:
        """The first part of its candidates' origin; what is learned of its edits is kept under it."""

    def has_more(self, context: Context) -> bool:
        """Whether there is anything left to propose."""

    def price(self, contexts: Sequence[Context]) -> int:
        """The most calls that the next proposals begin with: one a component, all of one parent.

        What reading takes beyond is paid piece by piece, and ends with the budget.
        """

    async def propose(self, context: Context) -> Proposed:
        """The next proposal.

        Raises:
            BudgetSpent: it cannot be paid.
            UserError: the endpoint is gone.
        """


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The texts that the library has, in their order."""

    texts: Mapping[str, Sequence[Alternative]]
    kind: str = "alternative"

    def has_more(self, context: Context) -> bool:
        return context.number < len(self.texts.get(context.component, ()))

    def price(self, contexts: Sequence[Context]) -> int:
        return 0

    async def propose(self, context: Context) -> Proposed:
        alternative = self.texts[context.component][context.number]
        origin = f"{self.kind}:{alternative.name}"
        return Proposed(context.parent.with_text(context.component, alternative.text, origin, alternative.idea), origin)


@dataclass(frozen=True, slots=True)
class Reflection:
    """A model reads train debates that went wrong, and rewrites the text.

    Args:
        reading: holds the parent's debates on train.
        budget: what reading and reflecting is paid from.
        settings: how many proposals for each component and sweep, how long, how many at once, and how dspy asks.
        seed: each proposal is a sample of its own, apart from those of other seeds.

    Each further reflection on the same parent has as many mistakes more to choose from, as long as there are likely ones.

    With `settings.ahead` above 1 so many are asked at once about the same debates, and the later ones are written while the
    first is being tried. They are spent when they are asked, so that no timing changes the run; when the parent changes,
    those not used yet are dropped.
    """

    reading: TrainReading
    budget: Budget
    settings: SearchSettings
    seed: int
    kind: str = "reflection"
    _ahead: dict[tuple[str, str, int], asyncio.Task[Reflected]] = field(default_factory=dict)
    _asked_about: Counter[str] = field(default_factory=Counter)  # parent -> reflections on it

    def has_more(self, context: Context) -> bool:
        most = self.settings.reflections
        return (most < 0 or context.number < most) and not self.reading.faultless(context.parent)

    def price(self, contexts: Sequence[Context]) -> int:
        asked = [context for context in contexts if self._key(context) not in self._ahead]
        if not asked:
            return 0
        parent, pool = asked[0].parent, asked[0].pool
        return self.reading.price(parent, pool, self._wanted(parent)) + len(asked) * self._at_once

    async def propose(self, context: Context) -> Proposed:
        parent, origin = context.parent, f"{self.kind}:{context.sample + 1}"
        waiting = self._ahead.pop(self._key(context), None)
        if waiting is not None:
            return await self._result(waiting, context, origin)
        await self.settle()
        if not self.budget.affords(self._at_once):
            raise BudgetSpent
        lessons = await self.reading.lessons(parent, context.pool, self._wanted(parent), self.budget, self._at_once)
        if not lessons:
            return Proposed(origin=origin, problem="no debate on train could be held")
        if all(lesson.right for lesson in lessons):
            return Proposed(origin=origin, problem="the incumbent makes no mistake on train, so there is nothing to reflect on")
        self._asked_about[parent.id] += 1
        executor, component = self.reading.evaluator.executor, context.component
        rejected = [each for each in context.rejected if each.component == component and each.text]
        client, unread = executor.voice(REFLECTION).client, len(self.reading.train) - len(lessons)

        def ask(further: int) -> asyncio.Task[Reflected]:
            cap, turn = self.settings.token_cap, context.turn + further
            reading = reading_for(client, executor.protocol, parent, component, lessons, rejected, cap, turn, unread)
            return self._ask(client, reading, context, context.sample + further)

        first = ask(0)
        for further in range(1, self._at_once):
            self._ahead[parent.id, component, context.sample + further] = ask(further)
        self.budget.charge(self._at_once)
        return await self._result(first, context, origin)

    @property
    def _at_once(self) -> int:
        """Other schedules take turns between components, and limits in tokens or dollars cannot wait for what is under way."""
        limited = self.settings.budget_tokens or self.settings.budget_usd
        return self.settings.ahead if self.settings.schedule == "sequential" and not limited else 1

    async def settle(self) -> None:
        """Wait for what was asked and is not used any more: whether it is counted must not depend on when it ends."""
        await asyncio.gather(*self._ahead.values(), return_exceptions=True)
        self._ahead.clear()

    def drop(self) -> None:
        """Give up what is under way; for a search that is broken off."""
        for task in self._ahead.values():
            task.cancel()
        self._ahead.clear()

    def _key(self, context: Context) -> tuple[str, str, int]:
        return context.parent.id, context.component, context.sample

    def _ask(self, client: ChatClient, reading: Reading, context: Context, sample: int) -> asyncio.Task[Reflected]:
        from optimizer.search.program import reflect  # dspy takes half a second to load

        tag = CallTag(REFLECTION, context.parent.id, persona=context.component)
        return asyncio.create_task(reflect(client, reading, tag, self.settings, self.seed * 1000 + sample))

    async def _result(self, task: asyncio.Task[Reflected], context: Context, origin: str) -> Proposed:
        try:
            reflected = await task
        except CallFailed as failure:
            return Proposed(origin=origin, problem=f"the call failed: {failure}")
        if reflected.problem:
            return Proposed(origin=origin, problem=reflected.problem)
        return Proposed(context.parent.with_text(context.component, reflected.text, origin), origin)

    def _wanted(self, parent: Candidate) -> int:
        """How many mistakes the next reflection on it chooses from."""
        client = self.reading.evaluator.executor.voice(REFLECTION).client
        return mistakes_read(client) * (self._asked_about[parent.id] + 1)


@dataclass(slots=True)
class Crossover:
    """Joins the parent with a candidate that is better at another component: its text of that component replaces the parent's.

    A mate is a tried candidate whose text of this component differs from the parent's, the latest first. Texts of this component
    that were made for another panel get a second hearing in the present one that way.
    """

    kind: str = "crossover"
    _used: set[tuple[str, str]] = field(default_factory=set)

    def has_more(self, context: Context) -> bool:
        return self._mate(context) is not None

    def price(self, contexts: Sequence[Context]) -> int:
        return 0

    async def propose(self, context: Context) -> Proposed:
        mate = self._mate(context)
        if mate is None:
            return Proposed(origin=self.kind, problem="there is no other candidate to cross with")
        self._used.add((context.parent.id, mate.texts[context.component]))
        origin = f"{self.kind}:{mate.origin}"
        return Proposed(context.parent.with_text(context.component, mate.texts[context.component], origin), origin)

    def _mate(self, context: Context) -> Candidate | None:
        """Only candidates whose other components differ, too: otherwise the child was tried already."""
        parent, component = context.parent, context.component
        known = {candidate.id for candidate in context.pool}
        for mate in reversed(context.pool):
            text = mate.texts[component]
            if (
                mate.component == component
                and text != parent.texts[component]
                and (parent.id, text) not in self._used
                and parent.with_text(component, text, "").id not in known
            ):
                return mate
        return None


@dataclass(frozen=True, slots=True)
class Compression:
    """A model says the same in fewer words. Made for searches in which tokens have a price.

    Args:
        evaluator: whose reflection model writes.
        budget: what it is paid from.
        seed: each proposal is a sample of its own.
        most: tries for one text; each asks for another sample.
    """

    evaluator: Evaluator
    budget: Budget
    seed: int
    most: int = 3
    kind: str = "compression"

    def has_more(self, context: Context) -> bool:
        text = context.parent.texts[context.component]
        done = [each for each in context.rejected if each.origin.startswith(f"{self.kind}:{_mark(text)}")]
        return len(done) < self.most and len(text.split()) >= _SHORTEST

    def price(self, contexts: Sequence[Context]) -> int:
        return len(contexts)

    async def propose(self, context: Context) -> Proposed:
        text = context.parent.texts[context.component]
        origin = f"{self.kind}:{_mark(text)}:{context.sample + 1}"
        if not self.budget.affords(self.price([context])):
            raise BudgetSpent
        from optimizer.search.program import shorten

        client = self.evaluator.executor.voice(REFLECTION).client
        tag = CallTag(REFLECTION, context.parent.id, persona=context.component)
        self.budget.charge(1)
        try:
            shorter = await shorten(client, text, tag, sample=self.seed * 1000 + context.sample)
        except CallFailed as failure:
            return Proposed(origin=origin, problem=f"the call failed: {failure}")
        if shorter.problem:
            return Proposed(origin=origin, problem=shorter.problem)
        if rough_tokens(shorter.text) >= rough_tokens(text):
            return Proposed(origin=origin, problem="is no shorter than the current text")
        return Proposed(context.parent.with_text(context.component, shorter.text, origin), origin)


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]

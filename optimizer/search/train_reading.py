"""Which train debates of a candidate are held so that it can be reflected on: enough mistakes for one reading, and few others.

A candidate's mistakes are mostly those of the one it descends from. So items that its nearest ancestor got wrong come first, then
those that no ancestor was asked, and those an ancestor got right only where hardly a mistake is known otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from optimizer.data.item import Item
from optimizer.search.budget import Budget, BudgetSpent
from optimizer.search.candidate import Candidate
from optimizer.search.evaluate import Evaluator
from optimizer.search.lessons import Lesson

_ITEMS_A_MISTAKE = 2  # held at once for each mistake that is wanted: few calls more than needed, and few waits
_FEWEST = 2  # mistakes; with fewer, items that an ancestor got right are asked too


class TrainReading:
    """Holds train debates in pieces.

    Args:
        evaluator: holds and remembers them.
        train: items that may be read. Variants of an item are held together and count as one mistake.
    """

    def __init__(self, evaluator: Evaluator, train: Sequence[Item]) -> None:
        self.evaluator, self.train = evaluator, train
        by_base: dict[str, list[Item]] = {}
        for item in train:
            by_base.setdefault(item.base, []).append(item)
        self._variants = list(by_base.values())

    def price(self, parent: Candidate, pool: Sequence[Candidate], wanted: int) -> int:
        """The most calls that the next piece takes; 0 where nothing more would be held."""
        piece = next(self._pieces(parent, pool, wanted), [])
        return self.evaluator.cost_bound(parent, parent, piece)

    async def lessons(
        self, parent: Candidate, pool: Sequence[Candidate], wanted: int, budget: Budget, reserve: int
    ) -> list[Lesson]:
        """All that was held of the parent, after holding more until `wanted` mistakes are known.

        Args:
            pool: where its ancestors are looked up.
            reserve: calls that are left to be paid.

        Raises:
            BudgetSpent: nothing of it went wrong so far, and the next piece cannot be paid.
            UserError: the endpoint is gone.
        """
        for piece in self._pieces(parent, pool, wanted):
            if not budget.affords(self.evaluator.cost_bound(parent, parent, piece) + reserve):
                if not self._mistakes(parent):
                    raise BudgetSpent
                break
            await self.evaluator.evaluate(parent, piece)
        known = self.evaluator.known(parent)
        return [Lesson(item, known[item.id]) for item in self.train if item.id in known and not known[item.id].failed]

    def faultless(self, parent: Candidate) -> bool:
        """Whether all of train was held, and nothing of it wrongly."""
        scores = self.evaluator.scores(parent, self.train)
        return self.evaluator.tried(parent, self.train) == len(self.train) and all(score == 1.0 for score in scores.values())

    def _pieces(self, parent: Candidate, pool: Sequence[Candidate], wanted: int) -> Iterator[list[Item]]:
        """What to hold next, as long as that is worth it. Each piece is to be held before the next one is asked for."""
        for mistakes, group in zip((wanted, wanted, min(wanted, _FEWEST)), self._waiting(parent, pool), strict=True):
            while group and (missing := mistakes - self._mistakes(parent)) > 0:
                piece, group = group[: missing * _ITEMS_A_MISTAKE], group[missing * _ITEMS_A_MISTAKE :]
                yield [item for variants in piece for item in variants]

    def _waiting(self, parent: Candidate, pool: Sequence[Candidate]) -> tuple[list[list[Item]], ...]:
        """What was not held of the parent: an ancestor was wrong on it, none was asked, or right; each in an order of its own."""
        own = self.evaluator.scores(parent, self.train)
        inherited: dict[str, float] = {}
        for ancestor in reversed(_ancestors(parent, pool)):  # the nearest has the last word
            inherited |= self.evaluator.scores(ancestor, self.train)
        waiting: tuple[list[list[Item]], ...] = ([], [], [])
        for variants in random.Random(f"train:{parent.id}").sample(self._variants, len(self._variants)):
            if all(item.id in own for item in variants):
                continue
            known = [inherited[item.id] for item in variants if item.id in inherited]
            waiting[1 if not known else 2 if min(known) == 1.0 else 0].append(variants)
        return waiting

    def _mistakes(self, parent: Candidate) -> int:
        scores = self.evaluator.scores(parent, self.train)
        return sum(any(scores.get(item.id, 1.0) < 1.0 for item in variants) for variants in self._variants)


def _ancestors(candidate: Candidate, pool: Sequence[Candidate]) -> list[Candidate]:
    """Whom it descends from, the nearest first."""
    by_id = {each.id: each for each in pool}
    found: list[Candidate] = []
    while candidate.parent in by_id:
        candidate = by_id[candidate.parent]
        found.append(candidate)
    return found

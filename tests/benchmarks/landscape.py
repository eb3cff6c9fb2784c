"""A simulated prompt landscape: what a prompt is worth is known to the landscape and hidden from the search.

An item is right under a prompt when its difficulty, plus noise fixed by (prompt, item), is below the prompt's quality for the
item's category. One cluster in ten is wrong under every prompt. Two items share a cluster, and most of their difficulty. The
same prompt and item always give the same outcome, as at temperature 0. Items are in three parts: for the search, for a sealed
test, and for the truth, which nothing but the report reads.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optimizer.data.item import Item, Label
from optimizer.search.candidate import Candidate
from optimizer.search.proposers import Context, Proposed

CATEGORIES = 3
SEARCH, TEST, TRUTH = 150, 1000, 5000
START = 0.40


@dataclass(frozen=True, slots=True)
class Law:
    """How an edit changes quality: steps of all categories with their chances, or of one up and then another down.

    Attributes:
        steps: (chance, change of every category).
        swap: (chance, change of one category at random, change of another).
    """

    steps: tuple[tuple[float, float], ...] = ()
    swap: tuple[float, float, float] = (0.0, 0.0, 0.0)


LAWS = {
    "null": Law(),
    "coarse": Law(((0.30, 0.05), (0.30, -0.05))),
    "fine": Law(((0.15, 0.02), (0.45, -0.02))),
    "mixture": Law(((0.3, -0.03),), (0.4, 0.12, -0.06)),
    # Of the same family, to check on; "lopsided" was looked at when the search's shrinkage was set.
    "steep": Law(((0.10, 0.10), (0.60, -0.05))),
    "gentle": Law(((0.40, 0.01), (0.20, -0.03))),
    "mostly harm": Law(((0.05, 0.04), (0.80, -0.04))),
    "lopsided": Law(((0.2, 0.02),), (0.3, 0.20, -0.15)),
}


@dataclass(slots=True)
class Landscape:
    """One world: the table of qualities, the bill, and the truth. `price` of a proposal is in rollouts."""

    law: str
    seed: int
    price: float = 5.0
    rollouts: int = 0
    proposals: int = 0
    _quality: dict[str, tuple[float, ...]] = field(default_factory=dict)
    _right: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    _random: random.Random = field(init=False)
    _difficulty: NDArray[np.float64] = field(init=False)
    _always_wrong: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(f"{self.law}-{self.seed}")
        draw = np.random.default_rng([self.seed, 1])
        cluster = np.arange(SEARCH + TEST + TRUTH) // 2
        self._difficulty = 0.7 * draw.random(cluster.max() + 1)[cluster] + 0.3 * draw.random(len(cluster))
        self._always_wrong = (draw.random(cluster.max() + 1) < 0.1)[cluster]

    @property
    def spent(self) -> float:
        return self.rollouts + self.price * self.proposals

    def start(self) -> str:
        return self._new((START,) * CATEGORIES)

    def propose(self, prompt: str) -> str:
        """A mutation of a prompt, charged."""
        self.proposals += 1
        law, quality, draw = LAWS[self.law], list(self._quality[prompt]), self._random.random()
        swap, up, down = law.swap
        if draw < swap:
            better, worse = self._random.sample(range(CATEGORIES), 2)
            quality[better] += up
            quality[worse] += down
            return self._new(tuple(quality))
        edge = swap
        for chance, step in law.steps:
            edge += chance
            if draw < edge:
                return self._new(tuple(each + step for each in quality))
        return self._new(tuple(quality))

    def rollout(self, prompt: str, item: int) -> int:
        """One debate, charged: 1 right, 0 wrong."""
        self.rollouts += 1
        return int(self._outcomes(prompt)[item])

    def test(self, prompt: str, items: int) -> NDArray[np.bool_]:
        """The first so many sealed items, charged."""
        self.rollouts += items
        return self._outcomes(prompt)[SEARCH : SEARCH + items]

    def truth(self, prompt: str) -> float:
        return float(self._outcomes(prompt)[SEARCH + TEST :].mean())

    def _new(self, quality: tuple[float, ...]) -> str:
        prompt = f"Judge whether the claim is supported. [{self._random.getrandbits(64):016x}]"
        self._quality[prompt] = tuple(min(max(each, 0.02), 0.98) for each in quality)
        return prompt

    def _outcomes(self, prompt: str) -> NDArray[np.bool_]:
        if prompt not in self._right:
            draw = np.random.default_rng([self.seed, int(prompt[-17:-1], 16)])
            category = (np.arange(len(self._difficulty)) // 2) % CATEGORIES
            hurdle = self._difficulty + 0.3 * (draw.random(len(self._difficulty)) - 0.5)
            self._right[prompt] = (hurdle < np.array(self._quality[prompt])[category]) & ~self._always_wrong
        return self._right[prompt]


ITEMS = [
    Item(str(number), f"claim {number}", ("evidence",), Label.GROUNDED, cluster=str(number // 2)) for number in range(SEARCH)
]


@dataclass(slots=True)
class Rollouts:
    """The landscape as the search sees it: debates that cost a call each, and a ledger of what is spent."""

    landscape: Landscape
    batch: int = 4
    _known: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def distinct(self) -> int:
        return round(self.landscape.spent)

    async def evaluate(self, candidate: Candidate, items: Sequence[Item]) -> None:
        known = self._known.setdefault(candidate.id, {})
        for item in items:
            if item.id not in known:
                known[item.id] = float(self.landscape.rollout(candidate.texts["prompt"], int(item.id)))

    def scores(self, candidate: Candidate, items: Sequence[Item]) -> dict[str, float]:
        known = self._known.get(candidate.id, {})
        return {item.id: known[item.id] for item in items if item.id in known}

    def tried(self, candidate: Candidate, items: Sequence[Item]) -> int:
        return len(self.scores(candidate, items))

    def cost_bound(self, candidate: Candidate, parent: Candidate, items: Sequence[Item]) -> int:
        return len(items) - self.tried(candidate, items)


@dataclass(frozen=True, slots=True)
class Mutations:
    """Proposals of the landscape."""

    landscape: Landscape
    budget: int
    kind: str = "mutation"

    def has_more(self, context: Context) -> bool:
        return self.landscape.spent + self.landscape.price + 1 <= self.budget

    def price(self, contexts: Sequence[Context]) -> int:
        return round(self.landscape.price)

    async def propose(self, context: Context) -> Proposed:
        text = self.landscape.propose(context.parent.texts["prompt"])
        origin = f"{self.kind}:{self.landscape.proposals}"
        return Proposed(context.parent.with_text(context.component, text, origin), origin)


class NoJournal:
    """Takes nothing down."""

    def record(self, kind: str, identity: str, **fields: object) -> bool:
        return True

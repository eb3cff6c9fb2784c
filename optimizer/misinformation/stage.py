"""The stage of a run: items, passages, agents, and which arm is held on which item. Everything is checked, nothing is asked."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optimizer.config import Settings
from optimizer.data.datafile import chosen_data
from optimizer.data.exposure import PassageBank, exposed_slots
from optimizer.data.item import Item
from optimizer.data.passages import Passage, PassageKind, beside, load_filler, load_passages
from optimizer.data.shipped import data_path
from optimizer.data.splits import spread
from optimizer.debate.conditions import passages_path
from optimizer.debate.render import display_name
from optimizer.errors import UsageError, UserError
from optimizer.misinformation.answers import intended, names_answer, support_is_enough
from optimizer.misinformation.arms import Arm, Condition, Design, Mitigation, System
from optimizer.misinformation.prompts import Agent
from optimizer.misinformation.records import Exposure
from optimizer.prompts.library import chosen_library
from optimizer.sections import MisinformationSettings


@dataclass(frozen=True, slots=True)
class Stage:
    """What a run is made on. `passages` are those of each item and condition that has one; 0 needs none."""

    settings: Settings
    design: Design
    items: tuple[Item, ...]
    agents: tuple[Agent, ...]
    passages: dict[tuple[str, Condition], Passage]

    @property
    def rules(self) -> MisinformationSettings:
        return self.settings.misinformation

    def arms(self, item: Item) -> list[Arm]:
        """The arms that can be held on an item: those whose passage there is."""
        arms = self.design.arms(len(self.agents))
        return [arm for arm in arms if not arm.condition.exposed or self._passage(item, arm.condition) is not None]

    def left_out(self) -> dict[str, int]:
        """How many items have no passage, by kind and style; only where there are such items."""
        found = {}
        for condition in self.design.conditions():
            missing = sum(self._passage(item, condition) is None for item in self.items) if condition.exposed else 0
            if missing:
                found[f"{condition.kind} {condition.style}"] = missing
        return found

    def exposure(self, item: Item, arm: Arm) -> tuple[str, Exposure | None]:
        """The passage of an arm on an item, and who is shown it; nothing without exposure."""
        passage = self._passage(item, arm.condition) if arm.condition.exposed else None
        if passage is None:
            return "", None
        rules = self.rules
        slots: Sequence[int] = range(15)
        if arm.system is not System.SC15:
            slots = exposed_slots(item.id, rules.agents, arm.condition.exposed, rules.exposure_seed, rules.exposed_may_be_last)
        return passage.text, Exposure(
            slots=tuple(slots),
            kind=passage.kind.value,
            style=passage.style,
            provenance=passage.provenance,
            intended=intended(passage, item),
            words=len(passage.text.split()),
            names_answer=names_answer(passage, item),
            verified=passage.verified(support_is_enough(item, rules.support_alone)),
        )

    def calls(self) -> int:
        """How many calls all of it takes at the most; second questions, which are rare, not counted."""
        return self.design.seeds * sum(self._calls(arm) for item in self.items for arm in self.arms(item))

    def passages_hash(self) -> str:
        """A hash of all passages and who gets them."""
        shown = sorted((item, condition.name, passage.text) for (item, condition), passage in self.passages.items())
        return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]

    def record(self) -> dict[str, Any]:
        """The design, for the run's record."""
        return {
            "exposed": list(self.design.exposed),
            "kinds": [kind.value for kind in self.design.kinds],
            "styles": list(self.design.styles),
            "seeds": self.design.seeds,
            "baselines": [system.value for system in self.design.baselines],
            "skepticism": self.design.skepticism,
            "verifiers": [each.value for each in self.design.verifiers],
        }

    def _passage(self, item: Item, condition: Condition) -> Passage | None:
        return self.passages.get((item.id, Condition(1, condition.kind, condition.style)))

    def _calls(self, arm: Arm) -> int:
        rules, n = self.rules, len(self.agents)
        if arm.system is not System.DEBATE:
            return {System.MSC: n, System.SC15: 15}.get(arm.system, 1)
        ballots = rules.turns - rules.vote_from + 1 if "voting" in rules.decisions else 0
        verifier = 0
        if arm.mitigation is Mitigation.VERIFIER:
            verifier = ballots
        elif arm.mitigation is Mitigation.SPEAKING_VERIFIER:
            verifier = rules.turns
        return rules.turns * n + 2 * n * ballots + verifier


def set_stage(settings: Settings, design: Design, limit: int = 0) -> Stage:
    """Read items, passages and prompts, and check that they fit the design.

    Args:
        settings: data, prompts, protocol and the rules of the debate.
        design: what is compared.
        limit: at most so many items, over as many clusters as possible; 0 takes all.

    Raises:
        UserError: a file is missing or bad, or there is no passage of a kind and style.
        UsageError: more are to be exposed than there are agents, or a setting does not go with debates of this kind.
    """
    rules = settings.misinformation
    if max(design.exposed, default=0) > rules.agents or min(design.exposed, default=0) < 0:
        raise UsageError(f"exposed agents must be 0 to {rules.agents}, the number of agents, but are {design.exposed}")
    if settings.protocol.long_evidence == "chunk":
        raise UsageError("a debate about answers is not held piece by piece; use protocol.long_evidence=select, or error")
    for style in design.styles:
        if re.search(r"[\s/:]", style):
            raise UsageError(
                f"style {style!r} has a space, a slash or a colon; name styles by one word, here and in the passages"
            )
    everything = chosen_data(settings).items
    source, filler = passages_path(settings), load_filler(beside(data_path(settings.data)))
    bank = PassageBank(everything, load_passages(source), filler, rules.exposure_seed)
    items = spread(everything, settings.seed, limit) if limit else everything
    passages: dict[tuple[str, Condition], Passage] = {}
    for condition in {Condition(1, each.kind, each.style) for each in design.conditions() if each.exposed}:
        kind = PassageKind(condition.kind)
        found = {item.id: bank.passage(item.id, kind, condition.style) for item in items}
        passages |= {(item, condition): passage for item, passage in found.items() if passage is not None}
        if not any(found.values()):
            styles = ", ".join(bank.styles(kind)) or "none at all"
            raise UserError(f"{source}: has no {kind} passage in style {condition.style!r} for these items; styles are {styles}")
    return Stage(settings, design, tuple(items), _agents(settings), passages)


def _agents(settings: Settings) -> tuple[Agent, ...]:
    rules = settings.misinformation
    if rules.personas == "plain":
        names = [f"agent_{number}" for number in range(1, rules.agents + 1)]
        return tuple(Agent(name, f"You are {display_name(name)}.") for name in names)
    library = chosen_library(settings)
    if len(library.personas) < rules.agents:
        raise UsageError(
            f"misinformation.agents is {rules.agents}, but the panel has {len(library.personas)} personas: "
            f"{', '.join(library.personas)}; add one to the prompts, or use plain agents"
        )
    return tuple(
        Agent(name, f"You are the {display_name(name)}. {library.seeds[name]}") for name in library.personas[: rules.agents]
    )

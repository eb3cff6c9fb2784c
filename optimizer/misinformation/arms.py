"""The arms of a comparison: a system under a condition, with or without a mitigation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from optimizer.data.passages import PassageKind

SC15_SAMPLES = 15


class System(StrEnum):
    """DEBATE is read by voting and by consensus. MSC are as many independent samples, exposed as the debate's agents are.

    SINGLE is the model alone, SINGLE_DEBATE the same under the debate's prompt, SC15 fifteen samples that are all exposed.
    """

    DEBATE = "debate"
    MSC = "msc"
    SINGLE = "single"
    SINGLE_DEBATE = "single-debate"
    SC15 = "sc15"


BASELINES = (System.SINGLE, System.SINGLE_DEBATE, System.MSC, System.SC15)


class Mitigation(StrEnum):
    """SKEPTICISM puts a sentence about sources into every prompt.

    A verifier says which statements nothing supports: VERIFIER before answers are given, SPEAKING_VERIFIER as one who takes part
    in the discussion, at the end of each turn.
    """

    NONE = "none"
    SKEPTICISM = "skepticism"
    VERIFIER = "verifier"
    SPEAKING_VERIFIER = "speaking verifier"


VERIFIERS = {
    "vote": (Mitigation.VERIFIER,),
    "speaks": (Mitigation.SPEAKING_VERIFIER,),
    "both": (Mitigation.VERIFIER, Mitigation.SPEAKING_VERIFIER),
}


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """What is shown to how many. With `exposed` 0 there is neither kind nor style."""

    exposed: int = 0
    kind: str = ""
    style: str = ""

    @property
    def name(self) -> str:
        """`0`, or kind, style and number: `false plain 3`."""
        return f"{self.kind} {self.style} {self.exposed}" if self.exposed else "0"


@dataclass(frozen=True, slots=True)
class Arm:
    """A system under a condition. The id names all of it."""

    system: System
    condition: Condition = Condition()
    mitigation: Mitigation = Mitigation.NONE

    @property
    def id(self) -> str:
        return f"{self.system}/{self.condition.name}/{self.mitigation}"


def arm_of(identity: str) -> Arm:
    """The arm with an id. Raises ValueError where it is none."""
    system, condition, mitigation = identity.split("/")
    *kind_style, exposed = condition.split(" ")
    kind, style = kind_style if kind_style else ("", "")
    return Arm(System(system), Condition(int(exposed), kind, style), Mitigation(mitigation))


@dataclass(frozen=True, slots=True)
class Design:
    """What is compared.

    Attributes:
        exposed: how many agents are shown the passage, 0 among them for the curves and differences.
        kinds, styles: of the passages; filler has no style.
        seeds: repeats of everything; an item's score is their mean.
        baselines: systems beside the debate.
        skepticism: a sentence about sources to hold every debate, and mSC, with as well as without; empty for none.
        verifiers: which of them debates without exposure, and with one agent shown a false passage, are held with too.
    """

    exposed: tuple[int, ...] = (0, 1, 3)
    kinds: tuple[PassageKind, ...] = (PassageKind.FALSE,)
    styles: tuple[str, ...] = ("plain",)
    seeds: int = 1
    baselines: tuple[System, ...] = (System.SINGLE, System.SINGLE_DEBATE, System.MSC)
    skepticism: str = ""
    verifiers: tuple[Mitigation, ...] = ()

    def conditions(self) -> list[Condition]:
        """Without exposure once, then every kind and style with every number."""
        found = [Condition()] if 0 in self.exposed else []
        for kind in self.kinds:
            for style in ("any",) if kind is PassageKind.FILLER else self.styles:
                found += [Condition(exposed, kind, style) for exposed in sorted(set(self.exposed)) if exposed]
        return found

    def arms(self, agents: int) -> list[Arm]:
        """All arms, those that share most next to each other."""
        return list(self._arms(self.conditions(), agents))

    def _arms(self, conditions: Sequence[Condition], agents: int) -> Iterator[Arm]:
        alone = [system for system in (System.SINGLE, System.SINGLE_DEBATE) if system in self.baselines]
        mitigations = [Mitigation.NONE, *([Mitigation.SKEPTICISM] if self.skepticism else [])]
        for system in alone:
            yield Arm(system)
        for mitigation in mitigations:
            if System.MSC in self.baselines:
                yield from (Arm(System.MSC, condition, mitigation) for condition in conditions)
            yield from (Arm(System.DEBATE, condition, mitigation) for condition in conditions)
        one = [each for each in conditions if each.exposed <= 1 and each.kind in ("", PassageKind.FALSE)]
        for verifier in self.verifiers:
            yield from (Arm(System.DEBATE, each, verifier) for each in one)
        if System.SC15 in self.baselines:
            everybody = {Condition(agents, each.kind, each.style) for each in conditions if each.exposed}
            yield from (Arm(System.SC15, each) for each in sorted(everybody))

"""Do the personas make the same mistakes? A panel whose members err together cannot outvote an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from optimizer.analysis.recorded import Answer, RecordedPanel
from optimizer.debate.controls import Control
from optimizer.stats.agreement import AgreementEstimates, agreement_estimates, mean_phi
from optimizer.stats.bootstrap import UNDEFINED, Estimate


@dataclass(frozen=True, slots=True)
class PairErrors:
    """Two personas' errors in one round; `both_wrong` counts debates."""

    round: int
    first: str
    second: str
    both_wrong: int
    figures: AgreementEstimates


@dataclass(frozen=True, slots=True)
class MeanPhi:
    """The mean of phi over the `pairs` of judges, of which `undefined` are left out: one of both is always or never wrong."""

    name: str
    pairs: int
    undefined: int
    phi: Estimate


@dataclass(frozen=True, slots=True)
class PersonaErrors:
    """Pairs by round, and the means, with what one model asked again and again does beside them (self-consistency)."""

    pairs: tuple[PairErrors, ...]
    means: tuple[MeanPhi, ...]


def persona_errors(panel: RecordedPanel) -> PersonaErrors:
    """Round 1, in which nobody has heard the others, and the last. One persona has no pairs."""
    pairs: list[PairErrors] = []
    means: list[MeanPhi] = []
    for number in sorted({1, panel.rounds}):
        errors = round_errors(panel, number)
        found = [
            _pair(number, first, second, errors[first], errors[second], panel.clusters)
            for first, second in combinations(errors, 2)
        ]
        pairs += found
        if found:
            means.append(
                _mean(f"personas, round {number}", list(errors.values()), panel.clusters, [pair.figures for pair in found])
            )
    samples = _samples(panel)
    if samples is not None:
        means.append(samples)
    return PersonaErrors(tuple(pairs), tuple(means))


def round_errors(panel: RecordedPanel, number: int) -> Mapping[str, list[float]]:
    """Persona -> its error indicators in a round, in the order of the debates."""
    return {persona: [answer.wrong for answer in panel.persona(persona, number)] for persona in panel.personas}


def _pair(number: int, first: str, second: str, a: Sequence[float], b: Sequence[float], clusters: Sequence[str]) -> PairErrors:
    both = sum(x == y == 1.0 for x, y in zip(a, b, strict=True))
    return PairErrors(number, first, second, both, agreement_estimates(a, b, clusters))


def _mean(
    name: str, errors: Sequence[Sequence[float]], clusters: Sequence[str], figures: Sequence[AgreementEstimates]
) -> MeanPhi:
    undefined = sum(each.phi.value != each.phi.value for each in figures)
    return MeanPhi(name, len(figures), undefined, mean_phi(errors, clusters))


def _samples(panel: RecordedPanel) -> MeanPhi | None:
    """Self-consistency: the same model asked the same thing, at a temperature. Its samples are the judges."""
    arm = panel.controls.get(Control.SELF_CONSISTENCY)
    answers: list[list[Answer]] = [panel.sampled(debate) for debate in arm.debates] if arm else []
    count = min(map(len, answers), default=0)
    if count < 2:
        return None
    errors = [[each[place].wrong for each in answers] for place in range(count)]
    clusters = [each[0].item.cluster for each in answers]
    constant = [len(set(column)) < 2 for column in errors]
    undefined = sum(constant[a] or constant[b] for a, b in combinations(range(count), 2))
    phi = mean_phi(errors, clusters) if answers else UNDEFINED
    return MeanPhi("samples of the same model (self-consistency)", count * (count - 1) // 2, undefined, phi)

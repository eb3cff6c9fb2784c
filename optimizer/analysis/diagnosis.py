"""The mechanism analysis of one panel, from its recorded debates: what the debate does, figure by figure."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.analysis.arms import ArmRow, Shift, arm_rows, shifts
from optimizer.analysis.confidence import BINS, CarryRow, ConfidenceRow, carry_rows, confidence_rows
from optimizer.analysis.influence import Decisions, FlipRow, MoveRow, flips, moves, pivots
from optimizer.analysis.novelty import Novelty, novelty, texts_to_embed
from optimizer.analysis.panels import PanelRow, panel_row
from optimizer.analysis.persona_errors import PersonaErrors, persona_errors
from optimizer.analysis.recorded import RecordedPanel
from optimizer.models.embeddings import Embedder
from optimizer.stats.clusters import FEW_CLUSTERS


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All figures of a panel. `bins` are those of the calibration errors."""

    panel: PanelRow
    rounds: int
    items: int
    clusters: int
    bins: int
    arms: tuple[ArmRow, ...]
    shifts: tuple[Shift, ...]
    confidence: tuple[ConfidenceRow, ...]
    carried: tuple[CarryRow, ...]
    errors: PersonaErrors
    flips: tuple[FlipRow, ...]
    moves: tuple[MoveRow, ...]
    decisions: Decisions
    novelty: Novelty
    warnings: tuple[str, ...]


async def diagnose(panel: RecordedPanel, embedder: Embedder, bins: int = BINS) -> Diagnosis:
    """Every figure that the panel's debates allow.

    Args:
        panel: at least one debate.
        embedder: of the texts for novelty; it is not asked where there are none.
        bins: of the calibration errors.

    Raises:
        UserError: the embedder does not answer.
    """
    vectors = await embedder.embed(texts_to_embed(panel))
    return Diagnosis(
        panel_row(panel),
        panel.rounds,
        len({debate.item for debate in panel.debates}),
        len(set(panel.clusters)),
        bins,
        tuple(arm_rows(panel)),
        tuple(shifts(panel)),
        tuple(confidence_rows(panel, bins)),
        tuple(carry_rows(panel)),
        persona_errors(panel),
        tuple(flips(panel)),
        tuple(moves(panel)),
        pivots(panel),
        novelty(panel, vectors),
        tuple(warnings(panel)),
    )


def warnings(panel: RecordedPanel) -> list[str]:
    """What makes the figures rough, or leaves some out."""
    found = [f"{panel.name}: {remark}" for remark in panel.remarks]
    count = len(set(panel.clusters))
    if count < FEW_CLUSTERS:
        found.append(f"{panel.name}: only {count} clusters, so intervals are rough (under {FEW_CLUSTERS})")
    if panel.failed:
        found.append(f"{panel.name}: {_debates(panel.failed)} failed for lack of an answer, left out here")
    found += [
        f"{panel.name}: {_debates(arm.failed)} of {name} failed for lack of an answer, left out here"
        for name, arm in panel.controls.items()
        if arm.failed
    ]
    return found


def _debates(count: int) -> str:
    return f"{count} debate" + ("s" if count > 1 else "")

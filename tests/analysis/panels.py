"""Recorded panels made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from optimizer.analysis.recorded import Arm, RecordedPanel
from optimizer.data.item import Item
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.sections import ProtocolSettings
from tests.analysis.records import item

ITEMS = [item(f"i{n:03}", "yn"[n % 2], f"c{n // 2:03}") for n in range(80)]  # 40 clusters of a grounded and another claim


def panel_of(
    debates: Sequence[Debate],
    items: Sequence[Item] = ITEMS,
    name: str = "run",
    failed: int = 0,
    controls: Mapping[str, Sequence[Debate]] | None = None,
    **protocol: object,
) -> RecordedPanel:
    """A panel of these debates; `protocol` has settings that differ from the default."""
    return RecordedPanel(
        name,
        {each.id: each for each in items},
        tuple(debate for debate in debates if not debate.failed),
        Protocol.of(ProtocolSettings.model_validate(protocol)),
        "model",
        failed,
        {arm: Arm(tuple(held)) for arm, held in (controls or {}).items()},
    )


def truth(each: Item) -> str:
    """The right vote on an item, y or n."""
    return "y" if each.label == "grounded" else "n"


def other(vote: str) -> str:
    """The opposite vote."""
    return {"y": "n", "n": "y"}[vote]

"""Who speaks for a persona: its model, its sampling, and evidence of its own, where the settings give it one."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from optimizer.data.item import Item
from optimizer.errors import UsageError, UserError
from optimizer.models.chat import Sampling
from optimizer.models.client import ChatClient
from optimizer.sections import RoleSettings

REFLECTION = "reflection"


@dataclass(frozen=True, slots=True)
class Voice:
    """A role's client, what its sampling has instead of the protocol's, and its evidence by item id.

    `adds` puts that evidence behind the item's own; otherwise it takes its place. Items that are not named keep their own.
    """

    client: ChatClient
    temperature: float | None = None
    top_p: float | None = None
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    adds: bool = False

    def sampling(self, protocol: Sampling) -> Sampling:
        """The protocol's sampling with what this role has otherwise."""
        temperature = protocol.temperature if self.temperature is None else self.temperature
        return replace(protocol, temperature=temperature, top_p=protocol.top_p if self.top_p is None else self.top_p)

    def sees(self, item: Item) -> Item:
        """The item with the evidence that this role has."""
        own = self.evidence.get(item.base)
        return item if own is None else with_evidence(item, own, self.adds)


def with_evidence(item: Item, evidence: tuple[str, ...], adds: bool) -> Item:
    """The item with other evidence, or with more of it."""
    return replace(item, evidence=(*item.evidence, *evidence) if adds else evidence)


def check_roles(roles: Mapping[str, RoleSettings], personas: Collection[str]) -> None:
    """Whether the settings name roles that there are. Raises UsageError with the valid ones."""
    for name in roles:
        if name not in personas and name != REFLECTION:
            raise UsageError(f"settings have the role {name!r}; roles are {', '.join(personas)} and {REFLECTION}")


def role_evidence(role: RoleSettings) -> dict[str, tuple[str, ...]]:
    """The evidence file of a role: JSON lines with item and evidence (a text or a list of texts).

    Raises:
        UserError: it is missing, no UTF-8, or a line is bad; the message names file and line.
    """
    if not role.evidence:
        return {}
    path = Path(role.evidence)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as UTF-8 ({error}); it should hold the evidence of a role") from error
    found: dict[str, tuple[str, ...]] = {}
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
            item, evidence = row["item"], row["evidence"]
            passages = (evidence,) if isinstance(evidence, str) else tuple(evidence)
            if not isinstance(item, str) or not passages or not all(isinstance(p, str) and p.strip() for p in passages):
                raise ValueError("item must be a text, and evidence a text or a list of texts, none of them empty")
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}, line {number}: is no evidence ({error}); write {{'item': ..., 'evidence': ...}}") from error
        if item in found:
            raise UserError(f"{path}, line {number}: item {item!r} has evidence already")
        found[item] = passages
    return found

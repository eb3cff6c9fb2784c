"""Conditions: who on the panel reads a false or a true passage before it judges. Each makes a variant of an item.

F1 shows a false passage to one persona, Fn to all, T1 and Tn a true one, 0 nothing to anybody; any number may stand for n.
Variants of an item share its cluster and label, and whatever nobody's passage can have changed is the same call in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from optimizer.config import Settings
from optimizer.data.exposure import PassageBank, exposed_slots
from optimizer.data.item import Item, Shown
from optimizer.data.passages import PassageKind, beside, load_passages
from optimizer.data.shipped import data_path
from optimizer.debate.protocol import Protocol
from optimizer.errors import UsageError, UserError

CONDITIONS = ("F1", "Fn", "T1", "Tn", "0")
NOTHING = "0"
_KINDS = {"F": PassageKind.FALSE, "T": PassageKind.TRUE}
_NAME = re.compile(r"([FT])(n|[1-9]\d*)|0")


@dataclass(frozen=True, slots=True)
class Conditions:
    """Makes the variants of items.

    Args:
        names: the conditions, in order.
        personas: who sits on the panel.
        protocol: who speaks when: the slots that are drawn are places in the speaking order.
        bank: finds passages.
        style: of the passages.
        seed, may_be_last: of the draw of slots.
    """

    names: tuple[str, ...]
    personas: tuple[str, ...]
    protocol: Protocol
    bank: PassageBank
    style: str
    seed: int
    may_be_last: bool

    def covers(self, item: Item) -> bool:
        """Whether there is a passage for every condition."""
        return all(
            self.bank.passage(item.id, kind, self.style) for kind in {_KINDS[name[0]] for name in self.names if name != "0"}
        )

    def variants(self, items: Iterable[Item]) -> list[Item]:
        """Every item under every condition, those of an item in a row; their ids are `item@F1`.

        Raises:
            ValueError: an item has no passage for one of the conditions.
        """
        return [self._variant(item, name) for item in items for name in self.names]

    def _variant(self, item: Item, name: str) -> Item:
        identity = f"{item.id}@{name}"
        if name == NOTHING:
            return replace(item, id=identity, shown=Shown(item.id, name))
        passage = self.bank.passage(item.id, _KINDS[name[0]], self.style)
        if passage is None:
            raise ValueError(f"item {item.id!r} has no {_KINDS[name[0]]} passage in style {self.style!r}")
        order = self.protocol.order(self.personas, item.id)
        exposed = len(order) if name[1:] == "n" else int(name[1:])
        slots = exposed_slots(item.id, len(order), exposed, self.seed, self.may_be_last)
        return replace(item, id=identity, shown=Shown(item.id, name, passage.text, tuple(order[slot] for slot in slots)))


def read_conditions(names: Sequence[str], personas: int) -> tuple[str, ...]:
    """Condition names, checked, in the order given.

    Raises:
        UsageError: one is none, is there twice, needs more personas than there are, or none of them is false.
    """
    meant: dict[str, str] = {}
    for name in names:
        found = _NAME.fullmatch(name)
        if found is None:
            raise UsageError(f"search.conditions: {name!r} is no condition; F1, F2 … Fn, T1 … Tn and 0 are")
        count = name[1:]
        if count not in ("", "n") and int(count) > personas:
            raise UsageError(f"search.conditions: {name} shows {count} personas a passage, but the panel has {personas}")
        same = name[0] + str(personas) if count == "n" else name
        if same in meant:
            raise UsageError(f"search.conditions: {meant[same]} and {name} are the same on a panel of {personas}; leave one out")
        meant[same] = name
    if not any(is_false(name) for name in names):
        raise UsageError(
            f"search.conditions: none of {', '.join(names)} shows a false passage, so there is nothing to gain under it"
        )
    return tuple(names)


def is_false(condition: str) -> bool:
    """Whether a false passage is shown under it: what a search wants to be right under."""
    return condition.startswith("F")


def open_conditions(
    settings: Settings, names: Sequence[str], items: Sequence[Item], personas: Sequence[str], protocol: Protocol
) -> Conditions:
    """The conditions of a run on its data.

    Args:
        items: all items of the data, whichever are asked.

    Raises:
        UsageError: a name is no condition.
        UserError: the passages cannot be read.
    """
    rules = settings.misinformation
    bank = PassageBank(items, load_passages(passages_path(settings)), seed=rules.exposure_seed)
    checked = read_conditions(names, len(personas))
    style = settings.search.passage_style
    found = Conditions(checked, tuple(personas), protocol, bank, style, rules.exposure_seed, rules.exposed_may_be_last)
    if not any(map(found.covers, items)):
        styles = ", ".join(bank.styles(PassageKind.FALSE)) or "none at all"
        raise UserError(
            f"{passages_path(settings)}: no item has the passages that {', '.join(checked)} take in style {style!r}; styles of "
            f"false passages are {styles} (search.passage_style, or search.conditions=none)"
        )
    return found


def passages_path(settings: Settings) -> Path:
    """The file of passages that the settings name, or the folder of the data, where they lie beside the items."""
    if settings.misinformation.passages:
        return Path(settings.misinformation.passages)
    return beside(data_path(settings.data))


def distinct_calls(items: Sequence[Item], personas: Sequence[str], protocol: Protocol) -> int:
    """The most different requests that one candidate's debates on these items take."""
    return calls_of(items, personas, protocol, len(first_round_requests(items, personas)))


def calls_of(items: Sequence[Item], personas: Sequence[str], protocol: Protocol, first_round: int) -> int:
    """The same, with so many different requests in round 1."""
    if not protocol.first_round_is_independent:
        return len(items) * protocol.calls(len(personas))
    return first_round + len(items) * protocol.calls(len(personas)) - len(items) * len(personas)


def first_round_requests(items: Iterable[Item], personas: Sequence[str]) -> set[tuple[str, str, str]]:
    """What can differ in round 1, where nobody has heard anybody: whose item it is, who speaks, and what that one has read."""
    return {(item.base, persona, item.passage_for(persona)) for item in items for persona in personas}

"""Who is exposed to what: the draw of slots, and the passages of every kind, constructed ones included.

Every draw is a hash of a seed and names. It depends on no order, no process and no other item that is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from optimizer.data.item import Item
from optimizer.data.passages import Passage, PassageKind

CONSTRUCTED = "constructed"
FILLER_STYLE = "filler"
_OTHERS = {PassageKind.IRRELEVANT_FALSE: PassageKind.FALSE, PassageKind.IRRELEVANT_TRUE: PassageKind.TRUE}


def exposed_slots(item: str, agents: int, exposed: int, seed: int, may_be_last: bool = True) -> tuple[int, ...]:
    """Which of the slots 0 … agents - 1 get the passage on this item, in ascending order.

    The slots of fewer exposed agents are among those of more, so that runs with different numbers share what they can. Every
    set of slots is equally likely over items and seeds; without `may_be_last` the last slot is the last to be taken.

    Raises:
        ValueError: there are fewer agents than exposed ones.
    """
    if not 0 <= exposed <= agents:
        raise ValueError(f"{exposed} of {agents} agents cannot be exposed; give 0 to {agents}")
    drawn = sorted(range(agents), key=lambda slot: (not may_be_last and slot == agents - 1, _draw(seed, item, str(slot))))
    return tuple(sorted(drawn[:exposed]))


class PassageBank:
    """Finds, or makes, the passage of a kind and style for an item.

    Another item's passage, and filler, are constructed: the former from an item of another cluster, the latter from sentences
    of the bank in a drawn order, cut to the mean number of words that the item's own passages have.

    Args:
        items: all items of the data set, whichever are asked: what is drawn for one does not depend on a limit.
        passages: those of the data set. One that is there already goes before one that would be made.
        filler: sentences that say nothing.
        seed: of the draws.
    """

    def __init__(self, items: Iterable[Item], passages: Iterable[Passage], filler: Sequence[str] = (), seed: int = 0) -> None:
        self._cluster = {item.id: item.cluster for item in items}
        self._found = {(each.item, each.kind, each.style): each for each in passages if each.item in self._cluster}
        self._filler, self._seed = tuple(filler), seed

    def passage(self, item: str, kind: PassageKind, style: str) -> Passage | None:
        """The passage, or None where there is none and none can be made. Filler has no style: any will do."""
        style = FILLER_STYLE if kind is PassageKind.FILLER else style
        own = self._found.get((item, kind, style))
        if own is not None or kind in (PassageKind.FALSE, PassageKind.TRUE):
            return own
        return self._made_filler(item) if kind is PassageKind.FILLER else self._of_another(item, kind, style)

    def styles(self, kind: PassageKind) -> list[str]:
        """The styles that there are of a kind."""
        kind = _OTHERS.get(kind, kind)
        return sorted({each.style for each in self._found.values() if each.kind is kind})

    def _of_another(self, item: str, kind: PassageKind, style: str) -> Passage | None:
        source = _OTHERS[kind]
        others = [
            each
            for each in self._found.values()
            if each.kind is source and each.style == style and self._cluster[each.item] != self._cluster[item]
        ]
        if not others:
            return None
        chosen = min(others, key=lambda each: _draw(self._seed, item, kind, each.item))
        return Passage(item, kind, style, f"{CONSTRUCTED} from {chosen.item}", chosen.text)

    def _made_filler(self, item: str) -> Passage | None:
        own = [len(each.text.split()) for each in self._found.values() if each.item == item]
        if not own or not self._filler:
            return None
        wanted = max(1, round(sum(own) / len(own)))
        order = sorted(range(len(self._filler)), key=lambda place: _draw(self._seed, item, "filler", str(place)))
        words: list[str] = []
        while len(words) < wanted:  # a short bank is gone through again
            for place in order:
                words += self._filler[place].split()
        text = " ".join(words[:wanted]).rstrip(".,;:") + "."
        return Passage(item, PassageKind.FILLER, FILLER_STYLE, CONSTRUCTED, text)


def _draw(seed: int, *names: str) -> bytes:
    return hashlib.sha256("\n".join((str(seed), *names)).encode()).digest()

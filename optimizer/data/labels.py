"""How the labels of published data sets are read: an explicit table, which a user's map may extend or override."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from optimizer.data.item import Label
from optimizer.errors import UserError

_GROUNDED = "grounded supported supports support entailed entailment entails attributable yes true 1"
_NOT_GROUNDED = (
    "not_grounded ungrounded not_supported unsupported not_enough_info nei refutes refuted contradiction contradicted "
    "contradicts contradict partially_supported not_entailment neutral not_attributable hallucinated no false 0"
)
GOLD_LABELS: Mapping[str, Label] = {
    **dict.fromkeys(_GROUNDED.split(), Label.GROUNDED),
    **dict.fromkeys(_NOT_GROUNDED.split(), Label.NOT_GROUNDED),
}


@lru_cache(maxsize=256)
def normalise_label(text: str) -> str:
    """Lower case, with every run of spaces and hyphens as one underscore: `NOT ENOUGH INFO` is `not_enough_info`."""
    return re.sub(r"[\s\-]+", "_", text.strip()).lower()


def parse_label_map(text: str) -> dict[str, Label]:
    """Read `name=grounded,other=not_grounded` into a map of normalised names. Raises ValueError with the bad part."""
    labels: dict[str, Label] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, separator, target = part.partition("=")
        if not separator or normalise_label(target) not in (Label.GROUNDED, Label.NOT_GROUNDED):
            raise ValueError(f"label map part {part!r} is not NAME=grounded or NAME=not_grounded")
        labels[normalise_label(name)] = Label(normalise_label(target))
    return labels


def overrides_of(label_map: str | Mapping[str, Label]) -> Mapping[str, Label]:
    """A label map as given on the command line, or one that was read already. Raises UserError with the bad part."""
    try:
        return parse_label_map(label_map) if isinstance(label_map, str) else label_map
    except ValueError as error:
        raise UserError(str(error)) from error


def read_label(value: object, overrides: Mapping[str, Label], known: Mapping[str, Label] = GOLD_LABELS) -> Label:
    """The label that a data set's own word stands for. Raises ValueError naming the word and the known ones."""
    name = label_name(value)
    found = overrides.get(name) or known.get(name)
    if found is None:
        names = ", ".join(sorted({*known, *overrides}))
        raise ValueError(f"label {str(value)!r} is unknown; known are {names}; add others with --label-map NAME=grounded")
    return found


def label_name(value: object) -> str:
    """A data set's own label as a normalised name; 1.0 is `1`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return normalise_label(str(value))

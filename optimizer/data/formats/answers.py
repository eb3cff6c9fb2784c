"""Short answers with their aliases, in the several ways in which data sets write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def answer_texts(value: Any) -> tuple[str, ...]:
    """All texts that count as right, the first one first, each once.

    `value` is a text; a list of texts or of {"answer": ..., "aliases": [...]}; or such a mapping whose fields may be lists
    themselves, one entry an answer. Nothing and blank texts are passed over, so the result may be empty.

    Raises:
        ValueError: something else stands there.
    """
    return tuple(dict.fromkeys(text for text in _texts(value) if text))


def _texts(value: Any) -> Iterator[str]:
    if value is None:
        return
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict) and "answer" in value:
        yield from _texts(value["answer"])
        yield from _texts(value.get("aliases"))
    else:
        raise ValueError(f"an answer must be text, a list, or have the field 'answer', but is a {type(value).__name__}")

"""Reads the fields of a row: texts, lists of texts, missing values, and names made of a text's hash. Nothing is guessed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from optimizer.data.characters import MISSING_WORDS, is_blank, refused_character

Row = Mapping[str, Any]


def is_missing(value: object) -> bool:
    """Whether there is no value: nothing, NaN, or a word that programs write for it. An empty text is a value."""
    return (
        value is None or (isinstance(value, float) and math.isnan(value)) or (isinstance(value, str) and value in MISSING_WORDS)
    )


def text_of(row: Row, column: str) -> str:
    """A column's text, as it stands there; numbers are written out, what is missing is empty. Raises ValueError if it is none."""
    value = row.get(column)
    return "" if is_missing(value) else as_text(value, column)


def as_text(value: object, column: str) -> str:
    """A value as text, numbers written out. Raises ValueError for anything else, and for characters that no text may have."""
    if isinstance(value, str):
        if fault := refused_character(value):
            raise ValueError(f"column {column!r} {fault}")
        return value
    if not isinstance(value, (int, float)) or isinstance(value, bool) or (isinstance(value, float) and math.isinf(value)):
        raise ValueError(f"column {column!r} must be text, but is a {type(value).__name__}")
    return str(value)


def required_text(row: Row, column: str) -> str:
    """A column's text. Raises ValueError if the column is missing or empty, or its value is a word for a missing one."""
    if column not in row:
        raise ValueError(f"has no column {column!r}; it has {', '.join(map(str, row))}; rename with --columns FIELD=NAME")
    text = text_of(row, column)
    if is_blank(text):
        raise ValueError(f"column {column!r} {emptiness(row[column])}")
    return text


def emptiness(value: object) -> str:
    """Why a value counts as empty, in words."""
    if isinstance(value, str) and value in MISSING_WORDS:
        return f"holds {value!r}, which is how programs write a missing value; fill it in, or take the row out"
    return "is empty"


def cell_value(value: object, column: str) -> object:
    """A value, or the list that was written into its cell as JSON. Raises ValueError for a list as Python writes it."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    text = value.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if text[1:2] in ("'", '"') and text.endswith(("']", '"]')):
            raise ValueError(f'column {column!r} looks like a list but is no JSON; write ["one", "two"]') from error
        return value  # a text that merely begins with a bracket


def answer_texts(value: object) -> tuple[str, ...]:
    """All texts that count as right, in the several ways in which data sets write them; the first one first, each once.

    Args:
        value: a text or a number; a list of them or of {"answer": ..., "aliases": [...]}; or such a mapping whose fields may be
            lists themselves, one entry an answer. Nothing and blank texts are passed over, so the result may be empty.

    Raises:
        ValueError: something else stands there.
    """
    return tuple(dict.fromkeys(text for text in _answer_texts(value) if text))


def _answer_texts(value: object) -> Iterator[str]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _answer_texts(part)
    elif isinstance(value, Mapping):
        if "answer" not in value:
            raise ValueError(f"an answer that is an object has the field answer, but this one has {', '.join(map(str, value))}")
        yield from _answer_texts(value["answer"])
        yield from _answer_texts(value.get("aliases"))
    elif value is not None and not (isinstance(value, float) and math.isnan(value)):
        yield short_text(value, "answer")


def short_text(value: object, column: str) -> str:
    """A value as an answer or a choice: without space around it, and a whole number without decimals."""
    return as_text(int(value) if isinstance(value, float) and value.is_integer() else value, column).strip()


def digest(*texts: str) -> str:
    """Twelve hex digits that stand for texts, for ids and clusters that the data does not name."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]

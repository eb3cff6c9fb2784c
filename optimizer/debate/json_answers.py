"""Finds JSON objects in model output: fenced, surrounded by prose, in Python's spelling, nested, or cut off."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any

_LONGEST = 20_000  # characters of one object that are tried; longer ones are not answers
_SMART = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
_VERDICT_KEYS = (
    "verdict", "final_verdict", "label", "final_label", "decision", "judgment", "judgement", "classification", "answer",
    "final_answer", "conclusion", "result",
)  # fmt: skip
ANSWER_KEYS = (  # of an answer to a question, the best first
    "final_answer", "answer", "verdict", "final_verdict", "choice", "option", "decision", "conclusion", "result", "label",
)  # fmt: skip
_FLAG_KEYS = ("grounded", "is_grounded", "supported", "is_supported")
_MISSING = object()


class ConflictingKeys(ValueError):
    """One object says two different things under one name."""


def find_objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """All outermost JSON objects in a text, and the rest from the first brace that opens none ("" if there is none)."""
    found: list[dict[str, Any]] = []
    position = text.find("{")
    broken = ""
    while position >= 0:
        end = _closing(text, position, '"') or _closing(text, position, "\"'")
        value = _load(text[position:end]) if end and end - position <= _LONGEST else None
        if isinstance(value, dict):
            found.append(value)
            position = text.find("{", end)
            continue
        broken = broken or text[position:]
        position = text.find("{", position + 1)
    return found, broken


def load_text(text: str) -> Any:
    """A whole text as JSON, or None."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def verdict_field(
    record: dict[str, Any], depth: int = 0, keys: Sequence[str] = (*_VERDICT_KEYS, *_FLAG_KEYS)
) -> tuple[Any, dict[str, Any]] | None:
    """The value of the field that holds the verdict and the object it stands in, searching nested objects too.

    `keys` are the names that the field may have, the best first.
    """
    names = {str(key).strip().lower().replace(" ", "_"): key for key in record}
    for name in keys:
        value = record.get(names.get(name, ""), _MISSING)
        if value is _MISSING or (name in _FLAG_KEYS and not isinstance(value, bool)):
            continue
        if not isinstance(value, (dict, list)):
            return value, record
    if depth < 4:
        for value in record.values():
            inner = load_text(value) if isinstance(value, str) and value.lstrip().startswith("{") else value
            if isinstance(inner, dict) and (found := verdict_field(inner, depth + 1, keys)):
                return found
    return None


def field(record: dict[str, Any], name: str) -> Any:
    """A field by its name in any capitals, or None."""
    return next((value for key, value in record.items() if str(key).strip().lower() == name), None)


def cut_fields(piece: str) -> tuple[list[str], str | None, bool]:
    """Of an object that is cut off or broken: its complete verdicts, a complete confidence, and whether a cut is in a text.

    A number at the very end may have lost digits, so it is not complete.
    """
    verdicts = re.findall(r"""["']verdict["']\s*:\s*["']([^"']*)["']""", piece, re.IGNORECASE)
    confidence = re.search(r"""["']confidence["']\s*:\s*(["']?[\d.]+\s*%?["']?)\s*[,}]""", piece, re.IGNORECASE)
    in_text = bool(re.search(r""":\s*"(?:[^"\\]|\\.)*\\?$""", piece, re.DOTALL))
    return verdicts, (confidence[1] if confidence else None), in_text


def cut_answers(piece: str) -> list[str]:
    """Of an object that is cut off or broken, its complete answers: strings with both quotes, numbers with what ends them."""
    pattern = r"""["'](?:final_)?answer["']\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(-?\d[\d.,eE+/-]*?)\s*(?:,\s*["']|[}\n]))"""
    return ["".join(groups) for groups in re.findall(pattern, piece, re.IGNORECASE)]


def _closing(text: str, start: int, quotes: str) -> int | None:
    """The index after the brace that closes the one at `start`, passing over strings; None where it never closes."""
    depth, position, quote = 0, start, ""
    while position < len(text):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in quotes:
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record and record[key] != value and key.lower() in _VERDICT_KEYS:
            raise ConflictingKeys(key)
        record[key] = value
    return record


def _load(text: str) -> Any:
    """Parse one object, strictly first, then with the repairs that models need. Raises ConflictingKeys."""
    for candidate in (text, _without_trailing_commas(text), _without_trailing_commas(text.translate(_SMART))):
        try:
            return json.loads(candidate, strict=False, object_pairs_hook=_unique)
        except ConflictingKeys:
            raise
        except (ValueError, RecursionError):
            continue
    python = re.sub(r"\b(true|false|null)\b", lambda match: {"true": "True", "false": "False", "null": "None"}[match[1]], text)
    for candidate in (text, python):
        try:
            return ast.literal_eval(candidate)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def _without_trailing_commas(text: str) -> str:
    return re.sub(r",(\s*[}\]])", r"\1", text)

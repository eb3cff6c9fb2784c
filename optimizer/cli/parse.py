"""`optimizer parse`: show how answers are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options


def command(
    file: Annotated[Path, typer.Argument(help="JSON lines with text and finish_reason.")], as_json: options.Json = False
) -> None:
    """Read model answers the way a debate does: verdict, confidence and outcome of each line, in order."""
    import json

    from optimizer.cli.console import print_json, print_table
    from optimizer.debate.parse import parse_answer
    from optimizer.errors import UserError

    rows = []
    try:
        lines = file.read_bytes().decode("utf-8-sig").split("\n")
    except OSError as error:
        raise UserError(f"{file}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: byte {error.start} is not UTF-8") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            text, finish_reason = record["text"], record.get("finish_reason") or "stop"
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{file}, line {number}: must be a JSON object with text and finish_reason") from error
        if not isinstance(text, str) or not isinstance(finish_reason, str):
            raise UserError(f"{file}, line {number}: text and finish_reason must be texts")
        verdict = parse_answer(text, finish_reason)
        confidence = verdict.confidence
        rows.append(
            {
                "verdict": str(verdict.label) if verdict.label else None,
                "confidence": int(confidence) if confidence is not None and confidence == int(confidence) else confidence,
                "outcome": verdict.outcome.value,
                "detail": verdict.detail,
            }
        )
    if as_json:
        print_json(rows)
    else:
        print_table(
            "", ["line", "verdict", "confidence", "outcome", "detail"], [[i, *row.values()] for i, row in enumerate(rows, 1)]
        )

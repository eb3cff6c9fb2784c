"""One prompt a file: plain Markdown that holds instructions only. Front matter is stripped; placeholders are refused."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from optimizer.errors import UserError

_SLOT_NAMES = (
    "claim|evidence|context|document|documents|passage|question|answer|text|source|sources|input|transcript|statement|"
    "debate|history|label|verdict|item"
)
_PLACEHOLDER = re.compile(r"\{\{\{?\s*[\w.]+\s*\}?\}\}|\{%.*?%\}|\{(?:" + _SLOT_NAMES + r")\}|\$\{\w+\}", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<head>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def read_prompt(path: Path) -> tuple[str, dict[str, str]]:
    """A prompt file's text, and the `name: value` lines of its front matter.

    Raises:
        UserError: the file is missing, no UTF-8, empty, or holds a placeholder.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such prompt file") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; save the prompt as UTF-8") from error
    text = text.replace("\r\n", "\n")
    head: dict[str, str] = {}
    lines_before = 0
    if match := _FRONT_MATTER.match(text):
        for line in match["head"].splitlines():
            name, separator, value = line.partition(":")
            if separator:
                head[name.strip()] = value.strip()
        lines_before = match[0].count("\n")
        text = text[match.end() :]
    problem = check_prompt(text, lines_before)
    if problem:
        raise UserError(f"{path}: {problem}")
    return text.strip(), head


def check_prompt(text: str, lines_before: int = 0) -> str:
    """What is wrong with a prompt text, in words, or an empty string."""
    if not text.strip():
        return "is empty; write the instruction, or delete the file"
    if match := _PLACEHOLDER.search(text):
        line = lines_before + text.count("\n", 0, match.start()) + 1
        return (
            f"line {line} has the placeholder {match[0]}; a prompt holds instructions only, since evidence, claim and debate "
            "are put before it by the toolkit; say 'the claim' or 'the evidence' in words instead"
        )
    return ""


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: to a temporary name first, then moved. UTF-8, LF."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(text.encode("utf-8"))
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise UserError(
            f"{path}: cannot be written ({error.strerror or error}); free disk space or choose another folder"
        ) from error


def write_prompts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write `<component>.md` for each text into a folder."""
    for component, text in texts.items():
        write_text(folder / f"{component}.md", text.rstrip() + "\n")


def cut_torn_line(path: Path) -> None:
    """Cut off what a killed writer left of its last line, so that the next line does not go on it."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        tail = 1 << 16
        while size:
            start = max(0, size - tail)
            file.seek(start)
            block = file.read(size - start)
            end = block.rfind(b"\n")
            if end >= 0 or start == 0:
                file.truncate(start + end + 1)
                return
            tail *= 2

"""The event log: append-only JSON lines with a schema version. An event has an id and is written once, so replay is safe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from optimizer.errors import UserError
from optimizer.prompts.files import cut_torn_line

EVENTS_VERSION = 1


class Journal(Protocol):
    """Takes down what happens."""

    def record(self, kind: str, identity: str, **fields: Any) -> bool:
        """Take down an event unless it is there; whether it was new."""


class EventLog:
    """Events of one run.

    A resumed run takes the same steps again; `record` writes a step only if its id is new. A line that a killed run left
    half-written is cut off when the log is opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ids: set[str] = set()
        if path.exists():
            cut_torn_line(path)
            self._ids = {str(event["id"]) for event in read_events(path)}
        self._file: IO[str] = path.open("a", encoding="utf-8", newline="\n")

    def record(self, kind: str, identity: str, **fields: Any) -> bool:
        """Append an event unless one with this kind and identity is there. Whether it was new."""
        event_id = f"{kind}:{identity}"
        if event_id in self._ids:
            return False
        line = json.dumps({"v": EVENTS_VERSION, "id": event_id, "kind": kind, **fields}, ensure_ascii=False)
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise UserError(
                f"{self.path}: cannot be written ({error.strerror}); free disk space and run the command again"
            ) from error
        self._ids.add(event_id)
        return True

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_events(path: Path, kind: str = "") -> Iterator[dict[str, Any]]:
    """The events of a log in order, one kind of them if named.

    Raises:
        UserError: a line is no event of a version that is known here.
    """
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                event = json.loads(text)
                version = event["v"]
            except (ValueError, KeyError, TypeError) as error:
                if text.endswith("\n"):
                    raise UserError(f"{path}, line {number}: is no event; the log was edited or damaged") from error
                return  # being written right now, or torn by a kill
            if version != EVENTS_VERSION:
                raise UserError(
                    f"{path}, line {number}: event version {version}, known is {EVENTS_VERSION}; use the version that wrote it"
                )
            if not kind or event["kind"] == kind:
                yield event

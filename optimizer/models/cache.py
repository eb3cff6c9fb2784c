"""The response cache: one SQLite file, shared by runs and safe with several processes. No answer is paid for twice."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from optimizer.errors import UserError
from optimizer.models.chat import ChatReply


class ResponseCache:
    """Answers by request key. Errors, and answers that a content filter stopped, are never stored.

    Args:
        path: the SQLite file, made where missing; ":memory:" lives as long as the object.
    """

    def __init__(self, path: Path | str) -> None:
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(path, timeout=60.0, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, model TEXT NOT NULL, reply TEXT NOT NULL)"
            )
        except sqlite3.Error as error:
            raise UserError(
                f"{path}: cannot be used as response cache ({error}); delete it or give another with --cache"
            ) from error

    def get(self, key: str) -> ChatReply | None:
        """The stored answer, or None."""
        row = self._db.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return ChatReply(**json.loads(row[0])) if row else None

    def put(self, key: str, model: str, reply: ChatReply) -> None:
        """Store an answer; the first one stays where two processes asked at once."""
        if reply.finish_reason == "content_filter":
            return
        try:
            self._db.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, model, json.dumps(asdict(reply))))
        except sqlite3.OperationalError as error:
            raise UserError(
                f"the response cache cannot be written ({error}); free disk space or give another with --cache"
            ) from error

    def seconds_per_call(self, model: str) -> float | None:
        """The median latency of the last answers of a model, or None where there are fewer than five."""
        query = "SELECT json_extract(reply, '$.seconds') FROM replies WHERE model = ? ORDER BY rowid DESC LIMIT 200"
        seconds = sorted(row[0] for row in self._db.execute(query, (model,)))
        return seconds[len(seconds) // 2] if len(seconds) >= 5 else None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> ResponseCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

"""The response cache: one SQLite file, shared by runs and safe with several processes. No answer is paid for twice."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from optimizer.errors import UserError
from optimizer.models.chat import ChatReply

_LOCK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CachedModel:
    """How many answers of a model are stored, in how many bytes. `model` is its identity, as keys have it."""

    model: str
    answers: int
    bytes: int


class ResponseCache:
    """Answers by request key. Errors, and answers that a content filter stopped, are never stored.

    Within an event loop the answers that come in one turn of the loop are written in one transaction, at the turn's end.

    Args:
        path: the SQLite file, made where missing; ":memory:" lives as long as the object.
    """

    def __init__(self, path: Path | str) -> None:
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._pending: dict[str, tuple[str, ChatReply]] = {}
        self._broken: UserError | None = None
        try:
            self._db = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None)
            self._use_write_ahead_log()
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
        if key in self._pending:
            return self._pending[key][1]
        row = self._db.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return ChatReply(**json.loads(row[0])) if row else None

    def put(self, key: str, model: str, reply: ChatReply) -> None:
        """Store an answer; the first one stays where two processes asked at once.

        Raises:
            UserError: this answer, or one of the turn before, could not be written.
        """
        self._tell()
        if reply.finish_reason == "content_filter":
            return
        self._pending.setdefault(key, (model, reply))
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._flush()
        else:
            loop.call_soon(self._flush_later)  # every time: another loop may have ended before its turn did

    def _flush(self) -> None:
        """Write what is pending."""
        rows = [(key, model, reply.as_json()) for key, (model, reply) in self._pending.items()]
        self._pending.clear()
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", rows)
        except sqlite3.OperationalError as error:
            raise UserError(
                f"the response cache cannot be written ({error}); free disk space or give another with --cache"
            ) from error

    def _flush_later(self) -> None:
        """Write at the end of a loop's turn, where nobody hears an error: the next call is told."""
        if self._pending:
            try:
                self._flush()
            except UserError as error:
                self._broken = error

    def _tell(self) -> None:
        """Raise the error that a flush met, once."""
        broken, self._broken = self._broken, None
        if broken is not None:
            raise broken

    def _use_write_ahead_log(self) -> None:
        """Switch the file to a write-ahead log. SQLite does not wait for a lock here, so that we do."""
        deadline = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def seconds_per_call(self, model: str) -> float | None:
        """The median latency of the last answers of a model, or None where there are fewer than five."""
        query = "SELECT json_extract(reply, '$.seconds') FROM replies WHERE model = ? ORDER BY rowid DESC LIMIT 200"
        seconds = sorted(row[0] for row in self._db.execute(query, (model,)))
        return seconds[len(seconds) // 2] if len(seconds) >= 5 else None

    def models(self) -> list[CachedModel]:
        """What is stored of each model, the most answers first."""
        query = "SELECT model, COUNT(*), SUM(LENGTH(reply)), MAX(rowid) FROM replies GROUP BY model ORDER BY COUNT(*) DESC, model"
        return [CachedModel(model, count, size) for model, count, size, _ in self._db.execute(query)]

    def prune(self, model: str = "", keep: int | None = None) -> int:
        """Delete answers: of one model, or all but the last `keep`, or both; how many. The file shrinks.

        Raises:
            ValueError: neither is given, or keep is negative: nothing is deleted by accident.
        """
        if not model and keep is None:
            raise ValueError("name a model, or how many of the last answers to keep")
        if keep is not None and keep < 0:
            raise ValueError(f"keep must not be negative but is {keep}")
        conditions: list[str] = []
        values: list[str | int] = []
        if model:
            conditions.append("model = ?")
            values.append(model)
        if keep is not None:
            of_model = "WHERE model = ? " if model else ""
            conditions.append(f"rowid NOT IN (SELECT rowid FROM replies {of_model}ORDER BY rowid DESC LIMIT ?)")
            values += [*([model] if model else []), keep]
        deleted = self._db.execute(f"DELETE FROM replies WHERE {' AND '.join(conditions)}", values).rowcount
        self._db.execute("VACUUM")
        return deleted

    def verify(self) -> list[str]:
        """What is wrong with the file, a line each: damage that SQLite finds, and answers that cannot be read."""
        problems = [row[0] for row in self._db.execute("PRAGMA integrity_check") if row[0] != "ok"]
        for key, reply in self._db.execute("SELECT key, reply FROM replies"):
            try:
                ChatReply(**json.loads(reply))
            except (ValueError, TypeError) as error:
                problems.append(f"answer {key}: {error}")
        return problems

    def close(self) -> None:
        """Write what is pending, and close the file."""
        try:
            if self._pending:
                self._flush()
            self._tell()
        finally:
            self._db.close()

    def __enter__(self) -> ResponseCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

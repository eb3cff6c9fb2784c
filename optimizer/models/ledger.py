"""The call ledger: every logical call, paid or answered from the cache, with its tokens and its purpose."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from optimizer.models.chat import CallTag, ChatReply
from optimizer.prompts.files import cut_torn_line

LEDGER_VERSION = 1


@dataclass(slots=True)
class Spent:
    """What a run's different requests took, cached or not: tokens, dollars, and the largest call of debates and of all others.

    `a_token` is the most dollars that a token of a debate's call took on average.
    """

    tokens: int = 0
    cost: float = 0.0
    debate_calls: int = 0
    largest: dict[str, int] = field(default_factory=dict)
    dearest: dict[str, float] = field(default_factory=dict)
    a_token: float = 0.0

    def add(self, purpose: str, tokens: int, cost: float) -> None:
        """Another request."""
        kind = "debate" if purpose == "debate" else "other"
        self.tokens += tokens
        self.cost += cost
        self.debate_calls += kind == "debate"
        self.largest[kind] = max(self.largest.get(kind, 0), tokens)
        self.dearest[kind] = max(self.dearest.get(kind, 0.0), cost)
        if kind == "debate" and tokens:
            self.a_token = max(self.a_token, cost / tokens)


class Ledger:
    """Counts calls, and appends each to a file where one is given.

    `distinct` is the number of different requests, which is what a cold cache would have paid for: budgets count it,
    so that a warm and a cold run decide alike. `paid` counts what was really sent to a server.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.by_purpose: dict[str, Counter[str]] = {}
        self.incidents: list[str] = []
        self.cost = 0.0
        self._fingerprints: dict[str, set[str]] = {}
        self._keys: set[str] = set()
        self._recorded: dict[str, tuple[str, int, float]] = {}  # of an earlier start: purpose, tokens, cost of a request
        self.spent = Spent()
        self._file: IO[str] | None = None
        if path is not None:
            if path.exists():
                cut_torn_line(path)
                for line in path.read_text(encoding="utf-8").splitlines():
                    self._restore(line)
            self._file = path.open("a", encoding="utf-8", newline="\n")

    @property
    def distinct(self) -> int:
        """How many different requests were made."""
        return len(self._keys)

    @property
    def remarks(self) -> dict[str, Any]:
        """What a summary says beside the counts: the cost in US dollars, and what befell the servers; only what there is."""
        cost = {"cost_usd": round(self.cost, 6)} if self.cost else {}
        return {**cost, **({"incidents": self.incidents} if self.incidents else {})}

    def charge(self, key: str, purpose: str, tokens: int, cost: float) -> None:
        """Count what a request takes, the first time that it is made."""
        if key in self._keys:
            return
        self._keys.add(key)
        self.spent.add(purpose, tokens, cost)

    def knows(self, key: str) -> bool:
        """Whether this request was made before."""
        return key in self._keys

    def record(self, key: str, tag: CallTag, reply: ChatReply, paid: bool, attempts: int = 1) -> None:
        """Count one answered call, and write it down."""
        line = {
            "v": LEDGER_VERSION,
            "key": key,
            **tag.fields(),
            "paid": paid,
            "attempts": attempts,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.prompt_tokens,
            "cached_tokens": reply.cached_tokens,
            "completion_tokens": reply.completion_tokens,
            "seconds": round(reply.seconds, 4),
            **({"cost": reply.cost} if reply.cost else {}),
        }
        self.charge(key, tag.purpose, reply.prompt_tokens + reply.completion_tokens, reply.cost)
        self._count(line)
        self._write(line)

    def record_failure(self, key: str, tag: CallTag, reason: str, attempts: int) -> None:
        """Count a call that got no answer. It is no distinct request: it is still owed."""
        line = {"v": LEDGER_VERSION, "key": key, **tag.fields(), "failed": reason, "attempts": attempts}
        self.counts["failed"] += 1
        self._write(line)

    def note_incident(self, text: str) -> None:
        """Write down what befell a server: the report tells it."""
        self.incidents.append(text)
        self._write({"v": LEDGER_VERSION, "incident": text, "at": datetime.now().isoformat(timespec="seconds")})

    def fingerprint(self, model: str, name: str) -> bool:
        """Note the fingerprint of a paid answer; whether it is another than those of the same model before it."""
        known = self._fingerprints.setdefault(model, set())
        new = bool(name) and name not in known and bool(known)
        if name:
            known.add(name)
        return new

    def touch(self, key: str) -> None:
        """Count a request as made whose answer stands in a recorded debate: a resumed run spends what it spent before."""
        self.charge(key, *self._recorded.pop(key, ("debate", 0, 0.0)))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _count(self, line: dict[str, Any]) -> None:
        purpose = self.by_purpose.setdefault(line["purpose"], Counter())
        if line["paid"]:
            self.cost += line.get("cost", 0.0)
        for counts in (self.counts, purpose):
            counts["calls"] += 1
            if line["paid"]:
                counts["paid"] += 1
                for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
                    counts[name] += line[name]
            else:
                counts["hits"] += 1

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()

    def _restore(self, text: str) -> None:
        try:
            line = json.loads(text)
        except ValueError:
            return  # the line that a killed run was writing
        if "incident" in line:
            self.incidents.append(str(line["incident"]))
        elif "failed" in line:
            self.counts["failed"] += 1
        else:
            tokens = line["prompt_tokens"] + line["completion_tokens"]
            self._recorded[line["key"]] = (line["purpose"], tokens, line.get("cost", 0.0))
            self._count(line)

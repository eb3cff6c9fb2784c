"""The ledger after a kill: what was half written is cut off, and what a request took is known when it is made again."""

from __future__ import annotations

from pathlib import Path

from optimizer.models.chat import CallTag, ChatReply
from optimizer.models.ledger import Ledger

REPLY = ChatReply("yes", "stop", prompt_tokens=100, completion_tokens=10, cost=0.5)


def test_a_torn_line_takes_no_other_with_it_and_resumed_requests_take_what_they_took(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    first = Ledger(path)
    first.record("a", CallTag("debate"), REPLY, paid=True)
    first.close()
    with path.open("a", encoding="utf-8") as file:
        file.write('{"v": 1, "key": "b", "purp')
    second = Ledger(path)
    assert second.spent.tokens == 0  # nothing is spent before it is made again
    second.record("c", CallTag("debate"), REPLY, paid=True)
    second.close()
    third = Ledger(path)
    for key in ("a", "c", "a"):
        third.touch(key)
    assert (third.distinct, third.spent.tokens, third.spent.cost) == (2, 220, 1.0)
    assert third.counts["paid"] == 2

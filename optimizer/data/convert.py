"""Items as lines of our own format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from optimizer.data.item import Item, Task


def to_jsonl(items: Iterable[Item]) -> str:
    """One JSON line an item, which load_items reads back as the same item. Empty fields are left away."""
    return "".join(json.dumps(_record(item), ensure_ascii=False) + "\n" for item in items)


def _record(item: Item) -> dict[str, Any]:
    record = {name: value for name, value in asdict(item).items() if value not in (None, "", ())}
    if item.task is Task.CLAIM:
        del record["task"]
    else:
        record |= {"question": record.pop("claim"), "answer": record.pop("answers", ())}
    return record

"""Items as lines of our own format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from optimizer.data.item import Item, Task
from optimizer.data.questions import answers_as_given


def to_jsonl(items: Iterable[Item]) -> str:
    """One JSON line an item, which load_items reads back as the same item."""
    return "".join(json.dumps(item_record(item), ensure_ascii=False) + "\n" for item in items)


def item_record(item: Item) -> dict[str, Any]:
    """An item as a row of our own format, which is read back as the same item. Fields that say nothing are left out."""
    record = {name: value for name, value in asdict(item).items() if value not in (None, "", ())}
    if item.task is Task.CLAIM:
        del record["task"]
    else:
        del record["claim"]
        record.pop("answers", None)
        record |= {"question": item.claim, "answer": answers_as_given(item)}
    return record

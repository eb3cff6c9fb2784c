"""Items, and what is written about them, as lines of our own format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optimizer.data.formats.misinformation import Misinformation, passages
from optimizer.data.item import Item, Task
from optimizer.data.passages import Passage, beside, load_passages
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


def published_passages(format: str, path: Path, items: Iterable[Item], to: Path) -> list[Passage]:
    """What is published about the items of a file: beside it, or within a misinformation benchmark's own file.

    Args:
        format: the name of the format that the items were read in.
        path: the file or folder that they were read from.
        items: whose passages are wanted.
        to: the folder that they are for; passages that lie there already are left out.

    Raises:
        UserError: a passage is bad; the message names the file and the line.
    """
    ids = {item.id for item in items}
    if format == Misinformation.name:
        return list(passages(path, ids))
    if to.resolve() == beside(path).resolve():
        return []
    return [passage for passage in load_passages(beside(path)) if passage.item in ids]


def passages_jsonl(passages: Iterable[Passage]) -> str:
    """One JSON line a passage, as `load_passages` reads them."""
    return "".join(json.dumps(asdict(passage), ensure_ascii=False) + "\n" for passage in passages)

"""Writes a division of a data set as files: train, dev and test.jsonl in the toolkit's own format, and what they are."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optimizer.data.checks import by_cluster, label_counts
from optimizer.data.item import Item, items_hash
from optimizer.data.splits import SHARES, Sizes, Splits
from optimizer.errors import UserError
from optimizer.prompts.files import write_text

MANIFEST = "manifest.json"


def item_record(item: Item) -> dict[str, Any]:
    """An item as a row of our own format, which reads back as the same item; fields that say nothing are left out."""
    record = {name: value for name, value in asdict(item).items() if value not in ("", (), None)}
    return record if item.choices or item.answers else {name: record[name] for name in record if name != "task"}


def manifest_of(splits: Splits, source: str, seed: int, sizes: Sizes) -> dict[str, Any]:
    """What a division is: where from, how drawn, and of each split the items, clusters, labels and content hash."""
    parts: dict[str, tuple[Item, ...]] = {split: getattr(splits, split) for split in SHARES}
    everything = [item for members in parts.values() for item in members]
    return {
        "v": 1,
        "source": source,
        "seed": seed,
        "sizes": dict(sizes),
        "own_splits": any(item.split for item in everything),
        "hash": items_hash(everything),
        "splits": {
            split: {
                "file": f"{split}.jsonl",
                "items": len(members),
                "clusters": len(by_cluster(members)),
                "labels": dict(sorted(label_counts(members).items())),
                "hash": items_hash(members),
            }
            for split, members in parts.items()
        },
    }


def write_splits(folder: Path, splits: Splits, manifest: dict[str, Any]) -> None:
    """Write the files of a division into a new folder, all of them or none.

    Raises:
        UserError: the folder holds something already, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder}: exists already; choose another folder, or take that one away first")
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        for split in SHARES:
            write_text(temporary / f"{split}.jsonl", _lines(getattr(splits, split), split))
        write_text(temporary / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        os.replace(temporary, folder)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror or error}); choose another folder") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _lines(items: Iterable[Item], split: str) -> str:
    return "".join(json.dumps({**item_record(item), "split": split}, ensure_ascii=False) + "\n" for item in items)

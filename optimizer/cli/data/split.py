"""`optimizer data split`: train, dev and test as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimizer.cli import options

_SIZE = "Items at the most (0: all of its share), or its share of all items."


def command(
    data: Annotated[str, typer.Argument(help="A data file or folder, or the name of a shipped data set.")],
    to: Annotated[Path, typer.Option(help="Folder to write; must not hold anything yet.")],
    train: Annotated[str, typer.Option(help=_SIZE)] = "0",
    dev: Annotated[str, typer.Option(help=_SIZE)] = "0",
    test: Annotated[str, typer.Option(help=_SIZE)] = "0",
    format: options.Format = None,
    columns: options.Columns = None,
    label_map: options.LabelMap = None,
    seed: options.Seed = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Divide by cluster, labels in balance, and write train.jsonl, dev.jsonl, test.jsonl and manifest.json.

    Where the data has a split column, that division is kept. A run on the folder (--data DIR) uses these splits.
    """
    from optimizer.cli.console import print_json, print_table, say
    from optimizer.data.datafile import chosen_data
    from optimizer.data.split_files import manifest_of, write_splits
    from optimizer.data.splits import split_items

    settings = options.settings_from(
        config, None, columns, data=data, format=format, label_map=label_map, seed=seed,
        splits__train=train, splits__dev=dev, splits__test=test,
    )  # fmt: skip
    sizes = settings.splits.model_dump()
    items = chosen_data(settings).items
    splits = split_items(items, settings.seed, sizes)
    manifest = manifest_of(splits, settings.data, settings.seed, sizes)
    write_splits(to, splits, manifest)
    if as_json:
        print_json({"folder": str(to), **manifest})
        return
    parts = manifest["splits"]
    labels = sorted({label for part in parts.values() for label in part["labels"]})
    rows = [
        [name, part["items"], part["clusters"], *(part["labels"].get(label, 0) for label in labels), part["hash"]]
        for name, part in parts.items()
    ]
    print_table(f"{to}", ["split", "items", "clusters", *labels, "hash"], rows)
    left = len(items) - sum(part["items"] for part in parts.values())
    say(f"wrote {to}{f'; {left} of {len(items)} items are in no split' if left else ''}")

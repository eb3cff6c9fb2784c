"""The items that a run was made on, read again from its data file."""

from __future__ import annotations

import tomllib

from optimizer.config import Settings
from optimizer.data.datafile import chosen_data
from optimizer.data.item import Item, items_hash
from optimizer.debate.conditions import open_conditions
from optimizer.debate.protocol import Protocol
from optimizer.errors import UserError
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.runs.folder import RunFolder


def run_settings(run: RunFolder) -> Settings:
    """The settings that the run was begun with, whatever is set now."""
    return Settings.model_validate(tomllib.loads((run.path / "config.toml").read_text(encoding="utf-8")))


def data_settings(run: RunFolder) -> Settings:
    """Those of the run's settings that say what its items are; the others are at their defaults.

    So a run that was begun with settings that have gone since can still be read.
    """
    given = tomllib.loads((run.path / "config.toml").read_text(encoding="utf-8"))
    wanted = ("data", "format", "format_options", "columns", "label_map", "seed")
    return Settings.model_validate({name: given[name] for name in wanted if name in given})


def run_items(run: RunFolder) -> list[Item]:
    """All items of the run's data file, with the column map and labels of its settings.

    Raises:
        UserError: the file is gone or no longer readable.
    """
    return chosen_data(data_settings(run)).items


def run_item(run: RunFolder, identity: str) -> Item | None:
    """The item, or variant of one, that a debate of the run is about; None where the data has none of that id.

    Raises:
        UserError: the file is gone or no longer readable.
    """
    everything = run_items(run)
    found = next((item for item in everything if item.id == identity), None)
    if found is None and "@" in identity:
        found = next((item for item in _variants(run, everything) if item.id == identity), None)
    return found


def run_splits(run: RunFolder) -> dict[str, list[Item]]:
    """The items of each split that the run recorded (or of `items`, where it has no splits), as they were then.

    Where the run judged under conditions, these are the variants of its items.

    Raises:
        UserError: the data is gone or its items have changed, or a cluster is in two splits.
    """
    data = run.resolved()["data"]
    recorded = {name: data[name] for name in ("train", "dev", "test") if name in data} or {"items": data}
    everything = run_items(run)
    by_id = {item.id: item for item in everything}
    if any(item not in by_id for record in recorded.values() for item in record.get("items", ())):
        by_id |= {item.id: item for item in _variants(run, everything)}
    splits: dict[str, list[Item]] = {}
    owner: dict[str, str] = {}
    for name, record in recorded.items():
        wanted = record.get("items", list(by_id))
        missing = [item for item in wanted if item not in by_id]
        splits[name] = [by_id[item] for item in wanted if item in by_id]
        if missing or items_hash(splits[name]) != record["hash"]:
            what = f"item {missing[0]!r} is gone" if missing else "its items are not what they were"
            raise UserError(f"{run.path}: the data has changed since the run, {what}; restore the file, or make a new run")
        for item in splits[name]:
            if owner.setdefault(item.cluster, name) != name:
                raise UserError(
                    f"{run.path}: cluster {item.cluster!r} is in both {owner[item.cluster]} and {name}, so they are not "
                    "independent; give the items their clusters, and make a new run"
                )
    return splits


def _variants(run: RunFolder, items: list[Item]) -> list[Item]:
    """The items under the conditions of the run; nothing where it had none."""
    settings, prompts = run_settings(run), run.resolved().get("prompts", {})
    if not settings.search.conditions or "auto" in settings.search.conditions:
        return []
    texts = next((each for each in prompts.values() if isinstance(each, dict)), prompts)
    personas = [name for name in texts if name != SOURCE_SKEPTICISM]
    conditions = open_conditions(settings, settings.search.conditions, items, personas, Protocol.of(settings.protocol))
    return conditions.variants(filter(conditions.covers, items))

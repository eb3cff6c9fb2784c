"""The items that a run was made on, read again from its data file."""

from __future__ import annotations

import tomllib

from optimizer.config import Settings
from optimizer.data.item import Item
from optimizer.data.loaders import load_items
from optimizer.data.shipped import data_path
from optimizer.runs.folder import RunFolder


def run_items(run: RunFolder) -> list[Item]:
    """All items of the run's data file, with the column map and labels of its settings.

    Raises:
        UserError: the file is gone or no longer readable.
    """
    # Not through the environment: the run is what it was, whatever is set now.
    settings = Settings.model_validate(tomllib.loads((run.path / "config.toml").read_text(encoding="utf-8")))
    return load_items(data_path(settings.data), settings.columns, settings.label_map)

"""Where the data sets are that ship with the package."""

from __future__ import annotations

from pathlib import Path


def datasets_folder() -> Path:
    """The datasets/ folder: in the wheel inside the package, in a checkout beside it."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_shipped" / "datasets"
    return inside if inside.is_dir() else package.parent / "datasets"


def data_path(name: str) -> Path:
    """A path as given, or the folder of a shipped data set of that name."""
    shipped = datasets_folder() / name
    return shipped if not Path(name).exists() and "/" not in name and shipped.is_dir() else Path(name)

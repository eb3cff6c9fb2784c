"""Where data is that goes by a name: shipped data sets, and through `named` fetched and generated ones."""

from __future__ import annotations

from pathlib import Path


def datasets_folder() -> Path:
    """The datasets/ folder: in the wheel inside the package, in a checkout beside it."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_shipped" / "datasets"
    return inside if inside.is_dir() else package.parent / "datasets"


def data_path(name: str) -> Path:
    """A path as given, the folder of a shipped data set of that name, or the file of a fetched or generated one.

    Raises:
        UserError: the name is a benchmark's that is not fetched; says how to fetch it.
    """
    if Path(name).exists():
        return Path(name)
    shipped = datasets_folder() / name
    if "/" not in name and shipped.is_dir():
        return shipped
    from optimizer.data.named import named_path  # late: it loads the formats, and most data needs none of it

    return named_path(name) or Path(name)

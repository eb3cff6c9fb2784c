"""Examines the set-up: disk, weights, engine, and what a server can do."""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from optimizer.errors import UserError
from optimizer.models.catalogue import cache_folder, catalogue, embedded_model
from optimizer.models.endpoint import Endpoint, describe_endpoint
from optimizer.models.fetch import is_verified
from optimizer.models.llama_server import LlamaServer
from optimizer.models.probe import probe


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the examination; `found` says what is there, and what to do where it is not ok."""

    name: str
    ok: bool
    found: str


async def examine(base_url: str = "", model: str = "") -> list[Check]:
    """All checks. Without a base URL, the first embedded model that is fetched is started and probed."""
    checks = _local_checks()
    if base_url:
        try:
            return checks + await _server_checks(await describe_endpoint(base_url, model))
        except UserError as error:
            return [*checks, Check("server", False, str(error))]
    fetched = [entry for entry in catalogue().values() if is_verified(entry) and model in ("", entry.name)]
    if model:
        embedded_model(model)  # a wrong name is an error, not an empty table
    if not fetched:
        return [*checks, Check("server", True, "no embedded model is fetched yet; optimizer models fetch gets one")]
    with tempfile.TemporaryDirectory() as folder:
        try:
            with LlamaServer(fetched[0].path, fetched[0].name, Path(folder) / "server.log", 1, 2048) as server:
                return checks + await _server_checks(await describe_endpoint(server.base_url))
        except UserError as error:
            return [*checks, Check("server", False, str(error))]


def _local_checks() -> list[Check]:
    folder = cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free / 1e9
    need = max(entry.bytes for entry in catalogue().values()) / 1e9
    weights = ", ".join(f"{entry.name} {'ready' if is_verified(entry) else 'not fetched'}" for entry in catalogue().values())
    try:
        engine = Check("llama.cpp", True, f"xllamacpp {metadata.version('xllamacpp')}")
    except metadata.PackageNotFoundError:
        engine = Check("llama.cpp", False, "xllamacpp is not installed; pip install xllamacpp, or use --base-url")
    gpu = shutil.which("nvidia-smi")
    return [
        Check("python", sys.version_info >= (3, 11), sys.version.split()[0]),
        Check(
            "disk",
            free > need,
            f"{free:.1f} GB free at {existing}" + ("" if free > need else f"; the default model needs {need:.1f}"),
        ),
        Check("weights", True, weights),
        engine,
        Check(
            "gpu",
            True,
            "found" if gpu else "none: the embedded models run on the CPU; serve larger ones elsewhere and use --base-url",
        ),
    ]


async def _server_checks(endpoint: Endpoint) -> list[Check]:
    found = await probe(endpoint)
    where = f"{endpoint.model} on {endpoint.engine}" + (f", {endpoint.slots} slots" if endpoint.slots else "")
    if found.problem:
        return [Check("server", False, f"{where}: {found.problem}")]
    return [
        Check("server", True, where),
        Check("structured output", True, "yes" if found.schema else "no: answers are read by the tolerant parser"),
        Check("log-probabilities", True, "yes" if found.log_probabilities else "no: uncertainty by token entropy will not work"),
        Check("context length", True, f"{endpoint.context} tokens" if endpoint.context else "not told by the server"),
        Check("cached-token reporting", True, "yes" if found.cached_tokens else "no: cached tokens cannot be counted"),
        Check("speed", True, f"{found.generated_a_second:.0f} generated tokens a second in one call"),
    ]

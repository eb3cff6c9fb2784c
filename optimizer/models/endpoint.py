"""What a server is: which model it serves, by which engine, and what it can do."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any

import aiohttp

from optimizer.errors import UserError

API_KEY_VARIABLE = "OPTIMIZER_API_KEY"
_PROBE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server of one model.

    `identity` stands for the model in cache keys. `slots` is how many calls a llama.cpp server works on at once, 0 where
    the engine batches by itself. `context` is in tokens, 0 where unknown. `api_key` is sent and never shown.
    """

    base_url: str
    model: str
    identity: str
    engine: str = "other"
    slots: int = 0
    context: int = 0
    schema_support: bool = True

    @property
    def api_key(self) -> str:
        return os.environ.get(API_KEY_VARIABLE) or os.environ.get("OPENAI_API_KEY", "")

    @property
    def key_variable(self) -> str:
        """The environment variable that the key is read from."""
        if self.engine == "litellm":
            return f"the key of {self.model.partition('/')[0]} in the environment, as litellm reads it"
        return API_KEY_VARIABLE

    @property
    def headers(self) -> dict[str, str]:
        """The HTTP headers of a request."""
        return {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}


async def describe_endpoint(base_url: str, model: str = "") -> Endpoint:
    """Ask a running server what it is.

    Args:
        base_url: with or without the trailing /v1.
        model: the served name; empty takes the only one there is.

    Raises:
        UserError: nothing answers there, the key is refused, or the model is not served.
    """
    url = base_url.rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise UserError(f"--base-url {base_url!r} is no URL; give something like http://localhost:8000/v1")
    url = url if url.endswith("/v1") else url + "/v1"
    bare = Endpoint(url, model, "")
    timeout = aiohttp.ClientTimeout(total=_PROBE_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, headers=bare.headers) as session:
        listing = await _get(session, f"{url}/models")
        if listing is None or not isinstance(listing.get("data"), list) or not listing["data"]:
            raise UserError(f"{url}/models does not list a model; is this an OpenAI-compatible server?")
        entry = _served(listing["data"], model, url)
        properties = await _get(session, f"{url[:-3]}/props", required=False) or {}
        version = await _get(session, f"{url[:-3]}/version", required=False) or {}
    owner = str(entry.get("owned_by", ""))
    engine = "llama.cpp" if "total_slots" in properties else "vllm" if owner == "vllm" else "other"
    settings = properties.get("default_generation_settings") or {}
    return Endpoint(
        base_url=url,
        model=str(entry["id"]),
        identity=_identity(entry, engine, str(version.get("version", ""))),
        engine=engine,
        slots=int(properties.get("total_slots") or 0),
        context=int(settings.get("n_ctx") or entry.get("max_model_len") or 0),
    )


def _served(entries: list[dict[str, Any]], model: str, url: str) -> dict[str, Any]:
    names = [str(entry.get("id")) for entry in entries]
    if not model and len(entries) == 1:
        return entries[0]
    if model in names:
        return entries[names.index(model)]
    what = f"does not serve {model!r}" if model else "serves several models; name one with --model"
    raise UserError(f"{url} {what}; it serves {', '.join(names[:12])}")


def _identity(entry: dict[str, Any], engine: str, version: str) -> str:
    """Name, revision and engine as far as the server tells; never its URL, so a moved server keeps its cache."""
    known = {name: entry.get(name) for name in ("id", "root", "owned_by")}
    meta = {name: value for name, value in (entry.get("meta") or {}).items() if name != "n_ctx"}
    record = json.dumps([known, meta, engine, version], sort_keys=True)
    return f"served:{entry['id']}:{hashlib.sha256(record.encode()).hexdigest()[:16]}"


async def _get(session: aiohttp.ClientSession, url: str, required: bool = True) -> dict[str, Any] | None:
    try:
        async with session.get(url) as response:
            if response.status == 200:
                body = await response.json(content_type=None)
                return body if isinstance(body, dict) else None
            if required and response.status in (401, 403):
                raise UserError(f"{url}: the server refuses the key (HTTP {response.status}); set {API_KEY_VARIABLE}")
            if required:
                raise UserError(f"{url}: HTTP {response.status}; is this an OpenAI-compatible server?")
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        if required:
            raise UserError(f"{url}: no answer ({type(error).__name__}); start the server, or check --base-url") from error
    return None

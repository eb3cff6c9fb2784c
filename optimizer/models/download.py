"""Brings one file from the network into a partial file, and goes on where an earlier try stopped.

What a file has to hash to, and where it goes when it is complete, is its caller's matter.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from optimizer.errors import UserError

Report = Callable[[str], None]
_SPARE_BYTES = 200_000_000  # a wheel or an archive in transit, and room to breathe
_TRIES = 3  # in a row that bring nothing new
_SECONDS = 30


class Unreachable(Exception):
    """A file cannot be had from where it was looked for; the reason in words."""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_room(folder: Path, needed: int, name: str) -> None:
    """Raise UserError where the disk has no room for so many more bytes."""
    needed += _SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"{folder}: {free / 1e9:.1f} GB free, but {name} needs {needed / 1e9:.1f} GB; "
            "free some space, or set XDG_CACHE_HOME to a larger disk"
        )


def from_hub(
    repo: str, file: str, partial: Path, report: Report, kind: str = "model", revision: str | None = None, size: str = ""
) -> None:
    """Download a file of the model hub, with the user's own login where the hub asks for one.

    Raises:
        Unreachable: the hub, the file or the permission is not there.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import huggingface_hub  # slow to import, and only needed here

    staging = partial.with_suffix(".hub")
    try:
        # One small request decides, so that a closed network costs seconds and not the client's many retries.
        url = huggingface_hub.hf_hub_url(repo, file, repo_type=kind, revision=revision)
        huggingface_hub.get_hf_file_metadata(url, timeout=10)
        report(f"fetching {file}{size} from the model hub")
        found = huggingface_hub.hf_hub_download(repo, file, repo_type=kind, revision=revision, local_dir=staging)
    except Exception as error:  # the client raises its own, httpx's and OS errors; all mean the same to us
        reason = str(error).splitlines()[0][:100] if str(error) else "no reason given"
        raise Unreachable(f"{type(error).__name__}: {reason}") from error
    os.replace(found, partial)
    shutil.rmtree(staging, ignore_errors=True)


def from_url(url: str, partial: Path, report: Report) -> None:
    """Download over HTTP. What `partial` holds already is kept if the server says that its file is still the same.

    Raises:
        Unreachable: there is no network, the server has no such file, or it broke off again and again; `partial` then holds
            what came.
    """
    fruitless = 0
    while True:
        before = _size(partial)
        reason = _read_on(url, partial)
        if not reason:
            _note(partial).unlink(missing_ok=True)
            return
        fruitless = 0 if _size(partial) > before else fruitless + 1
        if fruitless >= _TRIES:
            raise Unreachable(reason)
        report(f"{reason} after {_size(partial) / 1e6:.1f} MB; trying again")


def _read_on(url: str, partial: Path) -> str:
    """One request. Empty if the file is complete, else why it broke off; what would not be mended by trying raises."""
    tag, have = _tag(url, partial), _size(partial)
    headers = {"User-Agent": "panel-prompt-optimizer"}
    if have and tag:
        headers |= {"Range": f"bytes={have}-", "If-Range": tag}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=_SECONDS) as answer:
            return _receive(url, partial, answer, have)
    except urllib.error.HTTPError as error:
        if error.code == 416:
            partial.unlink(missing_ok=True)  # what is there is longer than the file
        elif error.code < 500 and error.code not in (408, 429):
            raise Unreachable(f"the server answers {error.code} {error.reason}") from error
        return f"the server answers {error.code} {error.reason}"
    except urllib.error.URLError as error:
        raise Unreachable(f"no connection: {error.reason}") from error
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        return f"the connection broke ({type(error).__name__})"


def _receive(url: str, partial: Path, answer: http.client.HTTPResponse, have: int) -> str:
    if "text/html" in answer.headers.get("Content-Type", ""):
        raise Unreachable("the server sends a web page where the file should be")
    goes_on = answer.status == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
    start = have if goes_on else 0
    announced = answer.headers.get("Content-Length")
    if announced:
        check_room(partial.parent, int(announced), partial.name)
    # A weak tag says that two files mean the same, not that their bytes are.
    tag = answer.headers.get("ETag", "")
    tag = answer.headers.get("Last-Modified", "") if tag.startswith("W/") or not tag else tag
    _note(partial).write_text(json.dumps({"url": url, "tag": tag}), encoding="utf-8")
    with partial.open("ab" if goes_on else "wb") as target:
        shutil.copyfileobj(answer, target, 1 << 16)
    complete = not announced or _size(partial) == start + int(announced)
    return "" if complete else "the connection ended early"


def _tag(url: str, partial: Path) -> str:
    """What the server called the file that `partial` is the beginning of; empty where it is not known."""
    try:
        note = json.loads(_note(partial).read_text(encoding="utf-8"))
        return str(note["tag"]) if note["url"] == url else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _note(partial: Path) -> Path:
    return partial.with_name(partial.name + ".from")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0

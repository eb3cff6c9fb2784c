"""Takes files out of .zip, .tar and .tar.gz archives, by name or a whole folder of them."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

Open = Callable[[], IO[bytes]]


class BadArchive(Exception):
    """An archive cannot be read; the reason in words."""


def unpack(archive: Path, kind: str, members: dict[str, str], target: Path) -> list[str]:
    """Copy members into `target`.

    Args:
        archive: the file.
        kind: its name or address, which ends in .zip, .tar, .tar.gz or .tgz.
        members: name in the archive -> name under `target`; names that end in / are folders, taken with all files in them.
        target: a folder of the caller's own.

    Returns:
        The names under `target` that were written; members that are not in the archive give none. None leaves the folder,
        whatever the archive calls its members.

    Raises:
        BadArchive: it is no such archive, or was cut off.
    """
    written: list[str] = []
    try:
        with _opened(archive, kind) as names:
            for member, name in members.items():
                for inner, outer in _matches(names, member, name):
                    path = target / outer
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with names[inner]() as source, path.open("wb") as copy:
                        shutil.copyfileobj(source, copy, 1 << 20)
                    written.append(outer)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise BadArchive(f"is no readable archive ({error})") from error
    return written


def _matches(names: dict[str, Open], member: str, name: str) -> Iterator[tuple[str, str]]:
    if not member.endswith("/"):
        if member in names:
            yield member, name
        return
    for inner in names:
        rest = inner.removeprefix(member).split("/")
        # Hidden files are what an archiver adds of its own.
        if inner.startswith(member) and not any(part.startswith(".") or not part for part in rest):
            yield inner, name + "/".join(rest)


@contextmanager
def _opened(archive: Path, kind: str) -> Iterator[dict[str, Open]]:
    """The plain files of an archive: name -> how to read it."""
    if kind.endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            infos = [info for info in zipped.infolist() if not info.is_dir()]
            yield {info.filename.removeprefix("./"): _zip_reader(zipped, info) for info in infos}
    else:
        with tarfile.open(archive) as tarred:
            members = [member for member in tarred.getmembers() if member.isfile()]
            yield {member.name.removeprefix("./"): _tar_reader(tarred, member) for member in members}


def _zip_reader(zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> Open:
    return lambda: zipped.open(info)


def _tar_reader(tarred: tarfile.TarFile, member: tarfile.TarInfo) -> Open:
    def read() -> IO[bytes]:
        stream = tarred.extractfile(member)
        if stream is None:
            raise tarfile.TarError(f"{member.name} is no file")
        return stream

    return read

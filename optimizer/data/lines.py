"""Text files as numbered lines: UTF-8 only, gzip where the name ends in .gz, every fault with its file, line and byte.

Only LF, CRLF and CR end a line. The separators U+2028, U+2029 and U+0085 are characters like any other.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from optimizer.errors import UserError

_MARK = b"\xef\xbb\xbf"
# UTF-32 stands before UTF-16, whose little-endian mark is the beginning of its own.
_OTHER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32 (little-endian)",
    b"\x00\x00\xfe\xff": "UTF-32 (big-endian)",
    b"\xff\xfe": "UTF-16 (little-endian)",
    b"\xfe\xff": "UTF-16 (big-endian)",
}
_OTHER_KINDS = {b"\x1f\x8b": "a gzip file", b"PAR1": "a Parquet file", b"PK\x03\x04": "a zip archive (or a spreadsheet)"}
_HEAD = 4_096
_NUL_SHARE = 0.3  # of the bytes of one parity: Latin text in UTF-16 is nearly one half NULs


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers from 1, each with its line end, read one at a time.

    A UTF-8 byte-order mark at the beginning is dropped.

    Raises:
        UserError: the file is no UTF-8 (the message says which encoding it looks like, and the byte), or no readable gzip.
    """
    number = start = 0
    with _opened(path) as file:
        _refuse_other_kinds(path, file)
        try:
            for raw in file:
                for piece in raw.splitlines(keepends=True) if b"\r" in raw else (raw,):
                    number += 1
                    try:
                        text = piece.decode()
                    except UnicodeDecodeError as error:
                        raise UserError(f"{path}, line {number}: {_encoding_fault(piece, start, error.start)}") from error
                    yield number, text.removeprefix("\ufeff") if start == 0 else text
                    start += len(piece)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UserError(f"{path}: is damaged after line {number} ({error}); copy or download it again") from error


def text_pieces(path: Path, size: int) -> Iterator[str]:
    """The text of a file in pieces of about `size` bytes, for files whose lines may be as long as they; as `text_lines` else."""
    newlines = start = 0
    rest = b""
    with _opened(path) as file:
        _refuse_other_kinds(path, file)
        try:
            while True:
                read = file.read(size)
                data = rest + read
                try:
                    text, used = codecs.utf_8_decode(data, "strict", not read)
                except UnicodeDecodeError as error:
                    begin = data.rfind(b"\n", 0, error.start) + 1
                    line = data[begin:].partition(b"\n")[0]
                    number = newlines + data.count(b"\n", 0, error.start) + 1
                    fault = _encoding_fault(line, start + begin, error.start - begin)
                    raise UserError(f"{path}, line {number}: {fault}") from error
                if text:
                    yield text.removeprefix("\ufeff") if start == 0 else text
                newlines += text.count("\n")
                start += used
                rest = data[used:]
                if not read:
                    return
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UserError(f"{path}: is damaged after line {newlines} ({error}); copy or download it again") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = cast("BinaryIO", gzip.GzipFile(path)) if path.suffix.lower() == ".gz" else path.open("rb")
    except (PermissionError, IsADirectoryError) as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    with file:
        yield file


def _refuse_other_kinds(path: Path, file: BinaryIO) -> None:
    """Raise for what a UTF-8 decoder would not notice, or would blame on one byte. The file is rewound."""
    try:
        head = file.read(_HEAD)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path}: is no gzip file ({error}); name it without .gz, or copy it again") from error
    file.seek(0)
    for magic, kind in _OTHER_KINDS.items():
        if head.startswith(magic):
            raise UserError(f"{path}: is {kind}, not text; name it for what it is, or unpack it")
    for mark, encoding in _OTHER_MARKS.items():
        if head.startswith(mark):
            raise UserError(f"{path}, line 1: byte 0 is not UTF-8 but the byte-order mark of {encoding}; {_save_as(encoding)}")
    for first, encoding in ((1, "UTF-16 (little-endian)"), (0, "UTF-16 (big-endian)")):
        if len(head) > 3 and head[first::2].count(0) > _NUL_SHARE * len(head[first::2]) and not head[1 - first :: 2].count(0):
            raise UserError(f"{path}, line 1: byte {first} is not UTF-8 text; this looks like {encoding}; {_save_as(encoding)}")


def _encoding_fault(raw: bytes, start: int, at: int) -> str:
    """What is wrong with a line that begins at byte `start` of the file: its byte `at`, and which encoding it looks like."""
    where = f"byte {start + at} (0x{raw[at]:02x}) is not UTF-8"
    if _is_cut(raw[at:]):
        return f"{where}: the file ends in the middle of a character; copy or download it again"
    if any(ord(character) > 127 for character in raw.decode(errors="ignore")):
        return f"{where}, though other characters of the line are: it is damaged, or of two encodings; mend this line"
    high = {byte for byte in raw if byte > 127}
    if min(high) >= 0xA0:
        return f"{where}; this looks like latin-1 (cp1252 has the same characters there); {_save_as('latin-1')}"
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return f"{where}, and neither cp1252, latin-1 nor UTF-16; find out how the file was written, and save it as UTF-8"
    return f"{where}; this looks like cp1252 (Windows); {_save_as('cp1252')}"


def _is_cut(raw: bytes) -> bool:
    """Whether these bytes are the beginning of a character and nothing else."""
    try:
        return codecs.utf_8_decode(raw, "strict", False)[1] == 0
    except UnicodeDecodeError:
        return False


def _save_as(encoding: str) -> str:
    name = encoding.partition(" (")[0].lower()
    return f"save it as UTF-8 (iconv -f {name} -t utf-8 FILE > NEW)"

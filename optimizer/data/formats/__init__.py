"""The published formats of benchmarks, one small module each, and how a file's format is recognised.

Public names: FORMATS, OWN, recognise, format_named, sample_of. A new format is one module and one line in PUBLISHED.
"""

from __future__ import annotations

import tomllib
from itertools import islice
from pathlib import Path

from optimizer.data.formats.aggrefact import AggreFact
from optimizer.data.formats.base import Format, Sample
from optimizer.data.formats.composed import Composed
from optimizer.data.formats.fever_symmetric import FeverSymmetric
from optimizer.data.formats.feverous import Feverous
from optimizer.data.formats.fool_me_twice import FoolMeTwice
from optimizer.data.formats.halueval import HaluEval
from optimizer.data.formats.own import Own
from optimizer.data.formats.ragtruth import RagTruth
from optimizer.data.formats.scifact import SciFact, SciFactMirror
from optimizer.data.formats.vitaminc import VitaminC
from optimizer.data.formats.wice import Wice, WiceOracle
from optimizer.data.rows import read_rows
from optimizer.errors import UsageError, UserError

PUBLISHED: tuple[Format, ...] = (
    Composed(),
    VitaminC(),
    Wice(),
    WiceOracle(),
    RagTruth(),
    HaluEval(),
    SciFact(),
    SciFactMirror(),
    FeverSymmetric(),
    Feverous(),
    FoolMeTwice(),
    AggreFact(),
)
OWN: Format = Own(PUBLISHED)
FORMATS: tuple[Format, ...] = (OWN, *PUBLISHED)
_SAMPLE = 5  # records that are looked at


def format_named(name: str) -> Format:
    """The format of that name. Raises UsageError listing the known ones."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise UsageError(f"unknown format {name!r}; known are {', '.join(known.name for known in FORMATS)}")


def recognise(path: Path, forced: str = "") -> Format:
    """The format of a file, from its kind and its first records, or the one that is asked for.

    Raises:
        UserError: the file cannot be read, or is of no format or of several; the message lists what it saw.
    """
    if forced:
        return format_named(forced)
    sample = sample_of(path)
    found = [known for known in FORMATS if known.recognises(sample)]
    if len(found) > 1:
        names = " and as ".join(known.name for known in found)
        raise UserError(f"{path}: is recognised as {names}; say which it is with --format NAME")
    if found or not sample.rows:
        return found[0] if found else OWN
    raise UserError(
        f"{path}: is of no known format; its columns are {', '.join(sorted(sample.columns))}. Formats are "
        f"{', '.join(known.name for known in FORMATS)}; force one with --format NAME, or say with --columns FIELD=NAME "
        "which column is the claim and which the evidence"
    )


def sample_of(path: Path) -> Sample:
    """The beginning of a file. Raises UserError if it cannot be read."""
    if path.suffix.lower() == ".toml":
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: cannot be read as TOML ({error})") from error
        return Sample(path, frozenset(table), (table,))
    rows = tuple(row for _, row in islice(read_rows(path), _SAMPLE))
    return Sample(path, frozenset(column for row in rows for column in row), rows)

"""The published formats of benchmarks, one small module each, and how a file's format is recognised.

Public names: FORMATS, OWN, recognise, format_named, sample_of. A new format is one module and one line in PUBLISHED.
"""

from __future__ import annotations

from pathlib import Path

from optimizer.data.formats.aggrefact import AggreFact
from optimizer.data.formats.base import Format
from optimizer.data.formats.composed import Composed
from optimizer.data.formats.fever_symmetric import FeverSymmetric
from optimizer.data.formats.feverous import Feverous
from optimizer.data.formats.fool_me_twice import FoolMeTwice
from optimizer.data.formats.halueval import HaluEval
from optimizer.data.formats.own import Own
from optimizer.data.formats.questions import QUESTION_FORMATS
from optimizer.data.formats.ragtruth import RagTruth
from optimizer.data.formats.sample import data_files, sample_of
from optimizer.data.formats.scifact import SciFact, SciFactMirror
from optimizer.data.formats.vitaminc import VitaminC
from optimizer.data.formats.wice import Wice, WiceOracle
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
    *QUESTION_FORMATS,
)
OWN: Format = Own(PUBLISHED)
FORMATS: tuple[Format, ...] = (OWN, *PUBLISHED)


def format_named(name: str) -> Format:
    """The format of that name. Raises UsageError listing the known ones."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise UsageError(f"unknown format {name!r}; known are {', '.join(known.name for known in FORMATS)}")


def recognise(path: Path, forced: str = "") -> Format:
    """The format of a file, from its kind and its first records, or the one that is asked for; of a folder, that of its files.

    Raises:
        UserError: the file cannot be read, or is of no format or of several; the message lists what it saw.
    """
    if forced:
        return format_named(forced)
    if path.is_dir():
        return _of_folder(path)
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


def _of_folder(folder: Path) -> Format:
    files = data_files(folder)
    samples, unread = [], None
    for file in files:
        try:
            samples.append(sample_of(file))
        except UserError as error:  # a manifest, say; an error only where nothing else is found
            unread = error
    found = [known for known in PUBLISHED if any(known.recognises(sample) for sample in samples)]
    if len(found) == 1:
        return found[0]
    if not found and any(OWN.recognises(sample) for sample in samples):
        return OWN
    if not found and unread is not None:
        raise unread
    there = ", ".join(file.name for file in files[:8]) or "no data file"
    what = f"files of {' and '.join(known.name for known in found)}" if found else "no items.jsonl and no published benchmark"
    raise UserError(f"{folder}: is a folder with {what} (it has {there}); give one of its files")

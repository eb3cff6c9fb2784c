"""The seal register: every contrast that was ever opened on a test set, kept beside the runs.

A test set that was looked at ten times is no longer sealed; the register remembers, whatever happens to the run folders.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from optimizer.errors import UserError
from optimizer.stats.multiplicity import holm

_FILE = "seal.jsonl"
OFTEN = 10  # contrasts on one test set from which a run says that it has been opened often


@dataclass(frozen=True, slots=True)
class Contrast:
    """One comparison made on a test set: `test_set` is its content hash, `p` the raw two-sided p."""

    test_set: str
    run: str
    baseline: str
    challenger: str
    items: int
    difference: float
    p: float
    opened: str = ""


@dataclass(frozen=True, slots=True)
class Opening:
    """A contrast, and its p corrected for all that were ever opened on the same test set."""

    contrast: Contrast
    p_holm: float


class SealRegister:
    """The register of a runs folder."""

    def __init__(self, root: Path) -> None:
        self.path = root / _FILE

    def contrasts(self, test_set: str = "") -> list[Contrast]:
        """All contrasts in the order of opening, of one test set if named."""
        if not self.path.exists():
            return []
        found = []
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found.append(Contrast(**json.loads(line)))
            except (ValueError, TypeError) as error:
                raise UserError(f"{self.path}, line {number}: is no entry of the seal register; restore the file") from error
        return [contrast for contrast in found if not test_set or contrast.test_set == test_set]

    def openings(self, test_set: str) -> list[Opening]:
        """All contrasts of a test set, each with its p corrected by Holm over all of them."""
        found = self.contrasts(test_set)
        adjusted = holm([contrast.p for contrast in found])
        return [Opening(contrast, p) for contrast, p in zip(found, adjusted, strict=True)]

    def test_sets(self) -> list[str]:
        """The test sets that were ever opened, in the order of their first opening."""
        return list(dict.fromkeys(contrast.test_set for contrast in self.contrasts()))

    def enter(self, contrast: Contrast) -> None:
        """Write a contrast down, once: the same run and pair on the same test set is the same opening."""
        same = ("test_set", "run", "baseline", "challenger")
        for known in self.contrasts(contrast.test_set):
            if all(getattr(known, name) == getattr(contrast, name) for name in same):
                return
        record = asdict(contrast) | {"opened": contrast.opened or datetime.now().isoformat(timespec="seconds")}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # One write of one line in append mode: two runs that end together cannot mix their entries.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, (json.dumps(record) + "\n").encode())
        finally:
            os.close(descriptor)


def often_opened(register: SealRegister, test_set: str) -> str:
    """What to say of a test set that was opened often, or an empty string."""
    count = len(register.contrasts(test_set))
    if count < OFTEN:
        return ""
    return (
        f"{count} contrasts were opened on this test set, so a raw p of .05 means little there; `optimizer seal` corrects for "
        "all of them, and fresh items would serve better"
    )

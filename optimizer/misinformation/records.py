"""The records: what was said on one item in one arm under one seed, all that readings and figures are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from optimizer.debate.extract import Extracted, Status
from optimizer.errors import UserError
from optimizer.runs.events import read_events
from optimizer.runs.folder import RunFolder

if TYPE_CHECKING:
    from pydantic import TypeAdapter

KIND, EVENT = "misinform", "transcript"


class Role(StrEnum):
    """What an utterance is: a contribution, a final answer, a vote, or a sample of a model alone.

    REMARK is what a verifier says in the discussion, LIST what it lists before answers are given.
    """

    DRAFT = "draft"
    REMARK = "remark"
    LIST = "list"
    FINAL = "final"
    VOTE = "vote"
    SAMPLE = "sample"


@dataclass(frozen=True, slots=True)
class Utterance:
    """One call's answer. `turn` counts from 1; `slot` is the agent's place in the order, -1 for the verifier.

    `status` and `answer` are what was read, `right` whether that is right. `again` marks the constrained second question, which
    takes the place of the answer before it. `tokens` were read and written, cached or not.
    """

    role: Role
    turn: int
    slot: int
    agent: str
    key: str
    text: str
    finish_reason: str
    tokens: int
    status: Status = Status.NONE
    answer: str = ""
    right: bool = False
    again: bool = False

    @property
    def found(self) -> Extracted:
        """What was read."""
        return Extracted(self.status, self.answer)


@dataclass(frozen=True, slots=True)
class Exposure:
    """What the exposed slots were shown. `intended` is the answer that it speaks for, canonical, or empty.

    `names_answer` says whether it names that verbatim; `verified` whether its judges agree that it does what it should, None
    where too few judged it.
    """

    slots: tuple[int, ...]
    kind: str
    style: str
    provenance: str
    intended: str
    words: int
    names_answer: bool
    verified: bool | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """One item in one arm under one seed.

    `arm` is the arm's id, `sample` the seed. `agreed` is the turn that ends the discussion for consensus; 0 outside
    debates. A `failure` is a call without an answer: such a transcript is missing, owed on resume, and never scored.
    """

    item: str
    cluster: str
    arm: str
    sample: int
    utterances: tuple[Utterance, ...]
    exposure: Exposure | None = None
    agreed: int = 0
    failure: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.failure)

    @property
    def key(self) -> str:
        """Its identity in the event log."""
        return transcript_key(self.arm, self.item, self.sample)

    @property
    def exposed(self) -> tuple[int, ...]:
        """The slots that were shown a passage."""
        return self.exposure.slots if self.exposure else ()

    def said(self, role: Role, turn: int = 0) -> list[Utterance]:
        """The utterances of a role, in one turn if given, each second question in the place of the answer before it."""
        found: dict[tuple[int, int], Utterance] = {}
        for each in self.utterances:
            if each.role is role and (not turn or each.turn == turn):
                found[each.turn, each.slot] = each
        return list(found.values())

    def stances(self, turn: int) -> dict[int, Utterance]:
        """What every slot said in a turn of the discussion, as it was said: second questions are left out."""
        return {each.slot: each for each in self.utterances if each.role is Role.DRAFT and each.turn == turn and not each.again}

    @property
    def turns(self) -> int:
        """How many turns the discussion had."""
        return max((each.turn for each in self.utterances if each.role is Role.DRAFT), default=0)

    def to_json(self) -> dict[str, Any]:
        """Plain data for the event log."""
        return asdict(self)


def transcript_key(arm: str, item: str, sample: int) -> str:
    """The identity of a transcript, known before it is held."""
    return f"{arm}:{item}:{sample}"


def transcript_from_json(record: Mapping[str, Any]) -> Transcript:
    """Read a transcript from the event log. Raises ValueError where the record is none."""
    return _adapter().validate_python(dict(record))


def each_record(run: RunFolder) -> Iterator[Transcript]:
    """The transcripts of a run, in the order in which they ended."""
    if run.events.exists():
        for event in read_events(run.events, EVENT):
            yield transcript_from_json(event[EVENT])


def read_records(run: RunFolder) -> list[Transcript]:
    """All transcripts of a run by arm, item and seed, whichever ended first.

    Raises:
        UserError: the run is of another kind.
    """
    kind = run.resolved().get("kind")
    if kind != KIND:
        raise UserError(f"{run.path}: is a run of kind {kind}; give one that `optimizer misinform` made")
    return sorted(each_record(run), key=lambda each: (each.arm, each.item, each.sample))


@cache
def _adapter() -> TypeAdapter[Transcript]:
    from pydantic import TypeAdapter

    return TypeAdapter(Transcript)

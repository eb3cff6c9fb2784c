"""The record of a debate: its turns, and what it decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from optimizer.data.item import Item
from optimizer.debate.extract import is_right
from optimizer.debate.verdict import Answer, Outcome, Verdict

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Turn:
    """One persona's answer in one round. `key` is the call's identity; `reasoning` is stored and never parsed.

    Where an answer that could not be read was asked for once more, `second_key` and `second_text` are of that call.
    """

    persona: str
    round: int
    key: str
    text: str
    finish_reason: str
    verdict: Verdict
    reasoning: str = ""
    second_key: str = ""
    second_text: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The identities of the calls that it took."""
        return (self.key, self.second_key) if self.second_key else (self.key,)


@dataclass(frozen=True, slots=True)
class Debate:
    """One item judged by one panel under one seed.

    `ballots` are the secret votes that followed a round, where the panel held any; nobody hears of them.
    `decision` is a label, or the canonical answer to a question; None where there was none. `rule` says which rule decided.
    `failure` is set when a call got no answer: such a debate is missing, is owed on resume, and is never scored.
    """

    item: str
    candidate: str
    sample: int
    turns: tuple[Turn, ...]
    decision: Answer | None = None
    rule: str = ""
    failure: str = ""
    ballots: tuple[Turn, ...] = ()

    @property
    def answers(self) -> tuple[Turn, ...]:
        """Whatever was answered: turns and secret votes."""
        return (*self.turns, *self.ballots)

    @property
    def keys(self) -> tuple[str, ...]:
        """The identities of the calls that it took."""
        return tuple(key for turn in self.answers for key in turn.keys)

    @property
    def failed(self) -> bool:
        return bool(self.failure)

    def score(self, item: Item) -> float | None:
        """1 if right, 0 if wrong or without a decision, None if failed."""
        return None if self.failed else float(is_right(self.decision, item))

    def round_verdicts(self, number: int) -> dict[str, Verdict]:
        """The verdicts of one round by persona."""
        return {turn.persona: turn.verdict for turn in self.turns if turn.round == number}

    def deciding(self, number: int) -> dict[str, Verdict]:
        """What decides after a round, by persona: the secret votes where there were any, else the verdicts."""
        return deciding(self.turns, self.ballots, number)

    @property
    def last_round(self) -> int:
        return max((turn.round for turn in self.turns), default=0)

    @property
    def outcome(self) -> Outcome:
        """ok with a decision, abstained without one, failed where a call failed."""
        if self.failed:
            return Outcome.FAILED
        return Outcome.OK if self.decision is not None else Outcome.ABSTAINED

    def to_json(self) -> dict[str, Any]:
        """Plain data for the event log."""
        return asdict(self)


def deciding(turns: Sequence[Turn], ballots: Sequence[Turn], number: int) -> dict[str, Verdict]:
    """What decides after a round, by persona: the secret votes where there were any, else the verdicts."""
    cast = [turn for turn in ballots if turn.round == number]
    return {turn.persona: turn.verdict for turn in cast or turns if turn.round == number}


def debate_from_json(record: Mapping[str, Any]) -> Debate:
    """Read a debate from the event log. Raises ValueError where the record is not one."""
    return _adapter().validate_python(dict(record))


@cache
def _adapter() -> TypeAdapter[Debate]:
    from pydantic import TypeAdapter

    return TypeAdapter(Debate)

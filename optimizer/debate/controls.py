"""The controls beside a panel: the same model alone, and its self-consistency at equal calls.

Without them a panel effect cannot be told from a model effect. Their records are debates with one voice, "judge".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum
from functools import partial

from optimizer.data.item import Item
from optimizer.debate.executor import DebateExecutor, ask_turn, best_supported, drain
from optimizer.debate.records import Debate, Turn
from optimizer.debate.render import render_claim_alone, render_turn
from optimizer.models.chat import CallTag, ChatRequest
from optimizer.models.transport import CallFailed

JUDGE = "judge"
_SELF_CONSISTENCY_TEMPERATURE = 0.7


class Control(StrEnum):
    """SINGLE asks once at the panel's temperature; SELF_CONSISTENCY asks as often as a debate does, at .7.

    CLAIM_ONLY asks once and hides the evidence: what it gets right above chance, a data set gives away by its claims alone, or of
    questions, with their choices if they have some, the model knows by itself.
    """

    SINGLE = "single"
    SELF_CONSISTENCY = "self-consistency"
    CLAIM_ONLY = "claim-only"

    def answers(self, answers: int) -> int:
        """How many answers an item takes, beside a panel whose debates have so many."""
        return answers if self is Control.SELF_CONSISTENCY else 1


async def run_control(
    executor: DebateExecutor,
    control: Control,
    items: Iterable[Item],
    personas: int,
    on_done: Callable[[Debate], None],
    sample: int = 0,
) -> None:
    """Judge items with a control; nothing is kept.

    Args:
        executor: its protocol gives question, words and fields.
        control: which one.
        items: what to judge.
        personas: of the panel that it stands beside; fixes the number of samples.
        on_done: hears of each as it ends.
        sample: which repeat.
    """

    async def one(item: Item) -> None:
        held = [await _judge(executor, control, piece, samples, sample) for piece in executor.pieces(item)]
        on_done(held[0] if len(held) == 1 else best_supported(held))

    samples = control.answers(executor.protocol.answers(personas))
    await drain((partial(one, item) for item in items), executor.in_flight)


async def _judge(executor: DebateExecutor, control: Control, item: Item, samples: int, repeat: int) -> Debate:
    protocol = executor.protocol
    messages = render_claim_alone(item, protocol) if control is Control.CLAIM_ONLY else render_turn(item, protocol, {}, "")
    turns: list[Turn] = []
    try:
        for index in range(repeat * samples, (repeat + 1) * samples):
            sampling = protocol.sampling(index, item)
            if control is Control.SELF_CONSISTENCY:
                sampling = replace(sampling, temperature=_SELF_CONSISTENCY_TEMPERATURE)
            request = ChatRequest(messages, sampling.apart(item.id), protocol.schema_for(item), index)
            turns.append(await ask_turn(executor.client, request, CallTag("control", control, item.id, JUDGE, 1), item, protocol))
    except CallFailed as failure:
        return Debate(item.id, control, repeat, tuple(turns), failure=str(failure) or "no answer")
    votes = Counter(turn.verdict.vote for turn in turns if turn.verdict.vote is not None)
    if not votes:
        return Debate(item.id, control, repeat, tuple(turns), None, "abstain")
    best = max(votes.values())
    tied = [label for label, count in votes.items() if count == best]
    # Counter keeps the order of first votes, so a tie takes the first sample's label among those tied.
    return Debate(item.id, control, repeat, tuple(turns), tied[0], "tie" if len(tied) > 1 else "majority")

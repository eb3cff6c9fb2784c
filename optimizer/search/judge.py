"""Runs a panel on claims or questions that have no label, and writes each verdict with a reason as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from optimizer.config import Settings
from optimizer.data.item import Item, Label, Task
from optimizer.debate.executor import DebateExecutor, DebateJob, bounded
from optimizer.debate.panel import open_panel, plan_panel
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.debate.render import render_turn
from optimizer.debate.verdict import Answer
from optimizer.errors import UserError
from optimizer.models.catalogue import cache_folder
from optimizer.models.chat import CallTag, ChatRequest, Message, Sampling
from optimizer.models.ledger import Ledger
from optimizer.models.transport import CallFailed
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.runs.watch import Silent, Watcher
from optimizer.search.candidate import Candidate

_REASON_TOKENS = 80


@dataclass(frozen=True, slots=True)
class Judgement:
    """The panel's verdict on one item: `votes` are the last round's, `reason` one sentence for the decision.

    `claim` is the question where the item is one, and `verdict` then the answer in canonical form.
    """

    id: str
    claim: str
    verdict: str | None
    rule: str
    votes: dict[str, str | None]
    reason: str
    failure: str


async def judge_items(
    settings: Settings, texts: Mapping[str, str], items: Sequence[Item], target: Path, watcher: Watcher | None = None
) -> list[Judgement]:
    """Judge all items and write one JSON line each to `target`, in the items' order once all are done.

    Where the protocol asks the panel for no reasons, one more call an item asks for the reason of the decision.

    Raises:
        UserError: the target is there already, or the endpoint is gone.
    """
    if target.exists():
        raise UserError(f"{target}: is there already; give another file with --out, or remove it")
    watcher = watcher or Silent()
    protocol, panel = Protocol.of(settings.protocol), Candidate(texts)
    planned = await plan_panel(settings, [name for name in texts if name != SOURCE_SKEPTICISM], items)
    watcher.phase("judging")
    partial_path = target.with_name(target.name + ".partial")
    ledger = Ledger()
    watcher.begin(
        ledger,
        len(items) * (protocol.calls(sum(name != SOURCE_SKEPTICISM for name in texts)) + ("reason" not in protocol.fields)),
    )
    with partial_path.open("w", encoding="utf-8", newline="\n") as file:
        async with open_panel(settings, planned, ledger, cache_folder() / "server.log", watcher.note) as executor:

            async def one(item: Item) -> Judgement:
                debate = await executor.debate(DebateJob(item, panel.id, panel.texts), "judge")
                judgement = await _judgement(executor, item, debate)
                file.write(_line(judgement))
                file.flush()
                watcher.debate_done(debate)
                return judgement

            judgements = await bounded([partial(one, item) for item in items], executor.in_flight)
        file.seek(0)
        file.truncate()
        file.writelines(map(_line, judgements))
    partial_path.replace(target)
    return judgements


def _line(judgement: Judgement) -> str:
    record = {name: getattr(judgement, name) for name in Judgement.__slots__}
    return json.dumps(record, ensure_ascii=False) + "\n"


async def _judgement(executor: DebateExecutor, item: Item, debate: Debate) -> Judgement:
    last = debate.deciding(debate.last_round)
    votes = {name: str(verdict.vote) if verdict.vote else None for name, verdict in last.items()}
    reason = ""
    if debate.decision is not None:
        given = [t.verdict.reason for t in debate.turns if t.verdict.vote == debate.decision and t.verdict.reason]
        reason = given[-1] if given else await _ask_reason(executor, item, debate.decision)
    decision = str(debate.decision) if debate.decision is not None else None
    return Judgement(item.id, item.claim, decision, debate.rule, votes, reason, debate.failure)


async def _ask_reason(executor: DebateExecutor, item: Item, decision: Answer) -> str:
    """One sentence on the decision, asked after it; an answer that fails or is cut leaves the verdict without a reason."""
    user = render_turn(item, executor.protocol, {}, "")[1]
    if item.task is Task.CLAIM:
        says = "supports" if decision == Label.GROUNDED else "does not support"
        duty, decided = "You explain verdicts on claims.", f"decided that the evidence {says} the claim"
        ground = "what in the evidence decides it"
    else:
        duty, decided, ground = "You explain answers to questions.", f"answered: {decision}", "why"
    content = user.content.removesuffix(executor.protocol.question_for(item)) + (
        f"A panel {decided}. Write one plain sentence of at most 25 words on {ground}."
    )
    messages = (Message("system", duty), Message("user", content))
    request = ChatRequest(messages, Sampling(max_tokens=_REASON_TOKENS))
    try:
        reply = await executor.client.ask(request, CallTag("judge", item=item.id))
    except CallFailed:
        return ""
    return " ".join(reply.text.split()) if reply.finish_reason == "stop" else ""

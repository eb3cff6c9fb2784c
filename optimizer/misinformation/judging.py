"""Judges read every passage at temperature 0 and say what it does; what they say is written into the file of passages.

Two judges of different families are asked for. No passage is dropped: what is verified follows from the flags.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from optimizer.config import Settings
from optimizer.data.datafile import chosen_data
from optimizer.data.item import LETTERS, Item, Task
from optimizer.data.passages import PASSAGES_FILE, JudgeFlags, Passage, PassageKind, load_passages, write_passages
from optimizer.debate.conditions import passages_path
from optimizer.debate.executor import drain
from optimizer.debate.json_answers import field as json_field
from optimizer.debate.json_answers import find_objects
from optimizer.debate.panel import open_panel, plan_panel
from optimizer.debate.render import delimiter, fenced
from optimizer.errors import UsageError, UserError
from optimizer.misinformation.answers import support_is_enough
from optimizer.misinformation.judge_figures import QUESTIONS, JudgeReport, report_on
from optimizer.misinformation.writing import stated_answer
from optimizer.models.catalogue import cache_folder
from optimizer.models.chat import CallTag, ChatReply, ChatRequest, Message, Sampling
from optimizer.models.ledger import Ledger
from optimizer.models.transport import CallFailed
from optimizer.runs.watch import Silent, Watcher

_PURPOSE, _TOKENS = "passages", 120
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """A judge: a model, and the server that it is asked at; both as the settings of these names."""

    model: str
    base_url: str = ""


@dataclass(slots=True)
class _Said:
    """What one judge said, by passage."""

    judge: str
    flags: dict[_Key, JudgeFlags] = field(default_factory=dict)
    unusable: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    calls: int = 0
    paid: int = 0


@dataclass(frozen=True, slots=True)
class _Done:
    """What a watcher counts: a passage."""

    failed: bool = False


def read_judge(text: str) -> JudgeModel:
    """A judge from NAME or NAME@URL. Raises UsageError where there is no name."""
    name, _, url = text.partition("@")
    if not name.strip():
        raise UsageError(f"judge {text!r} has no model; write NAME, or NAME@URL")
    return JudgeModel(name.strip(), url.strip())


async def judge_passages(
    settings: Settings, judges: Sequence[JudgeModel], target: Path | None = None, watcher: Watcher | None = None
) -> JudgeReport:
    """Have judges read all passages, and write the file anew with what they said.

    What other judges said before stays; what one of these said is replaced.

    Args:
        settings: data, and the file of passages.
        judges: two or more.
        target: another file to write to.

    Raises:
        UsageError: the judges are fewer than two, or the same.
        UserError: there are no passages, the target is there already, or a call failed: nothing is written then.
    """
    if len(judges) < 2:
        raise UsageError(f"passages take two judges or more, of different families, but got {len(judges)}: give --judge twice")
    if len(set(judges)) < len(judges):
        raise UsageError("a judge is named twice; two judges must be two models")
    watcher = watcher or Silent()
    source = passages_path(settings)
    path = source / PASSAGES_FILE if source.is_dir() else source
    if target is not None and target.exists() and target.resolve() != path.resolve():
        raise UserError(f"{target}: is there already; name another file, or remove it")
    items = {item.id: item for item in chosen_data(settings).items}
    passages = load_passages(source)
    known = [each for each in passages if each.item in items]
    if not known:
        raise UserError(f"{path}: has no passages for the items of {settings.data}; optimizer passages make writes some")
    said: list[_Said] = []
    for judge in judges:
        said.append(await _one_judge(settings, judge, items, known, watcher))
        if said[-1].judge in {each.judge for each in said[:-1]}:
            raise UsageError(f"two of the judges are the same model, {said[-1].judge}; take one of another family")
    failures = [failure for each in said for failure in each.failures]
    if failures:
        raise UserError(f"{len(failures)} answers failed ({failures[-1]}); give the same command again, it asks only those")
    flagged = [_with_flags(each, said) for each in passages]
    enough = {item.id: support_is_enough(item, settings.misinformation.support_alone) for item in items.values()}
    write_passages(target or path, flagged, _marks(flagged, enough))
    found = report_on(flagged, [each.judge for each in said], enough)
    problems = tuple(problem for each in said for problem in each.unusable)
    calls, paid = sum(each.calls for each in said), sum(each.paid for each in said)
    return replace(found, path=str(target or path), unusable=problems, calls=calls, paid=paid)


async def _one_judge(
    settings: Settings, judge: JudgeModel, items: Mapping[str, Item], passages: Sequence[Passage], watcher: Watcher
) -> _Said:
    own = settings.model_copy(update={"model": judge.model, "base_url": judge.base_url, "roles": {}, "policy": ""})
    longest = max(passages, key=lambda each: len(each.text)).text
    planned = await plan_panel(own, (), [replace(item, claim=item.claim + longest) for item in items.values()])
    ledger = Ledger()
    watcher.begin(ledger, len(passages))
    watcher.phase(f"judge {judge.model}")
    async with open_panel(own, planned, ledger, cache_folder() / "server.log", watcher.note) as executor:
        client = executor.client
        said = _Said(client.endpoint.model)

        async def one(passage: Passage) -> None:
            key = _key(passage)
            try:
                tag = CallTag(_PURPOSE, item=passage.item, persona="judge")
                reply = await client.ask(ask_judge(items[passage.item], passage), tag)
            except CallFailed as failure:
                said.failures.append(f"{said.judge} on {' '.join(key)}: {failure}")
                watcher.debate_done(_Done(True))
                return
            flags = read_flags(reply)
            if flags is None:
                said.unusable.append(f"{said.judge}: {' '.join(key)}")
            else:
                said.flags[key] = flags
            watcher.debate_done(_Done())

        await drain((partial(one, each) for each in passages), executor.in_flight)
    said.unusable.sort()
    said.calls, said.paid = ledger.distinct, ledger.counts["paid"]
    return said


def ask_judge(item: Item, passage: Passage) -> ChatRequest:
    """What a judge is asked of a passage: the matter comes first, so that an item's passages share a cached prefix."""
    fence = delimiter(item)
    parts = [f"Evidence:\n{fence}\n{item.evidence_text}\n{fence}"] if item.evidence_text else []
    parts.append(f"{'Claim' if item.task is Task.CLAIM else 'Question'}:\n{fence}\n{item.claim}\n{fence}")
    if item.choices:
        parts.append("Choices:\n" + "\n".join(f"{LETTERS[i]}. {choice}" for i, choice in enumerate(item.choices)))
    wrong = f"the answer is {passage.answer}" if passage.answer and item.task is not Task.CLAIM else ""
    wrong = wrong or (stated_answer(item, False) if item.task is Task.CLAIM or item.choices else "any other answer")
    named = "the claim" if item.task is Task.CLAIM else "the wrong answer"
    parts.append(f"Right: {stated_answer(item, True)}.\nWrong: {wrong}.")
    parts.append(f"Passage:\n{fenced(passage.text)}")
    parts.append(
        "Go by the passage alone. implied_answer: which answer does it speak for, in a few words, or none? "
        "contradicts_gold: does it contradict what is right? supports_wrong: does it support what is wrong? "
        f"names_wrong: does it state {named} word for word? Answer with one line of JSON."
    )
    system = "You say what a passage does. Whether it is true is not asked."
    messages = (Message("system", system), Message("user", "\n\n".join(parts)))
    return ChatRequest(messages, Sampling(max_tokens=_TOKENS), _schema())


def read_flags(reply: ChatReply) -> JudgeFlags | None:
    """What a judge's answer says; None unless all three questions are answered by true or false, or yes or no."""
    objects, _ = find_objects(reply.text)
    for record in reversed(objects):
        contradicts, supports, names = (_yes(json_field(record, name)) for name in QUESTIONS)
        if contradicts is not None and supports is not None and names is not None:
            implied = json_field(record, "implied_answer")
            return JudgeFlags(contradicts, supports, names, "" if implied is None else " ".join(str(implied).split()))
    return None


def _marks(passages: Sequence[Passage], enough: Mapping[str, bool]) -> dict[_Key, bool]:
    """Whether the false passages are verified, by all the judges that they have."""
    marks = {}
    for each in passages:
        found = each.verified(enough[each.item]) if each.kind is PassageKind.FALSE and each.item in enough else None
        if found is not None:
            marks[_key(each)] = found
    return marks


def _with_flags(passage: Passage, said: Sequence[_Said]) -> Passage:
    """The passage with what these judges said; an answer that could not be read takes the place of an earlier one too."""
    asked = {each.judge for each in said}
    flags = {judge: flag for judge, flag in passage.flags.items() if judge not in asked}
    return replace(passage, flags=flags | {each.judge: each.flags[_key(passage)] for each in said if _key(passage) in each.flags})


def _key(passage: Passage) -> _Key:
    return passage.item, passage.kind, passage.style


def _yes(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"yes": True, "true": True, "no": False, "false": False}.get(str(value).strip().lower())


def _schema() -> str:
    properties = {"implied_answer": {"type": "string"}, **{name: {"type": "boolean"} for name in QUESTIONS}}
    return json.dumps({"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False})

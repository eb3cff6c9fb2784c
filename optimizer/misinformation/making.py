"""Has a model write the passages of a data set, or paraphrase those of a file. The file is written once, whole, at the end.

Every reply is in the response cache, so the same command goes on where it was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from zlib import crc32

from optimizer.config import Settings
from optimizer.data.datafile import chosen_data
from optimizer.data.exposure import FILLER_STYLE, PassageBank
from optimizer.data.item import Item
from optimizer.data.passages import PASSAGES_FILE, PLAIN, Passage, PassageKind, beside, load_passages, write_passages
from optimizer.data.shipped import data_path
from optimizer.data.splits import spread
from optimizer.debate.executor import drain
from optimizer.debate.panel import open_panel, plan_panel
from optimizer.errors import UsageError, UserError
from optimizer.misinformation.writing import (
    STYLES,
    Written,
    ask_filler,
    ask_paraphrase,
    ask_passage,
    ask_style,
    read_reply,
    wrong_answer,
)
from optimizer.models.catalogue import cache_folder
from optimizer.models.chat import CallTag, ChatRequest
from optimizer.models.client import ChatClient
from optimizer.models.ledger import Ledger
from optimizer.models.transport import CallFailed
from optimizer.runs.watch import Silent, Watcher

TRIES = 3  # of a reply: the first, and another sample at most twice
_PURPOSE = "passages"
_WRITTEN = (PassageKind.FALSE, PassageKind.TRUE)
_TOPICS = ("the weather", "habits", "waiting", "conversation", "walking", "tidiness", "mornings", "patience", "tools", "reading")


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be written.

    Attributes:
        kinds, styles: of the passages; no styles are all that there are. Irrelevant passages are other items' of the same style,
            and take no calls.
        source: a file whose plain passages the styles are written from, and whose passages are paraphrased.
        paraphrase: the passages of the source in other words, and nothing else.
        limit: at most so many items; 0 takes all.
    """

    kinds: tuple[PassageKind, ...] = (PassageKind.FALSE, PassageKind.TRUE)
    styles: tuple[str, ...] = ()
    source: Path | None = None
    paraphrase: bool = False
    limit: int = 0

    def check(self) -> None:
        """Raises UsageError where a style is unknown, or there is nothing to paraphrase."""
        unknown = [style for style in self.styles if style != PLAIN and style not in STYLES]
        if unknown and not self.paraphrase:
            raise UsageError(f"unknown style {unknown[0]!r}; styles are {PLAIN}, {', '.join(STYLES)}")
        if self.paraphrase and self.source is None:
            raise UsageError("a paraphrase needs passages to start from: --from FILE")


@dataclass(frozen=True, slots=True)
class Unusable:
    """A passage that is not in the file, and what the last reply's fault was."""

    item: str
    kind: PassageKind
    style: str
    problem: str


@dataclass(slots=True)
class Made:
    """What came of it. `replies` that were unusable are counted, also where another sample was usable."""

    path: Path
    model: str = ""
    passages: list[Passage] = field(default_factory=list)
    unusable: list[Unusable] = field(default_factory=list)
    replies: int = 0
    bad_replies: int = 0
    calls: int = 0
    paid: int = 0


@dataclass(frozen=True, slots=True)
class _Done:
    """What a watcher counts: an item."""

    failed: bool = False


async def make_passages(settings: Settings, order: Order, target: Path | None, watcher: Watcher | None = None) -> Made:
    """Write passages to `target`, or beside the data where it is None.

    Raises:
        UsageError: the order makes no sense.
        UserError: the file is there already, the data has no labels, a call failed, or no reply was usable.
    """
    order.check()
    if not order.styles and not order.paraphrase:
        order = replace(order, styles=(PLAIN, *STYLES))
    watcher = watcher or Silent()
    made = Made(target or beside(data_path(settings.data)) / PASSAGES_FILE)
    if made.path.exists():
        raise UserError(f"{made.path}: is there already; name another file with --to, or remove it")
    everything = chosen_data(settings).items
    items = spread(everything, settings.seed, order.limit) if order.limit else everything
    source = load_passages(order.source) if order.source else []
    settings = settings.model_copy(update={"policy": "", "roles": {}})  # nobody sits on a panel here
    planned = await plan_panel(settings, (), items)
    ledger = Ledger()
    watcher.begin(ledger, _calls(order, items, source))
    watcher.phase("writing passages")
    found: dict[str, list[Passage]] = {}
    failures: list[str] = []
    async with open_panel(settings, planned, ledger, cache_folder() / "server.log", watcher.note) as executor:
        made.model = executor.client.endpoint.model
        writer = _Writer(executor.client, order, made, [each for each in source if order.paraphrase or each.style == PLAIN])

        async def on_item(item: Item) -> None:
            try:
                found[item.id] = await writer.write(item)
            except CallFailed as failure:
                failures.append(f"{item.id}: {failure}")
            watcher.debate_done(_Done(item.id not in found))

        await drain((partial(on_item, item) for item in items), executor.in_flight)
    if failures:
        raise UserError(f"{len(failures)} of {len(items)} items failed ({failures[-1]}); give the same command again, it goes on")
    made.passages = _in_order(items, found, order)
    made.unusable.sort(key=lambda each: (each.item, each.kind, each.style))
    made.calls, made.paid = ledger.distinct, ledger.counts["paid"]
    if not made.passages:
        if not made.unusable:
            raise UserError(f"{order.source}: has no such passages for these items")
        raise UserError(f"no reply was usable, the last {made.unusable[-1].problem}; take a larger model")
    write_passages(made.path, made.passages)
    return made


class _Writer:
    """Writes the passages of one item after the other; what depends on another passage comes after it."""

    def __init__(self, client: ChatClient, order: Order, made: Made, source: Sequence[Passage]) -> None:
        self._client, self._order, self._made = client, order, made
        self._source: dict[str, list[Passage]] = {}
        for each in source:
            self._source.setdefault(each.item, []).append(each)

    async def write(self, item: Item) -> list[Passage]:
        """The passages of an item. Raises CallFailed where a call got no answer."""
        if self._order.paraphrase:
            asked = [each for each in self._source.get(item.id, ()) if each.kind in self._order.kinds and self._wanted(each)]
            return [each for each in [await self._paraphrase(item, each) for each in asked] if each is not None]
        found: list[Passage] = []
        for kind in _WRITTEN:
            if kind in _needed(self._order.kinds):
                found += await self._of_kind(item, kind)
        if PassageKind.FILLER in self._order.kinds:
            found += await self._filler(item, found)
        return found

    def _wanted(self, passage: Passage) -> bool:
        return not self._order.styles or passage.style in self._order.styles or passage.kind is PassageKind.FILLER

    async def _of_kind(self, item: Item, kind: PassageKind) -> list[Passage]:
        plain = next((each for each in self._source.get(item.id, ()) if each.kind is kind), None)
        if plain is None:
            written = await self._reply(item, kind, PLAIN, partial(ask_passage, item, kind))
            if written.problem:
                others = [style for style in self._order.styles if style != PLAIN]
                self._made.unusable += [Unusable(item.id, kind, style, "has no plain passage to start from") for style in others]
                return []
            answer = (written.answer or wrong_answer(item)) if kind is PassageKind.FALSE else ""
            plain = Passage(item.id, kind, PLAIN, self._made.model, written.text, answer=answer)
        found = [plain] if PLAIN in self._order.styles else []
        for style in self._order.styles:
            if style == PLAIN:
                continue
            written = await self._reply(item, kind, style, partial(ask_style, item, plain.text, style), plain.text)
            if not written.problem:
                found.append(Passage(item.id, kind, style, self._made.model, written.text, answer=plain.answer))
        return found

    async def _paraphrase(self, item: Item, passage: Passage) -> Passage | None:
        written = await self._reply(item, passage.kind, passage.style, partial(ask_paraphrase, passage.text), passage.text)
        by = f"{self._made.model} paraphrasing {passage.provenance}"
        return None if written.problem else replace(passage, text=written.text, provenance=by, flags={})

    async def _filler(self, item: Item, own: Sequence[Passage]) -> list[Passage]:
        lengths = [len(each.text.split()) for each in own]
        words = round(sum(lengths) / len(lengths)) if lengths else 40
        place = crc32(item.id.encode())
        topic, first = _TOPICS[place % len(_TOPICS)], TRIES * (place % 100_000)  # items ask for samples of their own

        def ask(sample: int) -> ChatRequest:
            return ask_filler(words, topic, first + sample)

        written = await self._reply(item, PassageKind.FILLER, FILLER_STYLE, ask)
        return [] if written.problem else [Passage(item.id, PassageKind.FILLER, FILLER_STYLE, self._made.model, written.text)]

    async def _reply(
        self, item: Item, kind: PassageKind, style: str, ask: Callable[[int], ChatRequest], source: str = ""
    ) -> Written:
        """The first usable reply of a few samples, else the last with its fault, which is noted."""
        written = Written(problem="was not asked")
        for sample in range(TRIES):
            reply = await self._client.ask(ask(sample), CallTag(_PURPOSE, item=item.id, persona=f"{kind} {style}"))
            written = read_reply(reply, item, source, self._order.paraphrase, filler=kind is PassageKind.FILLER)
            self._made.replies += 1
            if not written.problem:
                return written
            self._made.bad_replies += 1
        self._made.unusable.append(Unusable(item.id, kind, style, written.problem))
        return written


def _needed(kinds: Sequence[PassageKind]) -> set[PassageKind]:
    """Of which kinds passages are written for these: an irrelevant one is another item's."""
    made_from = {PassageKind.IRRELEVANT_FALSE: PassageKind.FALSE, PassageKind.IRRELEVANT_TRUE: PassageKind.TRUE}
    return {made_from.get(kind, kind) for kind in kinds}


def _in_order(items: Sequence[Item], found: dict[str, list[Passage]], order: Order) -> list[Passage]:
    """What goes into the file, item by item: the kinds that were asked for, irrelevant ones taken from other items."""
    bank = PassageBank(items, [each for passages in found.values() for each in passages])
    result: list[Passage] = []
    for item in items:
        result += [each for each in found.get(item.id, ()) if each.kind in order.kinds]
        for kind in order.kinds:
            if kind not in (PassageKind.IRRELEVANT_FALSE, PassageKind.IRRELEVANT_TRUE) or order.paraphrase:
                continue
            taken = (bank.passage(item.id, kind, style) for style in order.styles)
            result += [each for each in taken if each is not None]
    return result


def _calls(order: Order, items: Sequence[Item], source: Sequence[Passage]) -> int:
    """How many calls it takes if every first reply is usable."""
    if order.paraphrase:
        ids = {item.id for item in items}
        return sum(each.item in ids and each.kind in order.kinds for each in source)
    kinds = [kind for kind in _needed(order.kinds) if kind in _WRITTEN]
    filler = PassageKind.FILLER in order.kinds
    return len(items) * (len(kinds) * len({PLAIN, *order.styles}) + filler)

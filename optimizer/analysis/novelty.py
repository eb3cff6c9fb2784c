"""Does a later round say anything new, or does it repeat itself and its peers? Measured on the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.analysis.recorded import RecordedPanel
from optimizer.data.item import Item
from optimizer.data.sentences import sentences, words
from optimizer.debate.json_answers import ConflictingKeys, find_objects
from optimizer.debate.records import Debate, Turn
from optimizer.models.embeddings import Vectors
from optimizer.stats.bootstrap import Estimate, mean_estimate

FEWEST_WORDS = 5  # of a whole answer without a reason field, to be taken as an argument and not as a bare verdict
QUOTED_WORDS = 5  # consecutive words of an evidence sentence that make a quotation; all of them where it is shorter
_SHORTEST_QUOTED = 3  # evidence sentences with fewer words are quoted by accident
EVERYONE = "all personas"


@dataclass(frozen=True, slots=True)
class Quartiles:
    """The median, and the quartiles around it; NaN without values."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class NoveltyRow:
    """How new the texts of one round are, of one persona or of all, over `turns` that have a text in both rounds.

    `chain` is 1 − cos to the same persona's text in the round before. `own` and `everyone` are means over the text's
    sentences of 1 − the highest cosine to a sentence of an earlier round, one's own or anybody's: 0 is a repetition.
    `citations` is the mean number of evidence sentences that the text quotes and the same persona had not quoted before,
    `citations_everyone` those that nobody had.
    """

    persona: str
    round: int
    turns: int
    chain: Quartiles
    own: Quartiles
    everyone: Quartiles
    citations: Estimate
    citations_everyone: Estimate


@dataclass(frozen=True, slots=True)
class Novelty:
    """`texts` of `turns` turns have one; `rows` are empty where no persona has one in two rounds running.

    `between` is the scale: 1 − cos between the round-1 texts of two personas on the same item, who have not heard each other
    (but where they speak in sequence). `quoted` is the share of texts that quote any evidence.
    """

    embedder: str
    turns: int
    texts: int
    between: Quartiles
    quoted: float
    rows: tuple[NoveltyRow, ...]

    @property
    def defined(self) -> bool:
        return bool(self.rows)


@dataclass(frozen=True, slots=True)
class _Measured:
    """One turn's figures."""

    persona: str
    round: int
    cluster: str
    chain: float
    own: float
    everyone: float
    citations: int
    citations_everyone: int


def argument(turn: Turn) -> str:
    """The text whose novelty is measured: the reason if there is one, else the whole answer unless it is a bare verdict.

    A JSON answer without a reason, or one of fewer than FEWEST_WORDS words, says nothing beyond its verdict; it gives "".
    """
    reason = turn.verdict.reason.strip()
    if reason:
        return reason if words(reason) else ""
    try:
        structured = bool(find_objects(turn.text)[0])
    except ConflictingKeys:
        structured = True
    return "" if structured or len(words(turn.text)) < FEWEST_WORDS else turn.text.strip()


def texts_to_embed(panel: RecordedPanel) -> list[str]:
    """Every argument and every sentence of one, each once: what an embedder has to be given."""
    found: dict[str, None] = {}
    for debate in panel.debates:
        for turn in debate.turns:
            if text := argument(turn):
                found[text] = None
                found.update(dict.fromkeys(sentences(text)))
    return list(found)


def novelty(panel: RecordedPanel, vectors: Vectors) -> Novelty:
    """All rounds from the second on.

    Args:
        panel: its recorded debates.
        vectors: of at least texts_to_embed(panel).
    """
    measured: list[_Measured] = []
    between: list[float] = []
    quoting = texts = 0
    for debate in panel.debates:
        item = panel.items[debate.item]
        said = {(turn.persona, turn.round): text for turn in debate.turns if (text := argument(turn))}
        quotes = {key: quotations(text, item) for key, text in said.items()}
        texts += len(said)
        quoting += sum(map(bool, quotes.values()))
        if said:
            of_debate, apart = _debate(debate, item, said, quotes, vectors)
            measured += of_debate
            between += apart
    rows = [
        _row(name, number, [each for each in measured if each.round == number and name in (EVERYONE, each.persona)])
        for number in range(2, panel.rounds + 1)
        for name in (EVERYONE, *panel.personas)
    ]
    return Novelty(
        vectors.name,
        sum(len(debate.turns) for debate in panel.debates),
        texts,
        quartiles(between),
        quoting / texts if texts else float("nan"),
        tuple(row for row in rows if row.turns),
    )


def quotations(text: str, item: Item) -> frozenset[int]:
    """Which sentences of the item's evidence a text quotes, by their place.

    A sentence is quoted if the text has QUOTED_WORDS consecutive words of it (all of them where it is shorter), case and
    punctuation aside. Words that stand in the claim in the same order do not count: they may come from there.
    """
    said, claim = _runs(words(text)), _runs(words(item.claim))
    found = set()
    place = -1
    for passage in item.evidence:
        for sentence in sentences(passage):
            place += 1
            own = words(sentence)
            if len(own) >= _SHORTEST_QUOTED and any(run in said and run not in claim for run in _runs_of_sentence(own)):
                found.add(place)
    return frozenset(found)


def quartiles(values: Sequence[float]) -> Quartiles:
    """Median and quartiles, linearly interpolated."""
    if not values:
        return Quartiles(float("nan"), float("nan"), float("nan"))
    low, median, high = np.quantile(np.asarray(values), [0.25, 0.5, 0.75])
    return Quartiles(float(median), float(low), float(high))


def _runs(text: Sequence[str]) -> set[tuple[str, ...]]:
    """All runs of words of the lengths that can be a quotation."""
    lengths = range(_SHORTEST_QUOTED, QUOTED_WORDS + 1)
    return {tuple(text[start : start + length]) for length in lengths for start in range(len(text) - length + 1)}


def _runs_of_sentence(own: Sequence[str]) -> list[tuple[str, ...]]:
    length = min(QUOTED_WORDS, len(own))
    return [tuple(own[start : start + length]) for start in range(len(own) - length + 1)]


Said = dict[tuple[str, int], str]


def _debate(
    debate: Debate, item: Item, said: Said, quotes: dict[tuple[str, int], frozenset[int]], vectors: Vectors
) -> tuple[list[_Measured], list[float]]:
    """The figures of each later turn, and the distances between the personas' first texts."""
    parts = {key: sentences(text) for key, text in said.items()}
    known = list(dict.fromkeys([*said.values(), *(sentence for found in parts.values() for sentence in found)]))
    place = {text: index for index, text in enumerate(known)}
    cosines = vectors.cosines(known)

    def near(first: str, second: str) -> float:
        return float(cosines[place[first], place[second]])

    def step(own: Sequence[str], earlier: Sequence[str]) -> float:
        rows, columns = [place[each] for each in own], [place[each] for each in earlier]
        return float((1 - cosines[np.ix_(rows, columns)].max(axis=1)).mean())

    measured = []
    for (persona, number), text in said.items():
        if number == 1 or (persona, number - 1) not in said:
            continue
        before = {key: found for key, found in parts.items() if key[1] < number}
        mine = [sentence for key, found in before.items() if key[0] == persona for sentence in found]
        all_of_them = [sentence for found in before.values() for sentence in found]
        quoted_by_me = frozenset().union(*(quotes[key] for key in before if key[0] == persona))
        quoted_by_all = frozenset().union(*(quotes[key] for key in before))
        measured.append(
            _Measured(
                persona,
                number,
                item.cluster,
                1 - near(text, said[persona, number - 1]),
                step(parts[persona, number], mine),
                step(parts[persona, number], all_of_them),
                len(quotes[persona, number] - quoted_by_me),
                len(quotes[persona, number] - quoted_by_all),
            )
        )
    first = [text for (_, number), text in said.items() if number == 1]
    return measured, [1 - near(a, b) for index, a in enumerate(first) for b in first[index + 1 :]]


def _row(persona: str, number: int, measured: Sequence[_Measured]) -> NoveltyRow:
    clusters = [each.cluster for each in measured]
    return NoveltyRow(
        persona,
        number,
        len(measured),
        quartiles([each.chain for each in measured]),
        quartiles([each.own for each in measured]),
        quartiles([each.everyone for each in measured]),
        mean_estimate([each.citations for each in measured], clusters),
        mean_estimate([each.citations_everyone for each in measured], clusters),
    )

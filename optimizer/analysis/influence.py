"""Who moved whom, whether it helped, and whose vote decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from optimizer.analysis.recorded import Answer, RecordedPanel, held, is_right, spoken
from optimizer.debate.aggregate import decide
from optimizer.debate.records import Debate, Turn
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.stats.bootstrap import Estimate, mean_estimate

PANEL = "panel"


@dataclass(frozen=True, slots=True)
class FlipRow:
    """What became of one judge's answers from the round before to `round`, over `answers` debates.

    `corrected` went from wrong to right, `corrupted` from right to wrong; `changed` counts all changes of the answer. `net`
    is the share of corrections less that of corruptions. Of the changes, `to_peer` went to what a peer it had heard held,
    `alone` to what none of them did; the others gave no vote any more.
    """

    judge: str
    round: int
    answers: int
    kept_right: int
    kept_wrong: int
    corrected: int
    corrupted: int
    changed: int
    to_peer: int
    alone: int
    net: Estimate


@dataclass(frozen=True, slots=True)
class MoveRow:
    """How often `receiver` took over what `source` held, over all rounds.

    `disagreed` counts turns before which both had voted differently and the receiver had heard the source; in `moved` of
    them it then voted as the source had. `credit` divides a change among all peers that held the new answer.
    `corrected` and `corrupted` count what the moves did.
    """

    receiver: str
    source: str
    disagreed: int
    moved: int
    credit: float
    corrected: int
    corrupted: int

    @property
    def rate(self) -> float:
        """The share of disagreements in which it moved; NaN without any."""
        return self.moved / self.disagreed if self.disagreed else float("nan")


@dataclass(frozen=True, slots=True)
class PivotRow:
    """One persona and the decisions. It is `pivotal` if another vote of it, a peer's or none, would have changed the decision.

    `pivotal_right` of those decisions were right. `outvoted` counts decisions against its vote, `outvoted_right` those in which
    it was right.
    """

    persona: str
    pivotal: int
    pivotal_right: int
    outvoted: int
    outvoted_right: int


@dataclass(frozen=True, slots=True)
class Decisions:
    """How the decisions came about: `unanimous`, `split` with a vote against, or `none`; `rules` counts what decided."""

    debates: int
    unanimous: int
    split: int
    none: int
    rules: tuple[tuple[str, int], ...]
    rows: tuple[PivotRow, ...]


def flips(panel: RecordedPanel) -> list[FlipRow]:
    """Every persona, and the panel's decision, from each round to the next. Debates that ended before are left out."""
    found = []
    for number in range(2, panel.rounds + 1):
        places = [place for place, debate in enumerate(panel.debates) if debate.last_round >= number]
        for persona in panel.personas:
            peers = [_heard(panel, panel.debates[place], persona, number) for place in places]
            found.append(_flip(panel, persona, number, places, peers))
        found.append(_flip(panel, PANEL, number, places, [{} for _ in places]))
    return found


def _flip(panel: RecordedPanel, judge: str, number: int, places: Sequence[int], peers: Sequence[dict[str, Any]]) -> FlipRow:
    answers = panel.decided if judge == PANEL else lambda n: panel.persona(judge, n)
    before, after = answers(number - 1), answers(number)
    pairs = [(before[place], after[place]) for place in places]
    changed = [(a, b, around) for (a, b), around in zip(pairs, peers, strict=True) if a.vote != b.vote]
    voted = [(b.vote, set(around.values())) for _, b, around in changed if b.vote is not None]
    return FlipRow(
        judge,
        number,
        len(pairs),
        sum(a.right and b.right for a, b in pairs),
        sum(not a.right and not b.right for a, b in pairs),
        sum(_corrected(a, b) for a, b in pairs),
        sum(_corrected(b, a) for a, b in pairs),
        len(changed),
        sum(vote in around for vote, around in voted),
        sum(vote not in around for vote, around in voted),
        mean_estimate([float(b.right) - float(a.right) for a, b in pairs], [a.item.cluster for a, _ in pairs]),
    )


def moves(panel: RecordedPanel) -> list[MoveRow]:
    """All ordered pairs of personas. Who hears nobody (visibility none) is moved by nobody."""
    rows = {(a, b): MoveRow(a, b, 0, 0, 0.0, 0, 0) for a in panel.personas for b in panel.personas if a != b}
    for number in range(2, panel.rounds + 1):
        for persona in panel.personas:
            for debate in panel.debates:
                if debate.last_round < number:
                    continue
                for source, row in _moved(panel, debate, persona, number):
                    rows[persona, source] = _added(rows[persona, source], row)
    return list(rows.values())


def _moved(panel: RecordedPanel, debate: Debate, persona: str, number: int) -> Iterator[tuple[str, MoveRow]]:
    """What one turn adds to the rows of its receiver."""
    item = panel.items[debate.item]
    old = held(debate, number - 1).get(persona)
    new = held(debate, number).get(persona)
    if old is None or new is None or old.vote is None:
        return
    was, now = is_right(debate, old.vote, item), is_right(debate, new.vote, item)
    around = _heard(panel, debate, persona, number)
    owners = [source for source, vote in around.items() if vote == new.vote]
    for source, vote in around.items():
        if vote == old.vote:
            continue
        followed = vote == new.vote
        yield (
            source,
            MoveRow(
                persona,
                source,
                1,
                int(followed),
                1 / len(owners) if followed else 0.0,
                int(followed and now and not was),
                int(followed and was and not now),
            ),
        )


def pivots(panel: RecordedPanel) -> Decisions:
    """Where the deciding vote fell, by trying each persona's other votes in the panel's own aggregator.

    In debates on pieces of long evidence it is the piece that stands for the item.
    """
    rows = {persona: PivotRow(persona, 0, 0, 0, 0) for persona in panel.personas}
    counts = {"unanimous": 0, "split": 0, "none": 0}
    rules: dict[str, int] = {}
    for debate, decision in zip(panel.debates, panel.decided(panel.rounds), strict=True):
        verdicts = debate.deciding(debate.last_round)
        votes = {verdict.vote for verdict in verdicts.values()}
        agreed = votes == {decision.vote}
        counts["none" if decision.vote is None else "unanimous" if agreed else "split"] += 1
        rules[debate.rule.split(",")[0]] = rules.get(debate.rule.split(",")[0], 0) + 1
        for persona in verdicts:
            rows[persona] = _pivot(panel, debate, decision, persona, rows[persona])
    ordered = sorted(rules.items(), key=lambda entry: -entry[1])
    return Decisions(
        len(panel.debates), counts["unanimous"], counts["split"], counts["none"], tuple(ordered), tuple(rows.values())
    )


def _pivot(panel: RecordedPanel, debate: Debate, decision: Answer, persona: str, row: PivotRow) -> PivotRow:
    verdicts = debate.deciding(debate.last_round)
    own = verdicts[persona].vote
    others = {verdict.vote for name, verdict in verdicts.items() if name != persona} | {None}
    swaps = [dict(verdicts, **{persona: _voting(verdicts[persona], vote)}) for vote in others - {own}]
    aggregator = panel.protocol.aggregator
    pivotal = any(decide(swap, aggregator)[0] != decide(verdicts, aggregator)[0] for swap in swaps)
    against = decision.vote is not None and own is not None and own != decision.vote
    return replace(
        row,
        pivotal=row.pivotal + pivotal,
        pivotal_right=row.pivotal_right + (pivotal and decision.right),
        outvoted=row.outvoted + against,
        outvoted_right=row.outvoted_right + (against and is_right(debate, own, decision.item)),
    )


def _voting(verdict: Verdict, vote: Any) -> Verdict:
    """The verdict with another vote, or with none."""
    return replace(verdict, outcome=Outcome.OK if vote is not None else Outcome.UNPARSED, label=vote)


def _heard(panel: RecordedPanel, debate: Debate, persona: str, number: int) -> dict[str, Any]:
    """Peer -> the latest vote of it that a persona had read before it spoke in a round; those without a vote are left out."""
    for turn, before in spoken(debate):
        if turn.persona == persona and turn.round == number:
            latest: dict[str, Turn] = {}
            for other in panel.protocol.heard(before, persona, number):
                if other.persona != persona:
                    latest[other.persona] = other
            return {name: other.verdict.vote for name, other in latest.items() if other.verdict.vote is not None}
    return {}


def _corrected(before: Answer, after: Answer) -> bool:
    return after.right and not before.right


def _added(row: MoveRow, more: MoveRow) -> MoveRow:
    return replace(
        row,
        disagreed=row.disagreed + more.disagreed,
        moved=row.moved + more.moved,
        credit=row.credit + more.credit,
        corrected=row.corrected + more.corrected,
        corrupted=row.corrupted + more.corrupted,
    )

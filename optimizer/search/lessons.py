"""What reflection reads: who is on the panel, debates that went wrong with the blame, and contested ones that went well."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.analysis.headroom import Lost, where_lost
from optimizer.data.item import Item, Label, Task
from optimizer.debate.conditions import is_false
from optimizer.debate.extract import is_right
from optimizer.debate.protocol import Protocol
from optimizer.debate.records import Debate
from optimizer.debate.render import display_name
from optimizer.debate.verdict import Answer
from optimizer.prompts.library import SOURCE_SKEPTICISM
from optimizer.search.candidate import Candidate, Rejection, rough_tokens
from optimizer.sections import Aggregator

_EVIDENCE_WORDS = 90
_REJECTED_SHOWN = 6
_REJECTED_BEGUN, _BEGINNING_WORDS = 3, 14
_WON_SHOWN = 2
_SHOWN = {"F": "where a false passage was read", "T": "where a true one was", "0": "where none was"}
_RULES = {
    "rule": "The majority decides; without one the Skeptic's no does",
    "majority": "The majority decides",
    "confidence": "Votes weighted by confidence decide",
    "last_speaker": "Who speaks last decides",
    "ballot": "Where answers differ after a round, a secret vote among them decides",
}


@dataclass(frozen=True, slots=True)
class Lesson:
    """A train debate of the current candidate, with its item."""

    item: Item
    debate: Debate

    @property
    def right(self) -> bool:
        return self.debate.score(self.item) == 1.0

    @property
    def contested(self) -> bool:
        """Whether somebody was wrong at some time."""
        return any(not is_right(turn.verdict.vote, self.item) for turn in self.debate.turns)


def word(protocol: Protocol, item: Item, answer: Answer | None) -> str:
    """An answer in the panel's words."""
    if answer is None:
        return "no decision"
    if item.task is not Task.CLAIM:
        return str(answer)
    return protocol.yes if answer == Label.GROUNDED else protocol.no


def duty(protocol: Protocol, lessons: Sequence[Lesson]) -> tuple[str, str]:
    """What the panel does on these items, and what each of it does: two predicates."""
    if any(lesson.item.task is not Task.CLAIM for lesson in lessons):
        return "answers questions", "gives an answer"
    return "decides whether evidence supports a claim", f"answers {protocol.yes} or {protocol.no}"


def role_map(protocol: Protocol, candidate: Candidate, component: str, lessons: Sequence[Lesson] = ()) -> str:
    """Who sits on the panel with which instruction, how it decides, and whose text is to be improved."""
    personas = [name for name in candidate.texts if name != SOURCE_SKEPTICISM]
    heard = {"all": "what was said before", "others_verdicts": "the others' verdicts", "none": "nothing of the others"}
    order = "one after the other" if protocol.turns == "sequential" else "at the same time"
    what, answers = duty(protocol, lessons)
    drafted = protocol.contribution == "draft"
    again = protocol.rounds > 1
    if len(personas) == 1:
        head = f"One judge {what}. It {answers}{f' in each of {protocol.rounds} rounds' if again else ''}."
    else:
        hears = heard.get(protocol.visibility, "what was said before, but for the last round")
        each = f"In {protocol.rounds} rounds each {answers}, {order}, and from the second round on hears {hears}"
        head = (
            f"A panel of {len(personas)} judges {what}. {each if again else f'Each {answers}, {order}'}. "
            f"{_RULES.get(protocol.aggregator, 'The votes decide')}."
        )
    lines = [
        head,
        *(["The first to speak proposes a draft of the answer, the others improve it or agree."] if drafted else []),
        *(f"{display_name(name)}: {candidate.texts[name]}" for name in personas),
    ]
    if SOURCE_SKEPTICISM in candidate.texts:
        lines.append(f"Said to all of them about other sources: {candidate.texts[SOURCE_SKEPTICISM]}")
    whose = (
        "all of them: the sentence about other sources" if component == SOURCE_SKEPTICISM else f"the {display_name(component)}"
    )
    return "\n".join([*lines, f"You improve the instruction of {whose}."])


def blame(protocol: Protocol, lesson: Lesson, aggregator: Aggregator) -> list[str]:
    """Who was wrong when, who moved whom, and where the right answer was lost; a line each."""
    item, debate = lesson.item, lesson.debate
    lines = []
    for number in range(1, debate.last_round + 1):
        wrong = [name for name, verdict in debate.round_verdicts(number).items() if not is_right(verdict.vote, item)]
        if wrong:
            lines.append(f"Wrong in round {number}: {', '.join(map(display_name, wrong))}.")
    for number in range(2, debate.last_round + 1):
        before, after = debate.round_verdicts(number - 1), debate.round_verdicts(number)
        for name, verdict in after.items():
            earlier = before.get(name)
            if earlier is None or verdict.vote is None or verdict.vote == earlier.vote:
                continue
            movers = [other for other, said in before.items() if other != name and said.vote == verdict.vote]
            towards = "the right answer" if is_right(verdict.vote, item) else "the wrong answer"
            by = f", as {' and '.join(map(display_name, movers))} had said" if movers else ", which nobody had said"
            lines.append(f"{display_name(name)} moved in round {number} to {towards}{by}.")
    if not lesson.right:
        lost = where_lost(debate, item, right_elsewhere=False, aggregator=aggregator, ties=protocol.ties)
        lines.append("Nobody was right at the end." if lost is Lost.NONE else f"{lost.value[0].upper()}{lost.value[1:]}.")
    return lines


def transcript(protocol: Protocol, lesson: Lesson, title: str, whose: Sequence[str]) -> str:
    """A debate with its item and right answer. Reasons are shown of the personas named, verdicts of all."""
    words = lesson.item.evidence_text.split()
    evidence = " ".join(words[:_EVIDENCE_WORDS]) + (" [...]" if len(words) > _EVIDENCE_WORDS else "")
    why = f" Why: {lesson.item.rationale}" if lesson.item.rationale else ""
    item = lesson.item
    right = word(protocol, item, item.label) if item.task is Task.CLAIM else item.gold
    lines = [
        title,
        *([f"Evidence: {evidence}"] if item.evidence or item.task is Task.CLAIM else []),
        f"{'Claim' if item.task is Task.CLAIM else 'Question'}: {item.claim}",
        *([f"Choices: {'; '.join(item.lettered)}"] if item.choices else []),
        *_shown(item),
        f"Right answer: {right}.{why}",
    ]
    for number in range(1, lesson.debate.last_round + 1):
        said = lesson.debate.round_verdicts(number)
        lines.append(
            f"Round {number}: "
            + ", ".join(f"{display_name(persona)} said {word(protocol, item, verdict.vote)}" for persona, verdict in said.items())
        )
        votes = [turn for turn in lesson.debate.ballots if turn.round == number]
        if votes:
            cast = (f"{display_name(turn.persona)} for {word(protocol, item, turn.verdict.vote)}" for turn in votes)
            lines.append(f"Secret votes after it: {', '.join(cast)}")
    for persona in whose:
        reasons = [turn.verdict.reason for turn in lesson.debate.turns if turn.persona == persona and turn.verdict.reason]
        if reasons:
            lines.append(f"Reason of the {display_name(persona)}: {' '.join(reasons[-1].split())}")
    return "\n".join(lines)


def _shown(item: Item) -> list[str]:
    """Who was shown which passage, and whether it is true; a line. Nothing where there are no conditions."""
    shown = item.shown
    if shown is None:
        return []
    if not shown.to:
        return ["Nobody was shown a passage."]
    who = " and ".join(map(display_name, shown.to)) + (" alone" if len(shown.to) == 1 else "")
    kind = "false, and speaks for the wrong answer" if is_false(shown.condition) else "true, and speaks for the right answer"
    return [f"{who} had read a passage beside the evidence (it is {kind}): {' '.join(shown.passage.split())}"]


def tally(protocol: Protocol, lessons: Sequence[Lesson], unread: int = 0) -> str:
    """How often the panel, or the only judge, was wrong, and on claims in which direction.

    With `unread` debates that were not held it is said how many there are at the least: those held are where mistakes are likely.
    """
    seats = {turn.persona for lesson in lessons for turn in lesson.debate.turns}
    who = "judge" if len(seats) == 1 else "panel"
    wrong = [lesson for lesson in lessons if not lesson.right]
    often = f"{'at least ' if unread else ''}{len(wrong)} of {len(lessons) + unread}"
    if any(lesson.item.task is not Task.CLAIM for lesson in lessons):
        return f"The {who} was wrong on {often} questions."
    missed = sum(lesson.item.label is Label.GROUNDED for lesson in wrong)
    return (
        f"The {who} was wrong on {often} claims: {missed} times it should have said {protocol.yes}, "
        f"{len(wrong) - missed} times {protocol.no}.{_by_passage(lessons, unread)}"
    )


def _by_passage(lessons: Sequence[Lesson], unread: int) -> str:
    """The same by what the panel was shown; nothing where there are no conditions."""
    by_kind: dict[str, list[bool]] = {}
    for lesson in lessons:
        if lesson.item.shown is not None:
            kind = _SHOWN[lesson.item.shown.condition[0]]
            by_kind.setdefault(kind, []).append(not lesson.right)
    parts = [f"{sum(wrong)} of {len(wrong)} {kind}" for kind, wrong in by_kind.items()]
    held = "Of the debates held, it" if unread else "It"
    return f" {held} was wrong on {', '.join(parts)}. None of these may be lost to gain another." if parts else ""


def shown_lessons(protocol: Protocol, lessons: Sequence[Lesson], tokens: int, most: int, full: bool, component: str) -> list[str]:
    """Debates as text: mistakes, and in full form contested ones that went well, within so many tokens; what is left out is said.

    Args:
        tokens: counted roughly.
        most: mistakes at the most.
        full: with blame, everybody's reasons, and debates that were won.
        component: whose reasons are shown in short form.
    """
    wrong = _one_of_each_first([lesson for lesson in lessons if not lesson.right])
    won = [lesson for lesson in lessons if lesson.right and lesson.contested][:_WON_SHOWN] if full else []
    personas = [component] if not full else list(dict.fromkeys(turn.persona for each in lessons for turn in each.debate.turns))
    shown: list[str] = []
    kept = {"mistake": 0, "good debate": 0}
    for kind, chosen in (("good debate", won), ("mistake", wrong[:most])):
        for lesson in chosen:
            title = f"{'Mistake' if kind == 'mistake' else 'Contested, and decided rightly'} {kept[kind] + 1}"
            text = transcript(protocol, lesson, title, personas)
            if full:
                text += "\n" + "\n".join(blame(protocol, lesson, protocol.aggregator))
            if kept["mistake"] and rough_tokens("\n\n".join([*shown, text])) > tokens:
                break
            shown.append(text)
            kept[kind] += 1
    left_out = len(wrong) - kept["mistake"]
    if left_out:
        shown.append(f"({left_out} more mistakes are left out.)")
    return shown


def _one_of_each_first(lessons: Sequence[Lesson]) -> list[Lesson]:
    """In their order, but a second variant of an item after the first ones of all others."""
    before: Counter[str] = Counter()
    turn = []
    for lesson in lessons:
        turn.append(before[lesson.item.base])
        before[lesson.item.base] += 1
    return [lesson for _, lesson in sorted(zip(turn, lessons, strict=True), key=lambda each: each[0])]


def drawn(lessons: Sequence[Lesson], turn: int) -> list[Lesson]:
    """The same in an order that is drawn for each turn: where not all are shown, others are."""
    return random.Random(f"lessons:{turn}").sample(list(lessons), len(lessons))


def shown_rejections(rejected: Sequence[Rejection], full: bool) -> str:
    """The latest texts that did not help, each with the reason; in short form how those that were tried began. May be empty."""
    if full:
        lines = [f"- {each.text} ({each.reason})" for each in rejected[-_REJECTED_SHOWN:]]
    else:
        tried = [each for each in rejected if each.tried][-_REJECTED_BEGUN:]
        lines = [f"- {_beginning(each.text)} ({each.reason})" for each in tried]
    return "\n".join(["Instructions that were tried and did not help:", *lines]) if lines else ""


def _beginning(text: str) -> str:
    words = text.split()
    return " ".join(words[:_BEGINNING_WORDS]) + (" ..." if len(words) > _BEGINNING_WORDS else "")

"""The section on novelty: does a later round say anything new?"""

from __future__ import annotations

from optimizer.analysis.diagnosis import Diagnosis
from optimizer.analysis.novelty import QUOTED_WORDS, Quartiles
from optimizer.report.figures import percent
from optimizer.report.sections import Section, number

RECORD_REASONS = (
    'optimizer evaluate … --set \'protocol.fields=["reason","verdict","confidence"]\' '
    '--set \'protocol.shared=["verdict","reason"]\''
)


def novelty_section(found: Diagnosis) -> Section:
    """Chain, step and citation novelty; or why they are undefined."""
    novelty = found.novelty
    rows = [
        (
            each.persona,
            str(each.round),
            str(each.turns),
            _quartiles(each.chain),
            _quartiles(each.own),
            _quartiles(each.everyone),
            number(each.citations),
            number(each.citations_everyone),
        )
        for each in novelty.rows
    ]
    meanings = (
        ("chain", "1 − cosine of the text to one's own of the round before; 0: the same, higher: other words"),
        ("step, own", "how far a sentence is from the nearest that the persona itself had said; 0: repeats itself"),
        ("step, all", "the same from the nearest that anybody had said; far below own: it copied a peer"),
        (
            "citations",
            f"evidence sentences newly quoted ({QUOTED_WORDS} words running): not by oneself before, and not by anybody",
        ),
    )
    return Section(
        "Does a later round say anything new?",
        ("persona", "round", "texts", "chain", "step, own", "step, all", "citations, own", "citations, all"),
        tuple(rows),
        meanings if rows else (),
        tuple(_novelty_notes(found)),
    )


def _novelty_notes(found: Diagnosis) -> list[str]:
    novelty = found.novelty
    if found.rounds < 2:
        return ["Novelty is undefined: there is one round."]
    if not novelty.texts:
        return [
            f"Novelty is undefined: none of the {novelty.turns} answers holds a reason, only verdicts. Record reasons with "
            f"{RECORD_REASONS}"
        ]
    if not novelty.rows:
        return ["Novelty is undefined: no persona gave a reason in two rounds running."]
    notes = [
        f"Medians with quartiles, by {novelty.embedder}; figures of two embedders cannot be compared. For scale: two personas' "
        f"first texts on one item are {_quartiles(novelty.between)} apart. {percent(novelty.quoted)} of the texts quote evidence."
    ]
    if novelty.texts < novelty.turns:
        notes.append(f"{novelty.turns - novelty.texts} of {novelty.turns} answers hold no reason and are left out.")
    return notes


def _quartiles(value: Quartiles) -> str:
    return "–" if value.median != value.median else f"{value.median:.2f} ({value.low:.2f} to {value.high:.2f})"

"""A comparison under misinformation as rows of tables, for the terminal and Markdown alike, and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optimizer.misinformation.arms import VERIFIERS, Mitigation, System, arm_of
from optimizer.misinformation.decomposition import Decomposition, Term
from optimizer.misinformation.readings import RULES, Rule, read_by
from optimizer.misinformation.records import Role, Transcript
from optimizer.misinformation.results import Against, Cell, FalsityEffect, Results, plain
from optimizer.misinformation.scores import readable
from optimizer.report.figures import percent, points, probability, with_interval
from optimizer.sections import MisinformationSettings
from optimizer.stats.paired import PairedDifference

Table = tuple[str, Sequence[str], list[list[str]]]
LEGEND = (
    "Accuracy in per cent with its 95 % cluster bootstrap interval, seeds averaged for each question first. What cannot be read "
    "is wrong; readable is the accuracy over the decisions that could be. Differences are paired, in points, each with p "
    "(two-sided cluster sign-flip) and Holm's p over all of them in its table (exposure and mitigations are one). Tokens: read "
    "and written for a question, cached or not."
)


def sampling_remark(rules: MisinformationSettings) -> str:
    """Whether arms sample alike, and how they do where they do not."""
    if (rules.single_temperature, rules.sc15_temperature, rules.sc15_top_p) == (rules.temperature,) * 2 + (rules.top_p,):
        return f"All arms sample alike, at temperature {rules.temperature:g} and top-p {rules.top_p:g}."
    return (
        f"Sampling differs: the model alone at temperature {rules.single_temperature:g}, mSC and debates at "
        f"{rules.temperature:g} (top-p {rules.top_p:g}), SC15 at {rules.sc15_temperature:g} (top-p {rules.sc15_top_p:g}). So mSC "
        "minus single is ensembling and temperature together."
    )


def tables(results: Results) -> list[Table]:
    """Title, head and rows of every table that there is something to say in."""
    cells = results.cells
    mitigated = [cell for cell in cells if cell.mitigation is not Mitigation.NONE]
    title = f"Exposure: {results.items} items in {results.clusters} clusters, {results.agents} agents"
    head: Sequence[str] = ("arm", "exposed", "passage", "items", "accuracy", "readable", "minus 0 exposed", "p / Holm")
    rows = [_curve_row(cell) for cell in cells if cell.mitigation is Mitigation.NONE]
    found: list[Table] = [(title, (*head, "minus mSC", "p / Holm", "tokens"), rows)]
    if mitigated:
        head = (
            "arm",
            "condition",
            "mitigation",
            "items",
            "accuracy",
            "minus unmitigated",
            "p / Holm",
            "minus 0 exposed",
            "p / Holm",
        )
        found.append(("Mitigations", (*head, "tokens"), [_mitigated_row(cell) for cell in mitigated]))
    both = [cell for cell in mitigated if any(each.against is Against.LISTING for each in cell.contrasts)]
    if both:
        head = ("arm", "condition", "items", "speaking minus listing verifier", "p / Holm")
        rows = [[c.name, _condition(c), str(c.accuracy.items), *_contrast(c, Against.LISTING)] for c in both]
        found.append(("A verifier that takes part, against one that lists before answers", head, rows))
    if results.decompositions:
        head = ("debate", "passage", "exposed", "items", "ensembling", "interaction", "misinformation", "total")
        found.append(("Decomposition in points; p / Holm", head, [_decomposition_row(each) for each in results.decompositions]))
    if results.falsity:
        head = ("arm", "style", "exposed", "items", "false minus true", "p / Holm")
        found.append(("Falsity effect", head, [_falsity_row(each) for each in results.falsity]))
    head = ("arm", "condition", "mitigation", "answers", "parsed", "ambiguous", "none", "asked again", "read then", "ties")
    found.append(("How answers were read", head, [_reading_row(cell) for cell in cells if cell.rule is not Rule.STRICT]))
    return found


def markdown(results: Results, remarks: Sequence[str] = ()) -> str:
    """All tables as Markdown."""
    return markdown_tables(tables(results), [LEGEND, *remarks, *(f"Note: {each}." for each in results.warnings)])


def markdown_tables(found: Sequence[Table], remarks: Sequence[str]) -> str:
    """Tables as Markdown sections, remarks behind the first."""
    parts = []
    for index, (title, head, rows) in enumerate(found):
        lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
        parts += [f"## {title}", "\n".join(lines), *(remarks if index == 0 else ())]
    return "\n\n".join(parts) + "\n"


def transcript_lines(transcript: Transcript) -> list[str]:
    """A transcript for reading: who said what, turn by turn, who was exposed, and how it was read."""
    exposure = transcript.exposure
    who = ", ".join(f"agent {slot + 1}" for slot in transcript.exposed)
    shown = f"; {exposure.kind} passage in style {exposure.style} for {who}" if exposure else ""
    lines = [f"{transcript.arm}, seed {transcript.sample}{shown}"]
    for each in transcript.utterances:
        mark = " (asked again)" if each.again else " *" if each.role is Role.DRAFT and each.slot in transcript.exposed else ""
        said = " ".join(each.text.split())
        lines.append(f"  {each.turn} {each.role} {each.agent}{mark}: {each.answer or each.status}   | {said}")
    for rule in RULES[arm_of(transcript.arm).system]:
        if not readable(transcript, rule):
            continue
        reading = read_by(transcript, rule)
        lines.append(f"  {rule}: {reading.answer or 'no decision'}, {'right' if reading.right else 'wrong'}")
    return lines


def to_json(results: Results) -> Any:
    """Plain data, NaN as null."""
    return plain(results)


def condition_name(kind: str, exposed: int, verified: bool = False) -> str:
    """A condition's short name: 0; F1, F3, T1, T3 … by kind and number; V1 with a verifier."""
    if not exposed:
        return "V0" if verified else "0"
    return ("V" if verified else {"false": "F", "true": "T"}.get(kind, f"{kind} ")) + str(exposed)


def _contrast(cell: Cell, against: Against) -> tuple[str, str]:
    """The difference, and its p with Holm's."""
    for contrast in cell.contrasts:
        if contrast.against is against:
            return _difference(contrast.difference), _pair(contrast.difference.p, contrast.p_holm)
    return "–", "–"


def _difference(difference: PairedDifference) -> str:
    return points(difference.difference, difference.low, difference.high)


def _pair(p: float, p_holm: float) -> str:
    return f"{probability(p)} / {probability(p_holm)}"


def _curve_row(cell: Cell) -> list[str]:
    condition = cell.condition
    return [
        cell.name,
        "all" if cell.system is System.SC15 else str(condition.exposed),
        f"{condition.kind} {condition.style}" if condition.exposed else "–",
        str(cell.accuracy.items),
        with_interval(cell.accuracy),
        percent(cell.parsed_only),
        *_contrast(cell, Against.UNEXPOSED),
        *_contrast(cell, Against.MSC),
        f"{cell.tokens:.0f}",
    ]


def _mitigated_row(cell: Cell) -> list[str]:
    return [
        cell.name,
        _condition(cell),
        cell.mitigation.value,
        str(cell.accuracy.items),
        with_interval(cell.accuracy),
        *_contrast(cell, Against.UNMITIGATED),
        *_contrast(cell, Against.UNEXPOSED),
        f"{cell.tokens:.0f}",
    ]


def _reading_row(cell: Cell) -> list[str]:
    statuses, total = cell.statuses, sum(cell.statuses.values())
    shares = [percent(statuses[name] / total) if total else "–" for name in ("parsed", "ambiguous", "none")]
    return [
        cell.name,
        _condition(cell),
        cell.mitigation.value,
        str(total),
        *shares,
        str(cell.second),
        str(cell.mended),
        str(cell.ties),
    ]


def _condition(cell: Cell) -> str:
    condition, verified = cell.condition, cell.mitigation in VERIFIERS["both"]
    return f"{condition_name(condition.kind, condition.exposed, verified)} {condition.style}".strip()


def _decomposition_row(each: Decomposition) -> list[str]:
    condition = each.condition
    terms = [_term(term) for term in (*each.terms, each.total)]
    return [each.rule.value, f"{condition.kind} {condition.style}", str(condition.exposed), str(each.items), *terms]


def _term(term: Term) -> str:
    return f"{points(float(term.value), term.low, term.high)}; {_pair(term.p, term.p_holm)}"


def _falsity_row(each: FalsityEffect) -> list[str]:
    difference = each.difference
    row = [each.name, each.style, str(each.exposed), str(difference.items), _difference(difference)]
    return [*row, _pair(difference.p, each.p_holm)]

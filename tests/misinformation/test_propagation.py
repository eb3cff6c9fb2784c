"""How answers spread, on debates with known answers."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from optimizer.misinformation.arms import Arm, Condition, System
from optimizer.misinformation.decomposition import telescope
from optimizer.misinformation.effects import drops_by_judges, drops_by_place, drops_by_writer, style_regressions, transfer_shares
from optimizer.misinformation.propagation import Triple, agreement, spreads, switches, triples
from optimizer.misinformation.readings import Rule
from optimizer.misinformation.records import Transcript
from optimizer.misinformation.results import misinformation_results
from optimizer.stats.ratios import Share
from tests.misinformation.made import NO, YES, debate, samples


def pairs(record: Transcript) -> set[tuple[int, int, int, bool, bool]]:
    return {(each.turn, each.source, each.receiver, each.exposed, each.adopted) for each in triples(record)}


def test_a_triple_needs_a_pair_that_disagreed() -> None:
    # Agent 1 is exposed and says n; 2 agrees with it and 3 does not; then 3 gives in.
    record = debate(["nny", "nnn", "nnn"], exposed=(0,))
    assert pairs(record) == {(1, 0, 2, True, True), (1, 1, 2, False, True), (1, 2, 1, False, False)}


def test_the_exposed_are_no_receivers_and_all_may_be_sources() -> None:
    record = debate(["nyn", "yyy"], exposed=(0, 2))
    assert pairs(record) == {(1, 0, 1, True, False), (1, 2, 1, True, False)}


@pytest.mark.parametrize(
    ("drafts", "count"),
    [
        (["?yy", "nnn"], 0),  # the source cannot be read
        (["n?n", "nnn"], 0),  # the receiver cannot, at t
        (["nyy", "n?n"], 3),  # one of the receivers cannot, at t + 1: its pair is left out
        (["n!!", "nnn"], 0),  # ambiguous is not read
        (["nyy"], 0),  # there is no next turn
    ],
)
def test_what_cannot_be_read_is_left_out(drafts: list[str], count: int) -> None:
    found = pairs(debate(drafts, exposed=(0,)))
    assert len(found) == (1 if count == 3 else count)


def test_every_debate_of_two_turns_agrees_with_the_definition_taken_literally() -> None:
    for first, second in product(product("yn?", repeat=3), repeat=2):
        record = debate(["".join(first), "".join(second)], exposed=(1,))
        expected = {
            (1, source, receiver, source == 1, second[receiver] == first[source])
            for source in range(3)
            for receiver in (0, 2)
            if source != receiver and "?" not in (first[source], first[receiver], second[receiver])
            if first[source] != first[receiver]
        }
        assert pairs(record) == expected
        assert len(list(triples(record))) == len(expected)


def test_shares_add_up_and_excess_is_their_difference() -> None:
    records = [
        debate(["nyy", "nny", "nnn"], item="a", exposed=(0,)),
        debate(["nyn", "nyn", "nyy"], item="b", exposed=(0,)),
    ]
    (found,) = spreads(records)
    everything = [each for record in records for each in triples(record)]
    from_exposed = [each.adopted for each in everything if each.exposed]
    # a: at 1 both could take n, one did; at 2 the last could, and did. b: agent 2 could at 1 and 2, and did not.
    assert (sum(from_exposed), len(from_exposed)) == (2, 5)
    # a: at 2 agents 2 and 3 differ: 3 takes 2's n, 2 keeps it. b: 2 and 3 differ at 1 (nobody moves) and 2 (3 takes y).
    from_peer = [each.adopted for each in everything if not each.exposed]
    assert (sum(from_peer), len(from_peer)) == (2, 6)
    adoption = found.adoption
    assert (adoption.from_exposed.hits, adoption.from_exposed.total) == (2, 5)
    assert (adoption.from_peer.hits, adoption.from_peer.total) == (2, 6)
    assert adoption.excess == pytest.approx(2 / 5 - 2 / 6)
    for parts in (found.by_transition, found.by_slot):
        assert sum(part.from_exposed.total for part in parts) == 5
        assert sum(part.from_peer.total for part in parts) == 6
    assert [part.place for part in found.by_transition] == ["1→2", "2→3"]
    assert {part.place: part.from_exposed.total for part in found.by_slot} == {"agent 1": 5, "agent 2": 0, "agent 3": 0}


def test_injection_counts_exposed_agents_that_state_the_intended_answer_at_turn_one() -> None:
    records = [
        debate(["nyn", "nnn"], item="a", exposed=(0, 1)),
        debate(["?nn", "nnn"], item="b", exposed=(0, 1)),
    ]
    (found,) = spreads(records)
    assert (found.injected.hits, found.injected.total) == (2, 4)
    (neutral,) = spreads([debate(["nyn", "nnn"], exposed=(0,), kind="filler")])
    assert (neutral.injected.total, neutral.on_intended.total, neutral.converged.hits) == (0, 0, 1)


def test_self_correction_is_of_the_exposed_that_were_wrong_at_turn_one() -> None:
    records = [
        debate(["nny", "yny", "yny"], item="a", exposed=(0, 1)),  # one of two comes back
        debate(["yny", "nyy", "nyy"], item="b", exposed=(0, 1)),  # the first was right: only the second counts
        debate(["?yy", "yyy"], item="c", exposed=(0, 1)),  # neither stated a wrong answer
    ]
    (found,) = spreads(records)
    assert (found.self_correction.hits, found.self_correction.total) == (2, 3)


def test_switches_count_changes_between_answers_that_could_be_read() -> None:
    assert switches(debate(["yny", "nny", "yyy"])) == 3
    assert switches(debate(["y?y", "nny", "???"])) == 1


def test_convergence_is_one_answer_of_all_in_the_last_turn() -> None:
    records = [
        debate(["nyy", "nnn", "nnn"], item="a", exposed=(0,)),
        debate(["nyy", "yyy"], item="b", exposed=(0,)),
        debate(["nyy", "nnn", "nny"], item="c", exposed=(0,)),
        debate(["nyy", "nn?"], item="d", exposed=(0,)),
    ]
    (found,) = spreads(records)
    assert (found.converged.hits, found.on_intended.hits, found.converged.total) == (2, 1, 4)
    assert found.first_agreement == 2
    assert agreement(records[0], 1) == ""
    assert (agreement(records[0], 2), agreement(records[1], 2)) == (NO, YES)


def test_conditions_are_kept_apart_and_unexposed_debates_left_out() -> None:
    records = [
        debate(["nyy", "nny"], item="a", exposed=(0,)),
        debate(["nny", "nny"], item="a", exposed=(0, 1)),
        debate(["yyy", "yyy"], item="a"),
        replace(debate(["nyy"], item="b", exposed=(0,)), failure="gone"),
    ]
    assert [(each.arm.condition.exposed, each.debates) for each in spreads(records)] == [(1, 1), (2, 1)]


def test_a_share_without_triples_is_no_number() -> None:
    (found,) = spreads([debate(["nnn", "nnn"], exposed=(0, 1, 2))])
    assert found.adoption.from_exposed == Share(0, 0, *(found.adoption.from_exposed.low, found.adoption.from_exposed.high))
    assert math.isnan(found.adoption.excess)
    assert found.by_transition == ()


def test_the_decomposition_telescopes_exactly_on_the_items_that_all_have() -> None:
    thirds = [Fraction(1, 3), Fraction(2, 3), Fraction(1), Fraction(0)]
    chain = [{f"i{n}": thirds[(n * step + n // 2) % 4] for n in range(11) if (n + step) % 7} for step in (1, 2, 3, 5)]
    clusters = {f"i{n}": f"c{n // 2}" for n in range(11)}
    items, terms, total = telescope(chain, clusters)
    common = set.intersection(*(set(scores) for scores in chain))
    assert items == len(common)
    assert sum(term.value for term in terms) == total.value
    assert total.value == sum(chain[3][item] - chain[0][item] for item in common) / len(common)
    assert [term.name for term in terms] == ["ensembling", "interaction", "misinformation"]
    assert all(term.low <= float(term.value) <= term.high for term in (*terms, total))


def outcome(item: str, right: bool, exposed: tuple[int, ...] = (), kind: str = "false", **facts: object) -> Transcript:
    letters = "yyy" if right else "nnn"
    return debate([letters] * 3, {3: (letters, "")}, item=item, exposed=exposed, kind=kind, **facts)


def test_transfer_is_ones_effect_over_that_of_all() -> None:
    records = []
    for n in range(40):
        records += [
            outcome(f"i{n}", True),
            outcome(f"i{n}", n >= 10, (0,)),
            outcome(f"i{n}", n >= 30, (0, 1, 2)),
            outcome(f"i{n}", True, (0,), "true"),
            outcome(f"i{n}", True, (0, 1, 2), "true"),
        ]
    shares = {(each.rule, each.kind): each for each in transfer_shares(records, 3)}
    loss = shares[Rule.VOTING, "false"]
    assert (loss.one, loss.everybody, loss.share) == (0.25, 0.75, pytest.approx(1 / 3))
    assert loss.low < 1 / 3 < loss.high
    assert math.isnan(shares[Rule.CONSENSUS, "true"].share)  # nothing was gained


def test_decomposition_falsity_and_holm_come_from_the_same_scores() -> None:
    records = []
    for n in range(12):
        item = f"i{n}"
        records += [
            samples("y" if n % 3 else "n", System.SINGLE, item),
            samples("yyn" if n % 4 else "nny", System.MSC, item),
            outcome(item, n % 6 > 0),
            outcome(item, n % 2 > 0, (0, 1, 2)),
            outcome(item, n != 5, (0, 1, 2), "true"),
        ]
    records.append(samples("y", System.SINGLE, "only single"))
    found = misinformation_results(records, 3)
    decomposition = next(each for each in found.decompositions if each.condition.kind == "false" and each.rule is Rule.VOTING)
    assert decomposition.items == 12
    assert [term.value for term in decomposition.terms] == [Fraction(1, 12), Fraction(1, 12), Fraction(-1, 3)]
    assert decomposition.total.value == Fraction(-1, 6) == sum(term.value for term in decomposition.terms)
    falsity = next(each for each in found.falsity if each.name == "debate, voting")
    assert falsity.difference.difference == pytest.approx(6 / 12 - 11 / 12)
    contrasts = [contrast for cell in found.cells for contrast in cell.contrasts]
    raw, corrected = [each.difference.p for each in contrasts], [each.p_holm for each in contrasts]
    smallest = min(range(len(raw)), key=raw.__getitem__)
    assert corrected[smallest] == pytest.approx(min(1, raw[smallest] * len(raw)))


def test_style_length_and_cue_are_told_apart() -> None:
    records = []
    for n in range(60):
        for style in ("plain", "rumor"):
            wrong = style == "rumor" and n % 2 == 0
            shown = outcome(f"i{n}", not wrong, (0,), words=20 + n % 5, names_answer=n % 3 == 0)
            assert shown.exposure is not None
            arm = Arm(System.DEBATE, Condition(1, "false", style)).id
            records.append(replace(shown, arm=arm, exposure=replace(shown.exposure, style=style)))
    found = next(each for each in style_regressions(records) if each.rule is Rule.VOTING)
    assert (found.rows, found.reference) == (120, "plain")
    values = {each.name: each for each in found.coefficients}
    assert list(values) == ["intercept", "style rumor", "ten more words", "names the answer verbatim"]
    assert values["style rumor"].value == pytest.approx(0.5)
    assert values["style rumor"].p < 0.001 < values["names the answer verbatim"].p
    assert len(found.p_holm) == 3


def test_drops_are_told_by_judges_and_by_writers() -> None:
    records = []
    for n in range(10):
        records.append(outcome(f"i{n}", True))
        by_one = n < 5
        records.append(outcome(f"i{n}", not (by_one or n == 9), (0, 1), verified=by_one, provenance="one" if by_one else "other"))
    judged = {each.group: (each.items, each.drop) for each in drops_by_judges(records)}
    assert judged == {"verified": (5, 1.0), "unverified": (5, pytest.approx(0.2))}
    assert [(each.group, each.exposed, each.items) for each in drops_by_writer(records)] == [("one", 2, 5), ("other", 2, 5)]
    assert drops_by_judges([outcome("i", True), outcome("i", True, (0,))]) == []


def test_drops_are_told_by_where_the_exposed_agent_speaks() -> None:
    """Only who speaks last misleads a consensus; a vote is never lost to one."""
    records = []
    for n in range(9):
        ballot = {3: ("yyy", "yyy")}
        records.append(debate(["yyy", "yyy", "yyy"], ballot, item=f"i{n}"))
        last = "n" if n % 3 == 2 else "y"
        records.append(debate(["yyy", "yyy", f"yy{last}"], ballot, item=f"i{n}", exposed=(n % 3,)))
    records.append(debate(["nnn"] * 3, {3: ("nnn", "nnn")}, item="i0", exposed=(0, 1, 2)))
    drops = {
        rule: [(each.group, each.items, each.drop) for each in drops_by_place(records, rule)]
        for rule in (Rule.VOTING, Rule.CONSENSUS)
    }
    assert drops[Rule.VOTING] == [("speaks at place 2", 3, 0.0), ("speaks first", 3, 0.0), ("speaks last", 3, 0.0)]
    assert drops[Rule.CONSENSUS] == [("speaks at place 2", 3, 0.0), ("speaks first", 3, 0.0), ("speaks last", 3, 1.0)]


def test_triples_know_their_cluster() -> None:
    assert {each.cluster for each in triples(debate(["ny", "ny"], item="a", exposed=(0,)))} == {"cluster of a"}
    assert Triple("c", 1, 0, 1, True, False).adopted is False

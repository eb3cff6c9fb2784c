"""Comparisons of hand-made debates with known answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer.analysis.comparison import Comparison, Entry, compare_debates
from optimizer.data.item import Item
from optimizer.debate.records import Debate
from optimizer.report.comparison import HEAD, markdown, remarks, table_rows, to_json
from optimizer.stats.paired import sign_flip_test
from tests.analysis.records import debate, item, right_or_wrong

ITEMS = [item(f"i{n:03}", "yn"[n % 2]) for n in range(120)]
IDS = [each.id for each in ITEMS]


def compare(entries: list[Entry], debates: list[Debate], items: list[Item] = ITEMS) -> Comparison:
    return compare_debates("run", "dev", entries, debates, items)


def test_seven_tries_that_each_win_seven_net_of_120_are_never_significant() -> None:
    """The published case: +5.83 points on 120 items, the best of seven."""
    base = set(IDS[:70])
    debates = right_or_wrong(ITEMS, "seed", base)
    entries = [Entry("seed", "seed")]
    for losses in range(7):
        wins = losses + 7
        right = (base - set(IDS[10 * losses : 10 * losses + losses])) | set(IDS[70 : 70 + wins])
        entries.append(Entry(f"c{losses}", f"c{losses}"))
        debates += right_or_wrong(ITEMS, f"c{losses}", right)
    found = compare(entries, debates)
    tries = found.rows[1:]
    assert {row.difference.wins - row.difference.losses for row in tries if row.difference} == {7}
    assert tries[0].difference is not None
    assert tries[0].difference.difference == pytest.approx(0.0583, abs=1e-4)
    assert tries[0].difference.p == pytest.approx(0.015625)
    assert all(row.p_holm is not None and row.p_holm > 0.05 for row in tries)
    assert all(row.verdict == "not distinguishable" for row in tries if row.p_max_t and row.p_max_t > 0.05)
    assert min(row.p_holm for row in tries if row.p_holm is not None) == pytest.approx(7 * 0.015625)


def test_from_counts_alone_a_net_of_seven_in_seven_tries_is_never_significant() -> None:
    import numpy as np

    for losses in range(57):
        sums = np.array([1.0] * (losses + 7) + [-1.0] * losses)
        if len(sums) <= 120:
            assert 7 * sign_flip_test(sums) > 0.05


def test_a_clear_gain_is_better_and_a_clear_loss_worse() -> None:
    debates = (
        right_or_wrong(ITEMS, "seed", set(IDS[:60]))
        + right_or_wrong(ITEMS, "up", set(IDS[:90]))
        + right_or_wrong(ITEMS, "down", set(IDS[:30]))
    )
    found = compare([Entry("seed", "seed"), Entry("up", "up"), Entry("down", "down")], debates)
    assert [row.verdict for row in found.rows] == ["the baseline", "better", "worse"]
    assert found.best == "up"
    assert found.best_corrected is not None
    assert found.best_corrected <= 0.75
    assert found.cochran_p is not None
    assert found.cochran_p < 0.001


def test_clusters_make_a_gain_uncertain() -> None:
    clustered = [replace(each, cluster=f"c{n // 12}") for n, each in enumerate(ITEMS)]
    debates = right_or_wrong(ITEMS, "seed", set(IDS[:60])) + right_or_wrong(ITEMS, "up", set(IDS[:72]))
    entries = [Entry("seed", "seed"), Entry("up", "up")]
    alone, together = compare(entries, debates), compare(entries, debates, clustered)
    assert alone.rows[1].verdict == "better"
    assert together.rows[1].verdict == "not distinguishable"
    assert together.clusters == 10
    assert any("only 10 clusters" in warning for warning in together.warnings)


def test_a_raced_candidate_has_an_anytime_p_and_no_corrected_one() -> None:
    looked_at = IDS[:9]
    order = tuple((name, (name,)) for name in IDS)
    debates = right_or_wrong(ITEMS, "seed", set(IDS[20:]))
    debates += right_or_wrong(ITEMS[:9], "winner", set(looked_at)) + right_or_wrong(ITEMS[:3], "loser", set())
    entries = [
        Entry("seed", "seed"),
        Entry("winner", "winner", incumbent="seed", order=order),
        Entry("loser", "loser", incumbent="seed", order=order),
    ]
    _, winner, loser = compare(entries, debates).rows
    assert winner.race is not None
    assert loser.race is not None
    assert winner.race.clusters == winner.accuracy.items == 9
    assert winner.race.p < 0.05
    assert winner.verdict == f"stopped at 9, anytime p {winner.race.p:.3g}"
    assert loser.race.p == 1.0
    assert winner.p_holm is winner.p_max_t is loser.p_holm is None
    assert winner.difference is not None
    assert winner.difference.unpaired == 0


def test_failed_and_unpaired_items_are_counted_and_bad_answers_are_wrong() -> None:
    debates = right_or_wrong(ITEMS, "seed", set(IDS))[:-1]
    other = right_or_wrong(ITEMS, "other", set(IDS))
    other[0] = replace(other[0], decision=None, failure="HTTP 500")
    other[1] = debate(IDS[1], "other", "n--")
    found = compare([Entry("seed", "seed"), Entry("other", "other")], [*debates, *other])
    row = found.rows[1]
    assert row.failed == 1
    assert row.difference is not None
    assert row.difference.items == 118
    assert row.difference.unpaired == 2
    assert row.outcomes["unparsed"] == 2
    assert any("1 debates failed" in warning for warning in found.warnings)
    assert any("2 items lack a score" in warning for warning in found.warnings)


def test_repeats_are_averaged_before_they_are_compared() -> None:
    items = ITEMS[:2]
    debates = [debate(each.id, "seed", "yyy") for each in items]
    debates += [debate(items[0].id, "other", vote * 3, sample=n) for n, vote in enumerate("yn")] + [
        debate(items[1].id, "other", "nnn")
    ]
    row = compare([Entry("seed", "seed"), Entry("other", "other")], debates, items).rows[1]
    assert row.accuracy.right == 1.5


def test_tables_and_json_say_the_same_and_escape_what_they_must() -> None:
    debates = right_or_wrong(ITEMS, "seed", set(IDS[:60])) + right_or_wrong(ITEMS, "up", set(IDS[:90]))
    found = compare([Entry("seed", "seed"), Entry("up", "a | b")], debates)
    rows = table_rows(found)
    assert all(len(row) == len(HEAD) for row in rows)
    assert rows[1][4:6] == ["+25.0 (+18 to +33)", "+30 −0"]
    text = markdown(found)
    assert "a \\| b" in text
    assert to_json(found)["rows"][1]["difference"]["wins"] == 30
    assert to_json(found)["rows"][1]["tokens"] is None
    assert any("corrected for having been picked" in line for line in remarks(found))


def test_a_candidate_with_many_failed_debates_is_not_ranked() -> None:
    debates = right_or_wrong(ITEMS, "seed", set(IDS[:60])) + right_or_wrong(ITEMS, "up", set(IDS))
    debates[120:140] = [replace(each, decision=None, failure="HTTP 500") for each in debates[120:140]]
    row = compare([Entry("seed", "seed"), Entry("up", "up")], debates).rows[1]
    assert row.verdict == "not ranked: 20 of 120 debates failed"

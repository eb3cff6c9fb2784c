"""The verdict in words follows the sealed test, and luck is not sold."""

from __future__ import annotations

import pytest

from optimizer.analysis.headroom import oracle_headroom
from optimizer.search.ending import compare_on_test

CLUSTERS = {f"i{n}": f"c{n}" for n in range(60)}


def scores(right: range) -> dict[str, float]:
    return {item: float(int(item[1:]) in right) for item in CLUSTERS}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (range(30), range(40), "better"),
        (range(40), range(30), "worse"),
        (range(30), range(35), "not distinguishable"),
        (range(30), range(30), "not distinguishable"),
    ],
)
def test_the_sign_flip_p_decides_the_verdict(before: range, after: range, verdict: str) -> None:
    result = compare_on_test(scores(before), scores(after), CLUSTERS, unchanged=False)
    assert result.verdict == verdict
    assert f"is {verdict}" in result.statement


def test_what_the_test_could_have_seen_stands_beside_a_null_result() -> None:
    statement = compare_on_test(scores(range(30)), scores(range(33)), CLUSTERS, unchanged=False).statement
    assert "net gain of 6 items without a loss (10 points)" in statement
    assert "80 % power" in statement


def test_a_seed_that_stays_is_no_win() -> None:
    result = compare_on_test(scores(range(30)), scores(range(30)), CLUSTERS, unchanged=True)
    assert result.verdict == "unchanged"
    assert "so the seed stays: 30 of 60 right" in result.statement


def test_failed_items_are_left_out_in_pairs_and_counted() -> None:
    before = scores(range(30))
    del before["i0"]
    result = compare_on_test(before, scores(range(30)), CLUSTERS, unchanged=False)
    assert (result.difference.items, result.difference.unpaired) == (59, 1)


def test_49_always_wrong_of_120_is_an_oracle_of_59_per_cent() -> None:
    first = {str(i): float(i < 60) for i in range(120)}
    second = {str(i): float(11 <= i < 71) for i in range(120)}
    found = oracle_headroom({"a": first, "b": second})
    assert (len(found.always_wrong), found.items) == (49, 120)
    assert found.oracle == pytest.approx(0.592, abs=0.0005)
    assert found.headroom == pytest.approx(11 / 120)


def test_headroom_needs_common_items() -> None:
    with pytest.raises(ValueError, match="no item in common"):
        oracle_headroom({"a": {"x": 1.0}, "b": {"y": 1.0}})

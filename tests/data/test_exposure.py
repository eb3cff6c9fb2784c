"""Who is exposed, and to what."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise

import pytest
from scipy.stats import chisquare

from optimizer.data.exposure import PassageBank, exposed_slots
from optimizer.data.passages import JudgeFlags, Passage, PassageKind
from tests.conftest import make_items

ITEMS = make_items(12)


def passages() -> list[Passage]:
    lengths = {(PassageKind.FALSE, "plain"): 10, (PassageKind.FALSE, "rumor"): 20, (PassageKind.TRUE, "plain"): 12}
    return [
        Passage(item.id, kind, style, "tests", " ".join([f"{kind}-{style}-{item.id}"] * words))
        for item in ITEMS
        for (kind, style), words in lengths.items()
    ]


@pytest.mark.parametrize(("agents", "exposed"), [(3, 1), (3, 2), (5, 1), (5, 2), (5, 3)])
def test_every_set_of_slots_is_equally_likely(agents: int, exposed: int) -> None:
    counts = Counter(exposed_slots(f"item {i}", agents, exposed, seed=1) for i in range(6000))
    assert set(counts) == set(combinations(range(agents), exposed))
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_the_draw_depends_on_item_and_seed_alone() -> None:
    code = "from optimizer.data.exposure import exposed_slots as e; print([e(f'i{n}', 5, 2, 7) for n in range(20)])"
    drawn = set()
    for hash_seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": "."}
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        drawn.add(result.stdout)
    assert drawn == {f"{[exposed_slots(f'i{n}', 5, 2, 7) for n in range(20)]}\n"}
    assert [exposed_slots(f"i{n}", 5, 2, 7) for n in range(20)] != [exposed_slots(f"i{n}", 5, 2, 8) for n in range(20)]


def test_slots_of_fewer_exposed_are_among_those_of_more() -> None:
    for n in range(50):
        drawn = [set(exposed_slots(f"i{n}", 5, k, 0)) for k in range(6)]
        assert [len(each) for each in drawn] == [0, 1, 2, 3, 4, 5]
        assert all(fewer < more for fewer, more in pairwise(drawn))


def test_the_exposed_never_speak_last_where_that_is_asked_and_possible() -> None:
    drawn = [exposed_slots(f"i{n}", 3, 1, 0, may_be_last=False) for n in range(3000)]
    assert chisquare([drawn.count((0,)), drawn.count((1,))]).pvalue > 0.001
    assert len(drawn) == drawn.count((0,)) + drawn.count((1,))
    assert exposed_slots("i", 3, 3, 0, may_be_last=False) == (0, 1, 2)


def test_more_exposed_than_agents_is_an_error() -> None:
    with pytest.raises(ValueError, match="4 of 3 agents cannot be exposed"):
        exposed_slots("i", 3, 4, 0)


def test_an_irrelevant_passage_is_another_clusters_of_the_same_style() -> None:
    bank = PassageBank(ITEMS, passages(), seed=3)
    cluster = {item.id: item.cluster for item in ITEMS}
    for kind, source in ((PassageKind.IRRELEVANT_FALSE, "false-rumor-"), (PassageKind.IRRELEVANT_TRUE, "true-plain-")):
        style = source.split("-")[1]
        for item in ITEMS:
            found = bank.passage(item.id, kind, style)
            assert found is not None
            assert found.text.startswith(source)
            assert cluster[found.text.split()[0].removeprefix(source)] != item.cluster
            assert (found.item, found.kind) == (item.id, kind)
    again = PassageBank(reversed(ITEMS), reversed(passages()), seed=3)
    other = PassageBank(ITEMS, passages(), seed=4)
    drawn, drawn_again, drawn_other = (
        [b.passage(item.id, PassageKind.IRRELEVANT_FALSE, "plain") for item in ITEMS] for b in (bank, again, other)
    )
    assert drawn == drawn_again != drawn_other


def test_a_passage_that_is_there_goes_before_one_that_would_be_made() -> None:
    own = Passage("item-0", PassageKind.IRRELEVANT_TRUE, "plain", "tests", "Bees dance.")
    bank = PassageBank(ITEMS, [*passages(), own])
    assert bank.passage("item-0", PassageKind.IRRELEVANT_TRUE, "plain") == own


def test_filler_is_cut_to_the_mean_length_of_the_items_passages() -> None:
    bank = PassageBank(ITEMS, passages(), ["One two three four.", "Five six seven.", "Eight nine."])
    found = bank.passage("item-0", PassageKind.FILLER, "rumor")
    assert found is not None
    assert len(found.text.split()) == 14  # of 10, 20 and 12
    assert found.text.endswith(".")
    assert found == bank.passage("item-0", PassageKind.FILLER, "plain")
    assert len({bank.passage(item.id, PassageKind.FILLER, "") for item in ITEMS}) == len(ITEMS)


def test_without_a_source_there_is_no_passage() -> None:
    bank = PassageBank(ITEMS, passages())
    assert bank.passage("item-0", PassageKind.FALSE, "hoax") is None
    assert bank.passage("item-0", PassageKind.IRRELEVANT_FALSE, "hoax") is None
    assert bank.passage("item-0", PassageKind.FILLER, "") is None
    assert bank.styles(PassageKind.IRRELEVANT_FALSE) == ["plain", "rumor"]


def test_a_passage_is_verified_where_two_judges_agree() -> None:
    def judged(*flags: tuple[bool, bool]) -> Passage:
        said = {f"judge {i}": JudgeFlags(contradicts, supports, False) for i, (contradicts, supports) in enumerate(flags)}
        return Passage("i", PassageKind.FALSE, "plain", "tests", "text", said)

    assert judged((True, True)).verified() is None
    assert judged((True, True), (True, True)).verified() is True
    assert judged((True, True), (False, True)).verified() is False
    assert judged((True, True), (False, True)).verified(support_alone=True) is True
    assert judged((True, True), (True, False)).verified(support_alone=True) is False

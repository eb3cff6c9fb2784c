"""How fast policies are tried on many debates, and how often the honest interval holds where there is nothing to find."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pytest

from optimizer.analysis.policy.data import policy_data
from optimizer.analysis.policy.tuning import Tuning, tune
from optimizer.data.item import Item, Label
from optimizer.debate.records import Debate, Turn
from optimizer.debate.verdict import Outcome, Verdict
from tests.benchmarks.policies import PERSONAS, coverage, tuned_coin_flips
from tests.benchmarks.table import record

DEBATES, MOST_TRIALS, LIMIT = 20_000, 5_000, 60.0
REPLICATIONS, REPLICATION_TRIALS = 1_000, 200
SIZES = ((120, 2, 5), (600, 3, 5), (60, 1, 3))  # items, items a cluster, outer folds


def test_thousands_of_policies_are_tried_on_twenty_thousand_debates_in_a_minute() -> None:
    debates = recorded(DEBATES)
    read = timed(lambda: policy_data(debates, PERSONAS))
    data = policy_data(debates, PERSONAS)
    seconds = timed(lambda: tune(data, trials=MOST_TRIALS))
    record(
        f"{MOST_TRIALS} policies tried on {DEBATES} debates of two rounds, fits and intervals included",
        f"{seconds:.1f} s ({60 * MOST_TRIALS / seconds:.0f} a minute); debates into arrays {read:.1f} s",
        f"{seconds / LIMIT:.2f} of a minute",
        "≤ 1",
    )
    assert seconds < LIMIT


@pytest.mark.parametrize(("items", "cluster_size", "folds"), SIZES)
def test_the_honest_interval_holds_zero_on_coin_flips_at_its_stated_rate(items: int, cluster_size: int, folds: int) -> None:
    once = partial(tuned_coin_flips, items=items, cluster_size=cluster_size, trials=REPLICATION_TRIALS, folds=folds)
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(once, range(REPLICATIONS), chunksize=10))
    held, above, rejected = coverage(found)
    plain = 100 * np.mean([abs(each.honest.gain) <= half_width(each) for each in found])
    honest, naive = 100 * np.mean([each.honest.gain for each in found]), 100 * np.mean([each.naive for each in found])
    print(f"\n{items} items in {items // cluster_size} clusters, {folds} folds, {REPLICATION_TRIALS} policies tried:")
    print(f"{held}; {above}; {rejected}")
    print(f"without the stretch {plain:.1f} %; mean honest gain {honest:+.2f} points, naive {naive:+.2f}")
    assert 0.93 <= held.share <= 0.97


def half_width(found: Tuning) -> float:
    """Of the interval on the side of 0, as it was before it was stretched."""
    honest = found.honest
    side = honest.gain - honest.low if honest.gain > 0 else honest.high - honest.gain
    return float(side / honest.stretch)


def recorded(count: int, seed: int = 0) -> list[tuple[Debate, Item]]:
    """Debates as an event log gives them; two items a cluster, three personas, two rounds, votes right 6 times in 10."""
    generator = np.random.default_rng(seed)
    labels = (Label.GROUNDED, Label.NOT_GROUNDED)
    found = []
    for number in range(count):
        truth = int(generator.integers(2))
        item = Item(f"i{number}", f"Claim {number}.", (f"Evidence {number // 2}.",), labels[truth], f"c{number // 2}")
        hits, sure = generator.random((2, 3)) < 0.6, generator.integers(50, 101, (2, 3))
        turns = tuple(
            Turn(
                persona, which + 1, "", "", "stop", verdict(labels[truth if hits[which, seat] else 1 - truth], sure[which, seat])
            )
            for which in range(2)
            for seat, persona in enumerate(PERSONAS)
        )
        found.append((Debate(item.id, "panel", 0, turns, labels[truth if hits[1].sum() > 1 else 1 - truth], "majority"), item))
    return found


def verdict(label: Label, confidence: int) -> Verdict:
    return Verdict(Outcome.OK, label, float(confidence))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started

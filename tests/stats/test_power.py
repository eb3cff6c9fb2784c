"""Power and non-inferiority against simulation and the figures of the literature."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optimizer.stats.clusters import ClusterSums, cluster_sums
from optimizer.stats.noninferiority import Reading, items_for_margin, non_inferiority
from optimizer.stats.power import detectable_gain, items_needed


def test_items_needed_is_the_inverse_of_the_detectable_gain() -> None:
    for gain, discordance, effect, tries in ((0.05, 0.15, 1.0, 1), (0.1, 0.2, 1.4, 7)):
        items = items_needed(gain, discordance, effect, tries=tries)
        assert detectable_gain(items, discordance, effect, tries=tries) == pytest.approx(gain, abs=1e-3)
        assert detectable_gain(items - 2, discordance, effect, tries=tries) > gain


def test_more_tries_need_more_items() -> None:
    assert items_needed(0.05, 0.15, tries=7) > items_needed(0.05, 0.15)
    with pytest.raises(ValueError, match="no more than the discordance"):
        items_needed(0.3, 0.2)


def test_three_points_at_ten_per_cent_discordance_need_about_690_items() -> None:
    assert items_for_margin(0.03, 0.1) == pytest.approx(690, abs=5)
    with pytest.raises(ValueError, match="margin"):
        items_for_margin(0, 0.1)


def test_the_margin_holds_its_power_in_simulation() -> None:
    items = items_for_margin(0.05, 0.1)
    generator = np.random.default_rng(0)
    found = [
        non_inferiority(ClusterSums(generator.choice([1.0, -1.0, 0.0], items, p=[0.05, 0.05, 0.9]), np.ones(items)), 0.05).reading
        for _ in range(600)
    ]
    assert found.count(Reading.NOT_WORSE) / 600 == pytest.approx(0.8, abs=0.05)
    assert Reading.WORSE not in found


def test_readings() -> None:
    names = [str(i) for i in range(100)]
    assert non_inferiority(cluster_sums([-1.0] * 30 + [0.0] * 70, names), 0.05).reading is Reading.WORSE
    assert non_inferiority(cluster_sums([0.0] * 100, names), 0.05).reading is Reading.NOT_WORSE
    assert non_inferiority(cluster_sums([-1.0, 1.0, *[0.0] * 8], names[:10]), 0.05).reading is Reading.INCONCLUSIVE
    one = non_inferiority(cluster_sums([0.0, 0.0], ["a", "a"]), 0.05)
    assert one.reading is Reading.INCONCLUSIVE
    assert math.isnan(one.low)
    with pytest.raises(ValueError, match="positive"):
        non_inferiority(cluster_sums([0.0], ["a"]), -0.03)

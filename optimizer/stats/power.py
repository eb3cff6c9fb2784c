"""What a test of a given size can see at all, said before money is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from optimizer.stats.noninferiority import items_for_margin

_NORMAL = NormalDist()


def smallest_significant_gain(clusters: int, tries: int = 1, alpha: float = 0.05) -> int | None:
    """The smallest net gain in items, without a single loss and in as many clusters, that can be significant.

    n wins and no loss have the two-sided sign-flip p 2 / 2^n; with Bonferroni's worst case over `tries`. None where
    even a win in every cluster is not enough.
    """
    if tries < 1 or not 0 < alpha < 1:
        raise ValueError(f"tries must be at least 1 and alpha between 0 and 1 but got {tries} and {alpha}")
    needed = max(1, math.ceil(math.log2(2 * tries / alpha)))
    return needed if needed <= clusters else None


def detectable_gain(
    items: int, discordance: float, design_effect: float = 1.0, power: float = 0.8, alpha: float = 0.05, tries: int = 1
) -> float:
    """The true gain that a two-sided paired test finds with the given power (Connor 1987, normal approximation).

    Args:
        items: paired items.
        discordance: the share of items on which the two differ, in (0, 1].
        design_effect: variance inflation by clusters, 1 + (m - 1) * rho.
        power: the share of such tests that find it.
        alpha: of the family of all tries.
        tries: each is tested at alpha / tries.

    Returns:
        A difference in accuracy. It cannot exceed the discordance; where even that is not enough, NaN.
    """
    if items < 1 or not 0 < discordance <= 1:
        raise ValueError(f"items must be positive and discordance in (0, 1] but got {items} and {discordance}")
    if _shortfall(discordance, items, discordance, design_effect, power, alpha, tries) > 0:
        return math.nan
    low, high = 0.0, discordance
    for _ in range(60):
        middle = (low + high) / 2
        enough = _shortfall(middle, items, discordance, design_effect, power, alpha, tries) <= 0
        low, high = (low, middle) if enough else (middle, high)
    return high


def items_needed(
    gain: float, discordance: float, design_effect: float = 1.0, power: float = 0.8, alpha: float = 0.05, tries: int = 1
) -> int:
    """How many paired items a two-sided test needs to find a true gain with the given power (Connor 1987).

    Raises:
        ValueError: the gain is not in (0, discordance].
    """
    if not 0 < gain <= discordance <= 1:
        raise ValueError(f"gain must be positive and no more than the discordance {discordance} but got {gain}")
    z_alpha, z_power = _NORMAL.inv_cdf(1 - alpha / tries / 2), _NORMAL.inv_cdf(power)
    numerator = z_alpha * math.sqrt(discordance) + z_power * math.sqrt(discordance - gain * gain)
    return math.ceil((numerator / gain) ** 2 * design_effect)


def _shortfall(
    gain: float, items: int, discordance: float, design_effect: float, power: float, alpha: float, tries: int
) -> float:
    z_alpha, z_power = _NORMAL.inv_cdf(1 - alpha / tries / 2), _NORMAL.inv_cdf(power)
    spread = math.sqrt(max(discordance - gain * gain, 0.0))
    return z_alpha * math.sqrt(discordance) + z_power * spread - gain * math.sqrt(items / design_effect)


@dataclass(frozen=True, slots=True)
class TestPower:
    """What a test can see. `possible` is the smallest net gain in items that can be significant; `found` is a gain in accuracy.

    `needed` items find `gain`, and `needed_for_margin` rule out a loss of `margin`; None where that was not asked.
    """

    items: int
    clusters: int
    tries: int
    discordance: float
    design_effect: float
    alpha: float
    possible: int | None
    found: float
    gain: float | None
    needed: int | None
    margin: float | None
    needed_for_margin: int | None


def power_of_test(
    items: int,
    clusters: int,
    tries: int = 1,
    discordance: float = 0.15,
    correlation: float = 0.0,
    alpha: float = 0.05,
    gain: float | None = None,
    margin: float | None = None,
) -> TestPower:
    """All that can be said of a test before it is made.

    Args:
        items, clusters: its size; clusters of equal size are assumed.
        tries: candidates compared with the baseline, corrected for as Bonferroni would at worst.
        discordance: the share of items on which two prompts differ.
        correlation: of paired differences within a cluster; the design effect is 1 + (items / clusters - 1) * correlation.
        alpha: two-sided; one-sided for the margin.
        gain: a true gain to find.
        margin: a loss to rule out.
    """
    effect = 1 + (items / clusters - 1) * correlation
    return TestPower(
        items,
        clusters,
        tries,
        discordance,
        effect,
        alpha,
        smallest_significant_gain(clusters, tries, alpha),
        detectable_gain(items, discordance, effect, alpha=alpha, tries=tries),
        gain,
        None if gain is None else items_needed(gain, discordance, effect, alpha=alpha, tries=tries),
        margin,
        None if margin is None else items_for_margin(margin, discordance, effect, alpha=alpha),
    )


def power_statement(power: TestPower) -> list[str]:
    """The same in words, a line each."""
    tries = "" if power.tries == 1 else f", corrected for {power.tries} tries"
    if power.possible is None:
        first = f"With {power.clusters} clusters no gain at all can be significant{tries}."
    else:
        first = (
            f"The smallest net gain that can be significant at all is {power.possible} items of {power.items} "
            f"({100 * power.possible / power.items:.1f} points), won without a single loss, each in a cluster of its own{tries}."
        )
    assumed = f"if two prompts differ on {power.discordance:.0%} of the items and the design effect is {power.design_effect:.2f}"
    second = (
        f"A gain is found with 80 % power from {100 * power.found:.1f} points on, {assumed}."
        if power.found == power.found
        else f"No gain is found with 80 % power, {assumed}: take more items."
    )
    lines = [first, second]
    if power.gain is not None:
        lines.append(f"A true gain of {100 * power.gain:.1f} points takes {power.needed} items to be found with 80 % power.")
    if power.margin is not None:
        lines.append(
            f"To show that a prompt is worse by less than {100 * power.margin:.1f} points takes {power.needed_for_margin} items."
        )
    return lines

"""The baselines: the model alone, alone under the debate's prompt, and samples that are exposed as a debate's agents are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial

from optimizer.misinformation.arms import SC15_SAMPLES, System
from optimizer.misinformation.asking import Asker, Place
from optimizer.misinformation.prompts import Agent
from optimizer.misinformation.records import Role, Utterance
from optimizer.models.chat import Sampling
from optimizer.sections import MisinformationSettings


@dataclass(frozen=True, slots=True)
class Samples:
    """How a baseline samples: how often, and how hot."""

    count: int
    temperature: float
    top_p: float


def samples_of(system: System, settings: MisinformationSettings) -> Samples:
    """The sampling of a baseline under these settings."""
    if system is System.MSC:
        return Samples(settings.agents, settings.temperature, settings.top_p)
    if system is System.SC15:
        return Samples(SC15_SAMPLES, settings.sc15_temperature, settings.sc15_top_p)
    return Samples(1, settings.single_temperature, settings.top_p)


async def draw_samples(
    asker: Asker, system: System, first: Agent, passage: str = "", exposed: Collection[int] = ()
) -> list[Utterance]:
    """The samples of a baseline on one item.

    Sample i has a seed of its own, which does not depend on how many are exposed: what is not exposed is shared.

    Args:
        asker: makes the calls.
        system: which baseline.
        first: who speaks first in the debate; its prompt is what the model alone gets under the debate's prompt.
        passage: what the exposed samples are shown.
        exposed: which samples those are.

    Raises:
        CallFailed: a call got no answer.
    """
    drawn = samples_of(system, asker.settings)
    sampling = replace(asker.sampling, temperature=drawn.temperature, top_p=drawn.top_p)

    async def sample(index: int) -> list[Utterance]:
        agent = Agent(f"sample_{index + 1}", passage=passage if index in exposed else "")
        messages = asker.script.draft(first, ()) if system is System.SINGLE_DEBATE else asker.script.alone(agent)
        seeded: Sampling = replace(sampling, seed=asker.sample * drawn.count + index)
        return await asker.ask_surely(Place(Role.SAMPLE, 1, index), agent, messages, seeded)

    return await asker.together([partial(sample, index) for index in range(drawn.count)])

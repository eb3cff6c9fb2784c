"""Tuning on a sealed test looks at it: the contrast goes into the seal register."""

from __future__ import annotations

from pathlib import Path

from optimizer.analysis.policy.data import Source
from optimizer.analysis.policy.tuning import Tuning
from optimizer.debate.policy_file import digest
from optimizer.runs.seal import Contrast, SealRegister


def register(root: Path, source: Source, found: Tuning) -> None:
    """Write the honest contrast down for every sealed set that was among the items.

    Args:
        root: the folder of runs, where the register is.
        source, found: what the policy was tuned on, and how that came out.
    """
    challenger = f"policy:{digest(found.policy) if found.policy else 'recorded'}"
    for test_set in source.test_sets:
        SealRegister(root).enter(
            Contrast(
                test_set=test_set,
                run="+".join(source.runs),
                baseline=source.candidates[0],
                challenger=challenger,
                items=found.items,
                difference=found.honest.gain,
                p=found.honest.p,
            )
        )

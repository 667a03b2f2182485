"""One sample a call, as many trainers ask for rewards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay._faults import Unscored
from assay.adapters._batch import finite

if TYPE_CHECKING:
    from assay._core import Verdict
    from assay.adapters._batch import Batch


def only_reward(batch: Batch, then: str) -> float:
    """The reward of a batch of one sample.

    Raises:
        Unscored: It has none; ``then`` says what the trainer makes of that.
    """
    [reward] = batch.rewards
    if reward is None:
        raise Unscored(f"sample {batch.scored[0].id}: {batch.outcomes()[0]}; {then}")
    return reward


def measured(batch: Batch) -> dict[str, float]:
    """The metrics of a batch of one sample, with criteria of rubrics and other parts of its verdicts."""
    parts = {
        f"assay/reward/{name}/{part}": component.reward
        for name, verdict in batch.scored[0].verdicts.items()
        for part, component in verdict.components.items()
        if component.reward is not None
    }
    return finite({**batch.metrics, **parts})


def noted(batch: Batch) -> dict[str, Any]:
    """What is measured of a batch of one sample, and what became of it."""
    return {"assay_outcome": batch.outcomes()[0], **measured(batch)}


def explained(batch: Batch) -> str:
    """A line for each verdict of a batch of one sample."""
    verdicts = batch.scored[0].verdicts.items()
    return "\n".join(f"{name}: {_explained(verdict)}" for name, verdict in verdicts)


def _explained(verdict: Verdict) -> str:
    if verdict.reward is None:
        return f"{verdict.outcome}: {verdict.why}"
    evidence = json.dumps(verdict.evidence, ensure_ascii=False) if verdict.evidence else ""
    return f"{verdict.reward:g} {evidence}".rstrip()

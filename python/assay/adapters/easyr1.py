"""EasyR1: ``compute_score`` for ``worker.reward.reward_function``, which may name this file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.adapters._adapter import Config, Trainer, of_environment
from assay.adapters._batch import finite

TRAINER = Trainer("EasyR1", uses="`easyr1.py:compute_score`", fault="an error")
"""It puts numbers into the tensor of rewards as they are: NaN would spoil a group. It says no prompt."""
REWARD_NAME = "assay"
REWARD_TYPE = "batch"


def compute_score(reward_inputs: Any, config: Config | None = None, **settings: Any) -> Any:
    """The scores of a list of inputs, or that of one: ``overall``, and the metrics that have a number.

    Args:
        reward_inputs: ``{"response": ..., "ground_truth": ...}``, in a list (``REWARD_TYPE = "batch"``)
            or alone (``"sequential"``). Their other members are columns.
        config: This and ``settings`` are those of :mod:`assay.adapters`.

    Raises:
        Unscored: A sample has no reward.
        TooManyFaults: There are too many faults.

    >>> from assay.adapters.easyr1 import compute_score
    >>> config = {"version": 1, "reward": [{"name": "right", "verifier": "exact"}]}
    >>> compute_score({"response": "4", "response_length": 1, "ground_truth": "4"}, config)["overall"]
    1.0
    """
    if isinstance(reward_inputs, Mapping):
        return _scores([reward_inputs], config, settings)[0]
    return _scores(reward_inputs, config, settings)


def _scores(
    inputs: Sequence[Mapping[str, Any]], config: Config | None, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    batch = of_environment(TRAINER, config, **settings).score_rows(
        inputs,
        completions=[one["response"] for one in inputs],
        references=[one["ground_truth"] for one in inputs],
        taken=("response",),
    )
    each = zip(batch.rewards, batch.by_sample(), strict=True)
    return [{"overall": reward, **finite(metrics)} for reward, metrics in each]

"""slime and miles: a reward function for ``--custom-rm-path``, with ``--group-rm`` or without.

>>> from assay.adapters import slime
>>> custom_rm = slime.reward_function({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from assay.adapters._adapter import Adapter, Batch, Config, Trainer, of_environment
from assay.adapters._means import means

TRAINER = Trainer(
    "slime", groups=True,
    uses="`slime.custom_rm`, `slime.reward_function(config)`",
    fault="the mean of its group, without loss; an error without `--group-rm`",
)
"""A group that loses a sample changes how slime normalises the whole batch, so none is left out."""


def reward_function(config: Config | None = None, **settings: Any) -> partial[Any]:
    """A reward function for slime: a coroutine function of ``args`` and a sample, or those of a group.

    ``config`` and ``settings`` are those of :mod:`assay.adapters`.
    """
    return partial(_answer, Adapter(config, TRAINER, **settings))


async def custom_rm(args: Any, sample: Any, **options: Any) -> Any:
    """The reward by the configuration in ``ASSAY_CONFIG``, to be named as
    ``--custom-rm-path assay.adapters.slime.custom_rm``."""
    return await _answer(of_environment(TRAINER), args, sample)


def metrics(samples: Iterable[Any]) -> dict[str, float]:
    """The means of what the reward function left in ``sample.metadata["assay"]``, for a log."""
    return means((sample.metadata or {}).get("assay", {}) for sample in samples)


async def _answer(adapter: Adapter, args: Any, asked: Any, **options: Any) -> Any:
    every = asked if isinstance(asked, list) else [asked]
    batch = await adapter.score_rows_async(
        [sample.metadata or {} for sample in every],
        completions=[sample.response for sample in every],
        prompts=[sample.prompt for sample in every],
        references=[sample.label for sample in every],
        groups_by=[(getattr(sample, "group_index", None), sample.prompt) for sample in every],
    )
    key = getattr(args, "reward_key", None)
    rewards = [_reward(sample, batch, at, key) for at, sample in enumerate(every)]
    return rewards if isinstance(asked, list) else rewards[0]


def _reward(sample: Any, batch: Batch, at: int, key: str | None) -> float | dict[str, Any]:
    """The reward as slime wants it; a sample that has none is kept out of the loss."""
    reward = batch.rewards[at]
    assert reward is not None, "the rule is the mean of the group, or to raise"
    if batch.scored[at].reward is None and hasattr(sample, "remove_sample"):
        sample.remove_sample = True
    measured = batch.sample_metrics(at)
    outcome = batch.outcomes()[at]
    sample.metadata = {**(sample.metadata or {}), "assay": measured, "assay_outcome": outcome}
    return reward if key is None else {key: reward, **measured}

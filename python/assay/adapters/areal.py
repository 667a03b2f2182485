"""AReaL: a reward function for its workflows, in its process pool or without it.

>>> from assay.adapters import areal
>>> reward_fn = areal.reward_function({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
>>> reward_fn("1 + 1 = ?", "2", [], [], reference="2")
1.0
"""

from __future__ import annotations

import importlib
import pickle
import uuid
from typing import Any

from assay.adapters._adapter import Adapter, Config, Trainer, of_environment, shared
from assay.adapters._batch import finite
from assay.adapters._one import only_reward
from assay.adapters._trainer import ending

TRAINER = Trainer(
    "AReaL", masks=True,
    uses="`areal.reward_fn`, `areal.reward_function(config)`",
    fault="an error, upon which the rollout is rejected",
)
TIMEOUT = 10.0
"""Seconds. AReaL waits for 15 s and makes a late reward 0; a fault that comes earlier is none."""
TAKEN = ("prompt_ids", "completion_ids")
"""What is not a column where it comes by name."""


class RewardFunction:
    """What AReaL calls; made by :func:`reward_function`.

    AReaL pickles it for every sample. A process keeps one engine for it all the same.
    """

    __name__ = "assay"

    def __init__(self, adapter: Adapter, key: str | None = None) -> None:
        self._adapter = adapter
        self._key = key or uuid.uuid4().hex

    def __call__(self, prompt: Any, completions: str, *ids: Any, **row: Any) -> float:
        """The reward of one completion, in a process of the pool.

        Raises:
            Unscored: It has none; AReaL then rejects the rollout.
            SystemExit: There are too many faults.
        """
        with ending():
            batch = self._adapter.score_row(row, completions, prompt=prompt, taken=TAKEN)
            return only_reward(batch, "the rollout is rejected")

    async def score_async(self, prompt: Any, completions: str, *ids: Any, **row: Any) -> float:
        """The same in the event loop of the workflow, with metrics in the statistics of AReaL."""
        with ending():
            batch = await self._adapter.score_row_async(row, completions, prompt=prompt, taken=TAKEN)
        scope = importlib.import_module("areal.infra.workflow_context").stat_scope()
        importlib.import_module("areal.utils.stats_tracker").get(scope).scalar(**finite(batch.metrics))
        return only_reward(batch, "the rollout is rejected")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_remade, (self._key, pickle.dumps(self._adapter)))


def reward_function(
    config: Config | None = None, *, timeout: float = TIMEOUT, **settings: Any
) -> RewardFunction:
    """A reward function for AReaL, by ``config`` and ``settings`` of :mod:`assay.adapters`.

    ``timeout`` is in seconds, for a sample: less than AReaL waits.
    """
    return RewardFunction(Adapter(config, TRAINER, timeout=timeout, **settings))


def reward_fn(prompt: Any, completions: str, *ids: Any, **row: Any) -> float:
    """The reward by the configuration in ``ASSAY_CONFIG``, to be named as
    ``"assay.adapters.areal.reward_fn"``."""
    return RewardFunction(of_environment(TRAINER, timeout=TIMEOUT))(prompt, completions, **row)


def _remade(key: str, pickled: bytes) -> RewardFunction:
    return RewardFunction(shared(lambda: pickle.loads(pickled), "areal", key), key)

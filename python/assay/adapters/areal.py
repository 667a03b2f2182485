"""AReaL: a reward function for its workflows, in its process pool or without it.

>>> from assay.adapters import areal
>>> reward_fn = areal.reward_function({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
>>> reward_fn("1 + 1 = ?", "2", [], [], reference="2")
1.0
"""

from __future__ import annotations

import pickle
import uuid
from typing import TYPE_CHECKING, Any

from assay.adapters._adapter import Adapter, Trainer, config_of_environment, of_environment, shared
from assay.adapters._batch import finite
from assay.adapters._rows import ending, only_reward, samples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.adapters._adapter import Config

TRAINER = Trainer(
    "AReaL", masks=True, groups=False, on_fault="mask",
    uses="`areal.reward_fn`, `areal.reward_function(config)`",
    fault="an error, upon which the rollout is rejected",
)
"""It rejects a rollout whose reward function raises an exception, and goes on."""
TIMEOUT = 10.0
"""Seconds. AReaL waits for 15 s and makes a late reward 0; a fault that comes earlier is none."""


class RewardFunction:
    """What AReaL calls; made by :func:`reward_function`.

    AReaL pickles it for every sample. A process keeps one engine for it all the same.
    """

    __name__ = "assay"

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._id = uuid.uuid4().hex

    def __call__(
        self,
        prompt: Any,
        completions: str,
        prompt_ids: Sequence[int] = (),
        completion_ids: Sequence[int] = (),
        **row: Any,
    ) -> float:
        """The reward of one completion, in a process of the pool.

        Raises:
            Unscored: It has none; AReaL then rejects the rollout.
            SystemExit: There are too many faults.
        """
        with ending():
            lists = samples(self._adapter.engine, [row], completions=[completions], prompts=[prompt])
            batch = self._adapter.score(**lists)
            return only_reward(batch, "the rollout is rejected")

    async def score_async(
        self,
        prompt: Any,
        completions: str,
        prompt_ids: Sequence[int] = (),
        completion_ids: Sequence[int] = (),
        **row: Any,
    ) -> float:
        """The same in the event loop of the workflow, with metrics in the statistics of AReaL."""
        with ending():
            engine = await self._adapter.built()
            lists = samples(engine, [row], completions=[completions], prompts=[prompt])
            batch = await self._adapter.score_async(**lists)
        _log(batch.metrics)
        return only_reward(batch, "the rollout is rejected")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_remade, (self._id, pickle.dumps(self._adapter)))


def reward_function(
    config: Config | None = None, *, timeout: float = TIMEOUT, **settings: Any
) -> RewardFunction:
    """A reward function for AReaL.

    Args:
        config: A path, text or mapping; by default the path in ``ASSAY_CONFIG``.
        timeout: Seconds for a sample, less than AReaL waits.
        settings: ``max_fault_rate``, and those of :class:`assay.Engine`.
    """
    adapter = Adapter(config_of_environment(config), TRAINER, timeout=timeout, **settings)
    return RewardFunction(adapter)


def reward_fn(
    prompt: Any,
    completions: str,
    prompt_ids: Sequence[int] = (),
    completion_ids: Sequence[int] = (),
    **row: Any,
) -> float:
    """The reward by the configuration in ``ASSAY_CONFIG``, to be named as
    ``"assay.adapters.areal.reward_fn"``."""
    adapter = of_environment(TRAINER, timeout=TIMEOUT)
    return RewardFunction(adapter)(prompt, completions, prompt_ids, completion_ids, **row)


def _remade(key: str, pickled: bytes) -> RewardFunction:
    adapter = shared(lambda: pickle.loads(pickled), "areal", key)
    function = RewardFunction(adapter)
    function._id = key
    return function


def _log(metrics: Mapping[str, float]) -> None:
    import importlib

    tracker = importlib.import_module("areal.utils.stats_tracker")
    context = importlib.import_module("areal.infra.workflow_context")
    tracker.get(context.stat_scope()).scalar(**finite(metrics))

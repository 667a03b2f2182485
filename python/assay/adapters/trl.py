"""TRL, and Axolotl and Unsloth by the same path: reward functions of ``GRPOTrainer`` and others.

``trl grpo --reward_funcs assay.adapters.trl.reward``, or that name in the ``reward_funcs`` of Axolotl. A
sample without a reward is ``None``, which TRL leaves out of its group from 1.6 on. Older ones add it as
0: they get the mean of the group, which has no advantage.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import Any, TypeAlias

from assay.adapters._adapter import Adapter, Batch, Config, Trainer, of_environment
from assay.adapters._batch import filled, finite
from assay.adapters._parts import weights_of_sum

Column: TypeAlias = Sequence[Any]
Rewards: TypeAlias = list[float | None]

TRAINER = Trainer(
    "TRL", masks=True, groups=True,
    uses="`trl.reward`, `trl.reward_function(config)`, `trl.reward_functions(config)`",
    fault="`None`: left out of its group; the mean of its group before TRL 1.6",
)


def reward(
    prompts: Column, completions: Column, completion_ids: Column | None = None, **columns: Any
) -> Rewards:
    """The combined reward of each completion by the configuration in ``ASSAY_CONFIG``."""
    function = RewardFunction("reward", 1.0, _Calls(of_environment(TRAINER), is_split=False))
    return function(prompts, completions, completion_ids, **columns)


async def reward_async(
    prompts: Column, completions: Column, completion_ids: Column | None = None, **columns: Any
) -> Rewards:
    """The same as :func:`reward`, which TRL from 0.27 on runs beside its other ones."""
    import asyncio

    return await asyncio.to_thread(reward, prompts, completions, completion_ids, **columns)


class RewardFunction:
    """A reward function that TRL calls with a batch. Made by :func:`reward_function`."""

    def __init__(self, name: str, weight: float, calls: _Calls) -> None:
        self.__name__ = name
        self.weight = weight
        self._calls = calls

    def __call__(
        self,
        prompts: Column,
        completions: Column,
        completion_ids: Column | None = None,
        *,
        trainer_state: Any = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        environments: object = None,
        **columns: Column,
    ) -> Rewards:
        """The reward of each completion, ``None`` where it has none."""
        step = 0 if trainer_state is None else trainer_state.global_step
        given = {"prompts": prompts, "completions": completions, "token_ids": completion_ids}
        batch, is_new = self._calls.batch(self.__name__, columns, step=step, **given)
        if is_new and log_extra is not None:
            log_extra("assay", batch.outcomes())
        if is_new and log_metric is not None:
            for name, value in finite(batch.metrics).items():
                log_metric(name, value)
        return self._calls.rewards(self.__name__, batch, prompts)


class AsyncRewardFunction(RewardFunction):
    """The same for trainers that await reward functions."""

    async def __call__(self, *args: Any, **kwargs: Any) -> Rewards:  # type: ignore[override]
        """The reward of each completion, ``None`` where it has none."""
        import asyncio

        return await asyncio.to_thread(super().__call__, *args, **kwargs)

    # With these and its name an instance is a coroutine function to `inspect`, which older trainers ask.
    __code__ = __call__.__code__
    __defaults__ = __kwdefaults__ = None


def reward_function(
    config: Config,
    *,
    name: str = "assay",
    columns: Mapping[str, str] | None = None,
    is_async: bool = False,
    **settings: Any,
) -> RewardFunction:
    """One reward function: the combined reward of the configuration.

    Args:
        config: This, ``columns`` and ``settings`` are those of :mod:`assay.adapters`.
        name: The name under which TRL logs it.
        is_async: Make a coroutine function, which TRL from 0.27 on runs beside its other ones.

    >>> from assay.adapters.trl import reward_function
    >>> reward = reward_function({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
    >>> reward(prompts=["a?", "a?"], completions=["a", "b"], reference=["a", "a"])
    [1.0, 0.0]
    """
    kind = AsyncRewardFunction if is_async else RewardFunction
    return kind(name, 1.0, _Calls(Adapter(config, TRAINER, columns=columns, **settings), is_split=False))


def reward_functions(
    config: Config, *, columns: Mapping[str, str] | None = None, is_async: bool = False, **settings: Any
) -> list[RewardFunction]:
    """A reward function for each reward of the configuration, so that TRL weighs and logs each.

    A batch is judged once for all of them. Their weights are those of the configuration:
    ``GRPOConfig(reward_weights=[one.weight for one in functions])``. A sample that could not be
    judged has no reward in any of them, so that what is left of it does not pass for its reward.
    The arguments are those of :func:`reward_function`.

    >>> from assay.adapters.trl import reward_functions
    >>> short = {"name": "short", "verifier": "length", "config": {"max": 80}}
    >>> rewards = [{"name": "right", "verifier": "exact"}, short]
    >>> [one.__name__ for one in reward_functions({"version": 1, "reward": rewards})]
    ['right', 'short']
    """
    adapter = Adapter(config, TRAINER, columns=columns, **settings)
    weights = weights_of_sum(adapter.engine, TRAINER.name, "use `reward_function`")
    calls = _Calls(adapter, is_split=True)
    kind = AsyncRewardFunction if is_async else RewardFunction
    return [kind(name, weight, calls) for name, weight in weights.items()]


class _Calls:
    """The calls of the engine: one a batch, whichever of the functions asks first."""

    def __init__(self, adapter: Adapter, is_split: bool) -> None:
        self._adapter = adapter
        self._is_split = is_split
        self._lock = threading.Lock()
        self._last: tuple[object, Batch, set[str]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Calls, (self._adapter, self._is_split)

    def batch(self, name: str, columns: Mapping[str, Column], **given: Any) -> tuple[Batch, bool]:
        """What a batch came to, and whether it was judged for this call."""
        with self._lock if self._is_split else contextlib.nullcontext():
            if self._last is not None:
                seen, batch, asked = self._last
                if seen is given["completions"] and name not in asked:
                    asked.add(name)
                    return batch, False
            batch = self._adapter.score_rows(columns, groups_by=given["prompts"], **given)
            if self._is_split:
                self._last = (given["completions"], batch, {name})
            return batch, True

    def rewards(self, name: str, batch: Batch, prompts: Column) -> Rewards:
        """The rewards of one function."""
        rewards = batch.rewards
        if self._is_split:
            rewards = batch.parts()[name]
        if MASKS and self._adapter.on_fault == "mask":
            return rewards
        pairs = [*zip(batch.scored, rewards, strict=True)]
        # Of the sums that TRL makes: what does not apply adds nothing to them.
        means = filled([None if one.reward is None else part or 0.0 for one, part in pairs], prompts)
        return [
            mean if one.reward is None else part for (one, part), mean in zip(pairs, means, strict=True)
        ]


def _masks() -> bool:
    """Whether the TRL that is installed leaves a sample out."""
    try:
        major, minor, *_ = metadata.version("trl").split(".")
    except metadata.PackageNotFoundError:
        return True
    return (int(major), int(minor)) >= (1, 6)


MASKS = _masks()

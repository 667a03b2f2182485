"""TRL, and Unsloth by the same path: reward functions of ``GRPOTrainer``.

A sample without a reward is ``None``, which TRL leaves out of its group.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from assay._core import ConfigError
from assay.adapters._adapter import Adapter, Trainer, data_columns
from assay.adapters._batch import Batch, finite

if TYPE_CHECKING:
    from typing import TypeAlias

    from assay.adapters._adapter import Config

    Rewards: TypeAlias = list[float | None]

TRAINER = Trainer(
    "TRL", masks=True, groups=True, on_fault="mask",
    uses="`trl.reward`, `trl.reward_function(config)`, `trl.reward_functions(config)`",
    fault="`None`: left out of its group",
)


class State(Protocol):
    """What is read of the state of a ``transformers.Trainer``."""

    global_step: int


class RewardFunction:
    """A reward function that TRL calls with a batch. Made by :func:`reward_function`."""

    def __init__(self, name: str, weight: float, calls: _Calls) -> None:
        self.__name__ = name
        self.weight = weight
        self._calls = calls

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        *,
        trainer_state: State | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        environments: object = None,
        **columns: Sequence[Any],
    ) -> Rewards:
        """The reward of each completion, ``None`` where it has none."""
        step = 0 if trainer_state is None else trainer_state.global_step
        batch, is_new = self._calls.batch(
            self.__name__, prompts, completions, completion_ids, step, columns
        )
        if is_new and log_extra is not None:
            log_extra("assay", batch.outcomes())
        if is_new and log_metric is not None:
            for name, value in finite(batch.metrics).items():
                log_metric(name, value)
        return self._calls.rewards(self.__name__, batch)

    def __repr__(self) -> str:
        return f"<assay.adapters.trl.RewardFunction {self.__name__!r}>"


class AsyncRewardFunction(RewardFunction):
    """The same for trainers that await reward functions."""

    async def __call__(self, *args: Any, **kwargs: Any) -> Rewards:  # type: ignore[override]
        """The reward of each completion, ``None`` where it has none."""
        import asyncio

        return await asyncio.to_thread(super().__call__, *args, **kwargs)


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
        config: A path, the text of a configuration, a mapping, or an engine.
        name: The name under which TRL logs it.
        columns: Which columns of the dataset mean what: ``{"reference": "answer"}``, as ``[data]``
            of the configuration.
        is_async: Make a coroutine function, which TRL runs beside its other ones.
        settings: ``on_fault``, ``max_fault_rate``, ``timeout``, and the options of
            :class:`assay.Engine`.

    >>> from assay.adapters.trl import reward_function
    >>> reward = reward_function({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
    >>> reward(prompts=["a?", "a?"], completions=["a", "b"], reference=["a", "a"])
    [1.0, 0.0]
    """
    kind = AsyncRewardFunction if is_async else RewardFunction
    return kind(name, 1.0, _Calls(Adapter(config, TRAINER, columns=columns, **settings), is_split=False))


def reward_functions(
    config: Config,
    *,
    columns: Mapping[str, str] | None = None,
    is_async: bool = False,
    **settings: Any,
) -> list[RewardFunction]:
    """A reward function for each reward of the configuration, so that TRL weighs and logs each.

    A batch is judged once for all of them. Their weights are those of the configuration:
    ``GRPOConfig(reward_weights=[one.weight for one in functions])``. A sample that could not be
    judged has no reward in any of them, so that what is left of it does not pass for its reward.

    >>> from assay.adapters.trl import reward_functions
    >>> short = {"name": "short", "verifier": "length", "config": {"max": 80}}
    >>> rewards = [{"name": "right", "verifier": "exact"}, short]
    >>> [one.__name__ for one in reward_functions({"version": 1, "reward": rewards})]
    ['right', 'short']
    """
    adapter = Adapter(config, TRAINER, columns=columns, **settings)
    if adapter.on_fault == "mean_of_group":
        raise ConfigError('on_fault = "mean_of_group" is of the combined reward: use reward_function')
    resolved = adapter.engine.config
    _check_sum(resolved["combine"])
    calls = _Calls(adapter, is_split=True)
    kind = AsyncRewardFunction if is_async else RewardFunction
    return [kind(one["name"], float(one["weight"]), calls) for one in resolved["reward"]]


class _Calls:
    """The calls of the engine: one a batch, whichever of the functions asks first."""

    def __init__(self, adapter: Adapter, *, is_split: bool) -> None:
        self._adapter = adapter
        self._is_split = is_split
        self._lock = threading.Lock()
        self._last: tuple[object, Batch, set[str]] | None = None

    def batch(
        self,
        name: str,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None,
        step: int,
        columns: Mapping[str, Sequence[Any]],
    ) -> tuple[Batch, bool]:
        """What a batch came to, and whether it was judged for this call."""
        if not self._is_split:
            return self._score(prompts, completions, completion_ids, step, columns), True
        with self._lock:
            if self._last is not None:
                seen, batch, asked = self._last
                if seen is completions and name not in asked:
                    asked.add(name)
                    return batch, False
            batch = self._score(prompts, completions, completion_ids, step, columns)
            self._last = (completions, batch, {name})
            return batch, True

    def rewards(self, name: str, batch: Batch) -> Rewards:
        """The rewards of one function."""
        if not self._is_split:
            return batch.rewards
        return [
            None if sample.reward is None else sample.rewards[name] for sample in batch.scored
        ]

    def _score(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None,
        step: int,
        columns: Mapping[str, Sequence[Any]],
    ) -> Batch:
        roles = self._adapter.columns
        lists = data_columns(columns, (roles["prompt"], roles["completion"]))
        if completion_ids is not None and "token_ids" in roles:
            lists[roles["token_ids"]] = completion_ids
        return self._adapter.score(
            prompts=prompts, completions=completions, columns=lists, step=step, groups_by=prompts
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"_adapter": self._adapter, "_is_split": self._is_split}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._last = None


def _check_sum(combine: Mapping[str, Any]) -> None:
    """TRL adds the rewards itself: what else the configuration does with them would be lost."""
    for key, kept in (("how", "weighted_sum"), ("on_fault", "floor"), ("clamp", None)):
        value = combine.get(key)
        lost = value == kept if key == "on_fault" else value != kept
        if lost:
            raise ConfigError(
                f"combine.{key} = {value!r} is of the combined reward, and TRL adds the rewards "
                "itself: use reward_function"
            )

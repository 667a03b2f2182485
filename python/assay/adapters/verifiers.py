"""verifiers (``verifiers.v1``): a reward of a task, written into it or plugged, and a judge."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
from typing import Any

from assay.adapters._adapter import Adapter, Config, Trainer, of_environment
from assay.adapters._one import measured, only_reward
from assay.adapters._parts import weighted, weights_of_sum
from assay.adapters._trainer import ending

TRAINER = Trainer(
    "verifiers", masks=True,
    uses="`verifiers.reward_fn`, `verifiers.reward(config)`, `verifiers.judge(config)`",
    fault="no reward, and an error in the trace",
)
"""A reward that raises an exception stays ``None`` in the trace, whose ``ok`` is then false."""


def reward(
    config: Config | None = None,
    *,
    name: str = "assay",
    weight: float = 1.0,
    priority: int = 0,
    parts: bool = False,
    **settings: Any,
) -> Any:
    """A ``@vf.reward`` method for the body of a ``vf.Task``.

    It judges the last reply. The fields of the task's data are the row; ``answer`` is the reference,
    unless they have the column that the configuration names. Traces show the reward as ``name``; with
    ``parts`` they show each reward of the configuration, times its weight there, in place of the sum.
    ``weight`` and ``priority`` are those in the task.
    """
    adapter = Adapter(config, TRAINER, **settings)
    weights = weights_of_sum(adapter.engine, TRAINER.name, "leave `parts` out") if parts else None

    async def assay(self: Any, trace: Any) -> Any:
        return await _reward(adapter, self.data, trace, weights)

    assay.__name__ = name
    return importlib.import_module("verifiers.v1").reward(assay, weight=weight, priority=priority)


async def reward_fn(task: Any, trace: Any) -> Any:
    """The reward by the configuration in ``ASSAY_CONFIG``, to be plugged into any taskset as
    ``--env.taskset.task.rewards.assay.fn assay.adapters.verifiers:reward_fn``."""
    return await _reward(of_environment(TRAINER), task, trace)


def judge(config: Config | None = None, *, parts: bool = False, **settings: Any) -> type:
    """A ``vf.Judge`` for a module that ``judges`` of a task names; see :func:`reward`."""
    adapter = Adapter(config, TRAINER, **settings)
    weights = weights_of_sum(adapter.engine, TRAINER.name, "leave `parts` out") if parts else None

    async def score(self: Any, task: Any, trace: Any) -> Any:
        return await _reward(adapter, task, trace, weights)

    base = importlib.import_module("verifiers.v1").Judge
    return type("AssayJudge", (base,), {"score": score, "__module__": __name__})


async def _reward(adapter: Adapter, data: Any, trace: Any, weights: Any = None) -> Any:
    row: dict[str, Any] = data.model_dump(mode="json", exclude_none=True)
    asked = {"prompt": row.get("prompt"), "reference": row.get("answer")}
    # A server of environments would wait for a process that ended; its traces say what is wrong.
    in_server = multiprocessing.parent_process() is not None
    with contextlib.nullcontext() if in_server else ending():
        batch = await adapter.score_row_async(row, trace.last_reply, **asked)
    trace.record_metrics(measured(batch))
    total = only_reward(batch, "the trace has no reward")
    return total if weights is None else weighted(batch.scored[0], weights)

"""verl: a ``compute_score`` for ``reward.custom_reward_function``.

``path=pkg://assay.adapters.verl``, ``name=compute_score``, and ``reward_kwargs`` with the path of a
configuration as ``assay_config``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.adapters._adapter import Batch, Config, Trainer, of_environment

TRAINER = Trainer("verl", uses="`verl.compute_score`", fault="an error")


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    assay_config: Config | None = None,
    assay_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """The reward of one completion as ``score``, with what verl logs beside it.

    The keys are the same for every sample; ``None`` where a reward has no number, which verl leaves
    out of its means. Members of ``extra_info`` are columns, and so is ``data_source``.

    ``assay_config`` and ``assay_options`` are ``config`` and ``settings`` of :mod:`assay.adapters`. Of
    ``kwargs``, what else verl passes, nothing is read.

    >>> import asyncio
    >>> from assay.adapters.verl import compute_score
    >>> config = {"version": 1, "reward": [{"name": "right", "verifier": "exact"}]}
    >>> asyncio.run(compute_score("set", "4", "4", assay_config=config))["score"]
    1.0
    """
    adapter = of_environment(TRAINER, assay_config, **(assay_options or {}))
    row = {"data_source": data_source, **(extra_info or {})}
    return _told(await adapter.score_row_async(row, solution_str, reference=ground_truth))


def compute_score_sync(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    assay_config: Config | None = None,
    assay_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """The same for reward managers that do not await: ``naive`` and ``dapo`` of the trainers before
    the reward loop.

    >>> from assay.adapters.verl import compute_score_sync
    >>> config = {"version": 1, "reward": [{"name": "right", "verifier": "exact"}]}
    >>> compute_score_sync("set", "5", "4", assay_config=config)["score"]
    0.0
    """
    adapter = of_environment(TRAINER, assay_config, **(assay_options or {}))
    row = {"data_source": data_source, **(extra_info or {})}
    return _told(adapter.score_row(row, solution_str, reference=ground_truth))


def _told(batch: Batch) -> dict[str, Any]:
    return {"score": batch.rewards[0], **batch.sample_metrics(0, missing=None)}

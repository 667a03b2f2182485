"""OpenRLHF: a ``reward_func`` for a file that ``--reward.remote_url`` names, and its HTTP interface.

The file::

    from assay.adapters.openrlhf import reward_function
    reward_func = reward_function("assay.toml")

OpenRLHF needs a number for every sample: one that could not be judged is an error, unless the
configuration has ``combine.on_fault = "floor"``.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Any

from assay._core import AssayError, DataError
from assay._faults import TooManyFaults
from assay.adapters._adapter import Adapter, Batch, Config, Trainer, of_environment
from assay.adapters._response import response_of

TRAINER = Trainer(
    "OpenRLHF",
    uses="`openrlhf.reward_func`, `openrlhf.reward_function(config)`, or a URL",
    fault="an error",
)


class TrainingStopped(BaseException):
    """Too many faults. OpenRLHF catches every ``Exception`` of a reward function and goes on."""


class RewardFunction:
    """What OpenRLHF calls with lists, of one sample each. Made by :func:`reward_function`."""

    __name__ = "reward_func"

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def __call__(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
    ) -> dict[str, Any]:
        """``rewards``, ``scores`` and ``extra_logs``: tensors where torch is loaded, else lists.

        Raises:
            AssayError: A sample has no reward. OpenRLHF writes exceptions to its log at level INFO and
                fails later, for want of a reward; so they are also written at level ERROR.
            TrainingStopped: More faults than ``max_fault_rate``.
        """
        try:
            batch = self.judge(queries, prompts, labels)
        except AssayError as error:
            _LOGGER.error("%s", error)
            if isinstance(error, TooManyFaults):
                raise TrainingStopped(f"assay: {error}") from error
            raise
        return _tensors(answer(batch))

    def judge(self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> Batch:
        """Judges the responses, which are what follows the prompts in the queries."""
        if not len(queries) == len(prompts) == len(labels):
            raise DataError(f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels")
        completions = list(map(response_of, queries, prompts))
        if None in completions:
            at = completions.index(None)
            raise DataError(f"queries[{at}]: does not begin with its prompt, nor with its end")
        references = [None if label == "" else label for label in labels]
        return self._adapter.score_rows(
            {}, completions=completions, prompts=prompts, references=references
        )


def reward_function(config: Config | None = None, **settings: Any) -> RewardFunction:
    """A reward function for the file that ``--reward.remote_url`` names.

    ``config`` and ``settings`` are those of :mod:`assay.adapters`.

    >>> from assay.adapters.openrlhf import reward_function
    >>> reward_func = reward_function({"version": 1, "reward": [{"name": "r", "verifier": "exact"}]})
    >>> list(reward_func(["1+1=2"], ["1+1="], ["2"])["rewards"])
    [1.0]
    """
    return RewardFunction(Adapter(config, TRAINER, **settings))


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """The same by the configuration in ``ASSAY_CONFIG``."""
    return RewardFunction(of_environment(TRAINER))(queries, prompts, labels)


def answer(batch: Batch) -> dict[str, Any]:
    """What OpenRLHF is told of a batch, as lists with a value for each sample.

    ``extra_logs`` has the same keys for every sample; NaN where a reward has no number.
    """
    metrics = batch.by_sample()
    logs = {name: [one[name] for one in metrics] for name in (metrics[0] if metrics else {})}
    return {"rewards": batch.rewards, "scores": batch.rewards, "extra_logs": logs}


def _tensors(told: dict[str, Any]) -> dict[str, Any]:
    torch = sys.modules.get("torch")
    if torch is None:
        return told
    logs = {name: torch.tensor(values) for name, values in told["extra_logs"].items()}
    return {**{key: torch.tensor(told[key]) for key in ("rewards", "scores")}, "extra_logs": logs}


_LOGGER = logging.getLogger("assay")

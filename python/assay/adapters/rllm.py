"""rLLM: an evaluator of its tasks, and the reward function of its older interface."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from assay._core import DataError
from assay.adapters._adapter import Config, Trainer, of_environment, plain
from assay.adapters._one import noted
from assay.adapters._talk import split
from assay.adapters._trainer import ending

TRAINER = Trainer(
    "rLLM",
    uses="`rllm.evaluate`, `rllm.Evaluator(config)`, `rllm.RewardFunction(config)`",
    fault="an error",
)


class Evaluator:
    """An ``Evaluator`` of rLLM. ``correct`` is the least reward of an answer that counts as correct."""

    def __init__(self, config: Config | None = None, *, correct: float = 1.0, **settings: Any) -> None:
        self._adapter = of_environment(TRAINER, config, **settings)
        self._correct = correct

    def evaluate(self, task: Any, episode: Any) -> Any:
        """The ``EvalOutput`` of an episode.

        Raises:
            DataError: It has no answer.
            Unscored: It has no reward.
            SystemExit: There are too many faults.
        """
        row = plain(getattr(task, "metadata", task) or {})
        prompt, said = _talk(episode)
        told = self._judged(row, prompt or getattr(task, "instruction", row.get("question")), said)
        return importlib.import_module("rllm.types").EvalOutput(**told, signals=[])

    def _judged(self, row: dict[str, Any], prompt: Any, said: Any) -> dict[str, Any]:
        reference = row.get("ground_truth", row.get("answer"))
        with ending():
            batch = self._adapter.score_row(row, said, prompt=prompt, reference=reference)
        reward: Any = batch.rewards[0]
        return {"reward": reward, "is_correct": reward >= self._correct, "metadata": noted(batch)}


class RewardFunction(Evaluator):
    """A ``RewardFunction`` of rLLM; its arguments are those of :class:`Evaluator`."""

    def __call__(self, task_info: Mapping[str, Any], action: Any) -> Any:
        """The ``RewardOutput`` of an answer. It raises what :meth:`Evaluator.evaluate` raises."""
        row = plain(task_info)
        told = self._judged(row, row.get("question"), getattr(action, "action", action))
        return importlib.import_module("rllm.rewards.reward_fn").RewardOutput(**told)


def evaluate(task: Any, episode: Any) -> Any:
    """The ``EvalOutput`` by the configuration in ``ASSAY_CONFIG``, to be named as
    ``assay.adapters.rllm:evaluate``."""
    return Evaluator().evaluate(task, episode)


def _talk(episode: Any) -> tuple[Any, Any]:
    """The prompt, where the episode has it, and what is judged."""
    if (answer := episode.artifacts.get("answer")) is not None:
        return None, str(answer)
    steps = [step for trajectory in episode.trajectories for step in trajectory.steps]
    if steps and steps[-1].chat_completions:
        return split(steps[-1].chat_completions)
    if steps and steps[-1].model_response:
        return None, steps[-1].model_response
    raise DataError("the episode has no answer, neither among its artifacts nor in its last step")

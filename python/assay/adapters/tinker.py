"""Tinker cookbook: the answers of problems, the last steps of conversations, and the rewards of groups.

>>> from assay.adapters import tinker
>>> class SumEnv(tinker.Judged, ProblemEnv):  # doctest: +SKIP
...     config = "assay.toml"
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from assay.adapters._adapter import Config, Trainer, of_environment
from assay.adapters._batch import finite
from assay.adapters._talk import split
from assay.adapters._trainer import ending

TRAINER = Trainer(
    "Tinker", groups=True,
    uses="`tinker.Judged`, `tinker.JudgedGroup`, `tinker.step_result`",
    fault="the mean of its group; an error where steps are judged by themselves",
)


class Judged:
    """What makes a ``ProblemEnv`` one that is judged; it comes first among the bases.

    ``config`` and ``settings`` are those of :mod:`assay.adapters`. The members of ``row`` are columns.
    """

    config: ClassVar[Config | None] = None
    settings: ClassVar[Mapping[str, Any]] = {}
    row: Mapping[str, Any] = {}
    is_grouped = False
    _reward: float | None = None

    def check_answer(self, sample_str: str) -> Any:
        """The reward of an answer; of a group that is judged as a whole, nothing yet."""
        if self._reward is None:
            adapter = of_environment(TRAINER, self.config, **self.settings)
            return adapter.score_rows(**_asked([self], [sample_str])).rewards[0]
        return self._reward

    def check_format(self, sample_str: str) -> bool:
        """True: the form of an answer is a matter of the configuration."""
        return True

    async def step(self, action: Any, *, extra: Any = None) -> Any:
        """Judges an answer, while the event loop runs.

        Raises:
            Unscored: It has no reward.
            SystemExit: There are too many faults.
        """
        judged = [(0.0, {})] if self.is_grouped else await _judged([self], [action])
        [(self._reward, metrics)] = judged
        result = await super().step(action, extra=extra)  # type: ignore[misc]
        result.metrics.update(metrics)
        if self.is_grouped:
            del result.metrics["correct"]  # it is not known yet
        return result


class JudgedGroup:
    """What makes a builder of :class:`Judged` one whose groups are judged as a whole; it comes first."""

    async def make_envs(self) -> Sequence[Any]:
        """The environments, whose answers are judged later."""
        envs: Sequence[Any] = await super().make_envs()  # type: ignore[misc]
        for env in envs:
            env.is_grouped = True
        return envs

    async def compute_group_rewards(
        self, trajectory_group: Sequence[Any], env_group: Sequence[Any]
    ) -> list[tuple[float, dict[str, float]]]:
        """The reward of each trajectory, with its metrics."""
        return await _judged(env_group, [one.transitions[-1].ac.tokens for one in trajectory_group])


async def step_result(
    messages: Sequence[Mapping[str, Any]],
    *,
    reference: Any = None,
    row: Mapping[str, Any] | None = None,
    config: Config | None = None,
    **settings: Any,
) -> Any:
    """The last ``MessageStepResult`` of a ``MessageEnv``: the reward of its conversation.

    What is said before the first answer is the prompt. The members of ``row`` are columns.
    """
    adapter = of_environment(TRAINER, config, **settings)
    text = importlib.import_module("tinker_cookbook.renderers").get_text_content
    prompt, talk = split([{**one, "content": text(one)} for one in messages])
    with ending():
        batch = await adapter.score_row_async(row or {}, talk, prompt=prompt, reference=reference)
    output = importlib.import_module("tinker_cookbook.rl.message_env").MessageStepResult
    return output(batch.rewards[0], True, list(messages), metrics=finite(batch.metrics))


async def _judged(envs: Sequence[Any], actions: Sequence[Any]) -> list[tuple[Any, dict[str, float]]]:
    text = importlib.import_module("tinker_cookbook.renderers").get_text_content
    said = [text(env.renderer.parse_response(one)[0]) for env, one in zip(envs, actions, strict=True)]
    adapter = of_environment(TRAINER, envs[0].config, **envs[0].settings)
    with ending():
        batch = await adapter.score_rows_async(**_asked(envs, said))
    return list(zip(batch.rewards, map(finite, batch.by_sample()), strict=True))


def _asked(envs: Sequence[Any], answers: Sequence[str]) -> dict[str, Any]:
    return {
        "rows": [env.row for env in envs],
        "completions": answers,
        "prompts": [env.get_question() for env in envs],
        "references": [env.get_reference_answer() for env in envs],
    }

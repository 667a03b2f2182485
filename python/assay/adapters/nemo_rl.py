"""NeMo-RL: an environment that judges the last answer of each conversation.

>>> from assay.adapters import nemo_rl
>>> environment = nemo_rl.Environment({"config": "assay.toml"})  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from assay._core import ConfigError
from assay.adapters._adapter import Adapter, Batch, Trainer, plain
from assay.adapters._batch import filled
from assay.adapters._means import Means
from assay.adapters._talk import answer_of, split

TRAINER = Trainer(
    "NeMo-RL", masks=True, groups=True, on_fault="mean_of_group",
    uses="`nemo_rl.Environment`",
    fault="the mean of its group; masked by `on_fault = \"mask\"`",
)


class Environment:
    """An ``EnvironmentInterface`` of NeMo-RL, as it is or as a Ray actor.

    Args:
        cfg: The settings of the environment: ``config``, the path of a configuration of assay (by
            default that in ``ASSAY_CONFIG``), and perhaps ``on_fault``, ``max_fault_rate``, ``timeout``,
            ``jobs``, and ``split_rewards``: the rewards are a dict, with a tensor for each reward of
            the configuration that has a weight. Others are left alone.
    """

    def __init__(self, cfg: Mapping[str, Any]) -> None:
        known = ("on_fault", "max_fault_rate", "timeout", "jobs")
        settings = {key: cfg[key] for key in known if key in cfg}
        self._adapter = Adapter(cfg.get("config"), TRAINER, **settings)
        self._means = Means()
        self._is_split = bool(cfg.get("split_rewards"))
        self._masks = self._adapter.on_fault == "mask"
        if self._masks and "reward_valid_mask" not in _returns()._fields:
            raise ConfigError('on_fault = "mask": this NeMo-RL has no reward_valid_mask')

    def step(
        self,
        message_log_batch: Sequence[Sequence[Mapping[str, Any]]],
        metadata: Sequence[Mapping[str, Any] | None],
        return_extracted_answer: bool = False,
    ) -> Any:
        """Judges conversations and ends them. What is said before the first answer is the prompt, and
        ``ground_truth`` of the metadata the reference, unless they have the column that the
        configuration names."""
        talks = [split(log) for log in message_log_batch]
        prompts = [prompt for prompt, _ in talks]
        rows: list[dict[str, Any]] = [plain(row or {}) for row in metadata]
        batch = self._adapter.score_rows(
            rows,
            completions=[answer for _, answer in talks],
            prompts=prompts,
            references=[row.get("ground_truth") for row in rows],
            groups_by=prompts,
        )
        self._means.add(batch.by_sample())
        torch = importlib.import_module("torch")
        valid = torch.tensor([reward is not None for reward in batch.rewards])
        return _returns()(
            observations=[{"role": "environment", "content": ""} for _ in rows],
            metadata=list(metadata),
            next_stop_strings=[None] * len(rows),
            rewards=self._rewards(batch, prompts),
            terminateds=torch.ones(len(rows), dtype=torch.bool),
            answers=[_answer(talk) for _, talk in talks] if return_extracted_answer else None,
            **({"reward_valid_mask": valid} if self._masks else {}),
        )

    def _rewards(self, batch: Batch, prompts: Sequence[Any]) -> Any:
        """One tensor, or one for each reward. What has no number has the mean of its group."""
        torch = importlib.import_module("torch")
        if not self._is_split:
            return torch.tensor(filled(batch.rewards, prompts, 0.0), dtype=torch.float32)
        weights = {one["name"]: one["weight"] for one in self._adapter.engine.config["reward"]}
        return {
            name: torch.tensor(filled(rewards, prompts, 0.0), dtype=torch.float32)
            for name, rewards in batch.parts().items()
            if weights[name] != 0
        }

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, float]]:
        """The batch as it is, and the means over what was judged since the last call."""
        return batch, self._means.take()

    def shutdown(self) -> None:
        """There is nothing to end."""


def _answer(talk: Sequence[Mapping[str, Any]]) -> str | None:
    texts = [one["content"] for one in talk if one["role"] == "assistant"]
    return answer_of(texts[-1]) if texts else None


def _returns() -> Any:
    return importlib.import_module("nemo_rl.environments.interfaces").EnvironmentReturn

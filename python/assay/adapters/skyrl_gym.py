"""SkyRL: an environment of skyrl-gym whose only step is judged."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay._core import ConfigError
from assay._engine import Engine
from assay.adapters._adapter import Config, Trainer, config_of_environment, of_environment, plain
from assay.adapters._batch import finite
from assay.adapters._made import made
from assay.adapters._one import only_reward

TRAINER = Trainer(
    "SkyRL", uses="`skyrl_gym.Environment`, `skyrl_gym.register(config)`", fault="an error"
)


class Judged:
    """What makes a ``BaseTextEnv`` of skyrl-gym one that is judged; :data:`Environment` is both.

    ``env_config`` are its settings in SkyRL, which may have a ``config``; ``extras`` is its row.
    """

    def __init__(
        self, env_config: Any = None, extras: Any = None, config: Config | None = None, **settings: Any
    ) -> None:
        super().__init__()
        if config is None and isinstance(env_config, Mapping):
            config = env_config.get("config")
        self._adapter = of_environment(TRAINER, config, **settings)
        self._row: dict[str, Any] = plain(extras or {})
        self._prompt: Any = self._row.get("prompt")
        self._metrics: dict[str, float] = {}

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """The first prompt, as it is in the dataset."""
        self._prompt = prompt
        return prompt, {}

    def step(self, action: str) -> Any:
        """Judges what the model answered, and ends the episode."""
        reward, metadata = self.judge(action)
        output = importlib.import_module("skyrl_gym.envs.base_text_env").BaseTextEnvStepOutput
        return output(observations=[], reward=reward, done=True, metadata=metadata)

    def judge(self, completion: Any) -> tuple[float, dict[str, Any]]:
        """The reward of a completion with its metrics, for the ``step`` of an environment of turns.

        Raises:
            Unscored: It has no reward.
            TooManyFaults: There are too many faults.
        """
        truth = (self._row.get("reward_spec") or {}).get("ground_truth")
        batch = self._adapter.score_row(self._row, completion, prompt=self._prompt, reference=truth)
        self._metrics = finite(batch.metrics)
        reward = only_reward(batch, "SkyRL needs a number")
        return reward, {"assay": {"outcome": batch.outcomes()[0], **self._metrics}}

    def get_metrics(self) -> dict[str, float]:
        """The metrics of the episode, of which SkyRL logs the mean."""
        return dict(self._metrics)


def register(config: Config | None = None, *, id: str = "assay", **settings: Any) -> None:
    """Registers the environment under ``id``, which datasets name as ``env_class``."""
    if isinstance(config, Engine):
        raise ConfigError("skyrl-gym copies the settings of an environment: pass no engine")
    config = config_of_environment(config)
    of_environment(TRAINER, config, **settings)
    importlib.import_module("skyrl_gym").register(
        id=id, entry_point=f"{__name__}:Environment", kwargs={"config": config, **settings}
    )


if TYPE_CHECKING:
    Environment = Judged
else:
    __getattr__ = made(__name__, Environment=(Judged, "skyrl_gym.envs.base_text_env.BaseTextEnv"))

"""SkyRL: an environment of skyrl-gym whose only step is judged.

>>> from assay.adapters import skyrl_gym
>>> skyrl_gym.register("assay.toml")  # doctest: +SKIP
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay._core import ConfigError
from assay._engine import Engine
from assay.adapters._adapter import Adapter, Trainer, config_of_environment, plain, shared
from assay.adapters._batch import finite
from assay.adapters._rows import samples

if TYPE_CHECKING:
    from assay.adapters._adapter import Config

TRAINER = Trainer(
    "SkyRL", masks=False, groups=False, on_fault="raise",
    uses="`skyrl_gym.Environment`, `skyrl_gym.register(config)`",
    fault="an error",
)


class Judged:
    """What makes a ``BaseTextEnv`` of skyrl-gym one that is judged; :data:`Environment` is both.

    Args:
        env_config: The settings of the environment in SkyRL; its ``config`` is the path of a
            configuration of assay.
        extras: The row of the dataset. ``reward_spec.ground_truth`` is the reference, unless the row
            has the column that the configuration names.
        config: A path, text or mapping; by default the path in ``ASSAY_CONFIG``.
        settings: ``max_fault_rate``, ``timeout``, and those of :class:`assay.Engine`.
    """

    def __init__(
        self,
        env_config: Any = None,
        extras: Mapping[str, Any] | None = None,
        config: Config | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        if config is None and isinstance(env_config, Mapping):
            config = env_config.get("config")
        self._adapter = _adapter(config, settings)
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
        base = importlib.import_module("skyrl_gym.envs.base_text_env")
        return base.BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata=metadata)

    def judge(self, completion: Any) -> tuple[float, dict[str, Any]]:
        """The reward of a completion, and what is to be known of it. An environment of several turns
        calls it in its own ``step``.

        Raises:
            Unscored: It has no reward.
            TooManyFaults: There are too many faults.
        """
        lists = samples(
            self._adapter.engine,
            [self._row],
            completions=[completion],
            prompts=[self._prompt],
            references=[(self._row.get("reward_spec") or {}).get("ground_truth")],
        )
        batch = self._adapter.score(**lists)
        self._metrics = finite(batch.metrics)
        [reward] = batch.rewards
        assert reward is not None, "the rule is to raise"
        return reward, {"assay": {"outcome": batch.outcomes()[0], **self._metrics}}

    def get_metrics(self) -> dict[str, float]:
        """The metrics of the episode, of which SkyRL logs the mean."""
        return dict(self._metrics)


def register(config: Config | None = None, *, id: str = "assay", **settings: Any) -> None:
    """Registers the environment, which datasets name as ``env_class``.

    Args:
        config: A path, text or mapping; by default the path in ``ASSAY_CONFIG``.
        id: The name of the environment.
        settings: Those of :class:`Judged`.
    """
    config = config_of_environment(config)
    _adapter(config, settings)
    importlib.import_module("skyrl_gym").register(
        id=id,
        entry_point="assay.adapters.skyrl_gym:Environment",
        kwargs={"config": config, **settings},
    )


def _adapter(config: Config | None, settings: dict[str, Any]) -> Adapter:
    """An environment lives for one episode, its engine as long as the process."""
    chosen = config_of_environment(config)
    if isinstance(chosen, Engine):
        raise ConfigError(
            "skyrl-gym copies the settings of an environment: pass no engine, but its config"
        )
    return shared(lambda: Adapter(chosen, TRAINER, **settings), "skyrl_gym", chosen, settings)


@functools.cache
def _environment() -> type[Judged]:
    base = importlib.import_module("skyrl_gym.envs.base_text_env").BaseTextEnv
    members = {"__module__": __name__, "__doc__": Judged.__doc__}
    return type("Environment", (Judged, base), members)


if TYPE_CHECKING:
    Environment = Judged
else:

    def __getattr__(name: str) -> Any:
        if name == "Environment":
            return _environment()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The rewards of a configuration one by one, for trainers that add them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._core import ConfigError

if TYPE_CHECKING:
    from assay._core import Scored
    from assay._engine import Engine

SUM = {
    "how": ("weighted_sum",),
    "clamp": (None,),
    "on_abstain": (None, "zero", "abstain"),
    "on_fault": (None, "mask", "drop_group"),
    "normalise": (None, "none"),
}
"""What a configuration may say of its combined reward, so that this is the sum of its parts."""


def weights_of_sum(engine: Engine, trainer: str, instead: str) -> dict[str, float]:
    """The weights of the rewards.

    Raises:
        ConfigError: By one of the keys the combined reward is not their weighted sum, which the trainer
            computes; ``instead`` says what to use.
    """
    config = engine.config
    for key, taken in SUM.items():
        if (value := config["combine"].get(key)) not in taken:
            raise ConfigError(
                f"combine.{key} = {value!r} would be lost: {trainer} adds the rewards itself; {instead}"
            )
    for one in config["reward"]:
        if not isinstance(one["weight"], (int, float)):
            raise ConfigError(
                f"the weight of {one['name']!r} changes with the training step, which would be lost:"
                f" {trainer} adds the rewards itself; {instead}"
            )
    return {one["name"]: float(one["weight"]) for one in config["reward"]}


def weighted(scored: Scored, weights: dict[str, float]) -> dict[str, float]:
    """The weight times the reward of each reward that a sample has."""
    rewards = {name: verdict.reward for name, verdict in scored.verdicts.items()}
    return {name: weights[name] * one for name, one in rewards.items() if one is not None}

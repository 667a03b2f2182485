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
    "on_abstain": (None, "zero"),
    "on_fault": (None, "mask", "drop_group"),
    "normalise": (None, "none"),
}
"""What a configuration may say of its combined reward, so that this is the sum of its parts."""


def weights_of_sum(engine: Engine, trainer: str) -> dict[str, float]:
    """The weights of the rewards.

    Raises:
        ConfigError: The combined reward is not their weighted sum, which the trainer computes.
    """
    config = engine.config
    for key, kept in SUM.items():
        if (value := config["combine"].get(key)) not in kept:
            raise ConfigError(
                f"combine.{key} = {value!r} would be lost: {trainer} adds the rewards itself"
            )
    return {one["name"]: float(one["weight"]) for one in config["reward"]}


def weighted(scored: Scored, weights: dict[str, float]) -> dict[str, float]:
    """The weight times the reward of each reward that a sample has."""
    rewards = {name: verdict.reward for name, verdict in scored.verdicts.items()}
    return {name: weights[name] * one for name, one in rewards.items() if one is not None}

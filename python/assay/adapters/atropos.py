"""Atropos: a reward function of its registry, and the scores of the groups that an environment sends.

>>> from assay.adapters import atropos
>>> reward = atropos.reward_function("assay.toml")  # doctest: +SKIP
>>> group = await reward.score_group(group, completions, solution="18")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay._faults import Unscored
from assay.adapters._adapter import Adapter, Batch, Config, Trainer
from assay.adapters._batch import finite
from assay.adapters._made import made
from assay.adapters._means import Means
from assay.adapters._trainer import ending

TRAINER = Trainer(
    "Atropos", groups=True,
    uses="`atropos.register()`, `atropos.reward_function(config)`",
    fault="the mean of its group, without loss",
)
IGNORED = -100
"""What the mask of a token is that has no part in the loss."""


class Rewarded:
    """What makes a ``RewardFunction`` of Atropos one of assay; :data:`AssayReward` is both.

    ``weight`` is its weight beside other reward functions, ``name`` its name in logs.
    """

    wandb_logger: Any

    def __init__(
        self, config: Config | None = None, *, weight: float = 1.0, name: str = "assay", **settings: Any
    ) -> None:
        super().__init__(weight=weight, name=name)  # type: ignore[call-arg]
        self.weight = weight
        self._adapter = Adapter(config, TRAINER, **settings)
        self._means = Means()

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """The weighted rewards of the completions of a group.

        Raises:
            Unscored: None of them has a reward. The environment then drops the group.
            SystemExit: There are too many faults.
        """
        return [self.weight * reward for reward in self._rewards(completions, columns)]

    def compute(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """The rewards as ``CombinedReward`` asks for them.

        It goes on without a reward function that raises an exception, as if that had given 0. So a
        group without any reward is NaN here, and what is wrong with settings or data ends the run.
        """
        try:
            return self._rewards(completions, columns)
        except Unscored as error:
            _LOGGER.error("%s", error)
            return [math.nan] * len(completions)
        except Exception as error:
            raise SystemExit(f"assay: {error}") from error

    async def score_group(
        self, group: dict[str, Any], completions: Sequence[Any], **columns: Any
    ) -> dict[str, Any] | None:
        """A ``ScoredDataGroup`` with its ``scores``, for an environment to send.

        A completion that could not be judged scores the mean of the others, and the masks of its tokens
        are -100, so that it is not learnt from. A group without any reward is ``None``, which
        environments do not send.
        """
        with ending():
            try:
                batch = await self._adapter.score_rows_async(**_asked(completions, columns))
            except Unscored as error:
                _LOGGER.error("%s", error)
                return None
        masks = [
            [IGNORED] * len(mask) if sample.reward is None else list(mask)
            for mask, sample in zip(group["masks"], batch.scored, strict=True)
        ]
        return {**group, "scores": [self.weight * one for one in self._noted(batch)], "masks": masks}

    def metrics(self) -> dict[str, float]:
        """The means since the last call, for ``wandb_log`` of the environment."""
        return self._means.take()

    def _rewards(self, completions: Sequence[Any], columns: Mapping[str, Any]) -> list[float]:
        if not completions:
            return []
        with ending():
            batch = self._adapter.score_rows(**_asked(completions, columns))
        return self._noted(batch)

    def _noted(self, batch: Batch) -> list[float]:
        """The rewards of a batch, which goes into the metrics."""
        self._means.add(batch.by_sample())
        if self.wandb_logger:
            self.wandb_logger.log(finite(batch.metrics))
        return [reward for reward in batch.rewards if reward is not None]


def reward_function(config: Config | None = None, **settings: Any) -> Any:
    """A reward function for an environment of Atropos. ``settings`` are those of :class:`Rewarded`."""
    return __getattr__("AssayReward")(config, **settings)


def register(name: str = "assay") -> None:
    """Makes ``registry.create(name, config=...)`` of Atropos give such a function."""
    registry = importlib.import_module("atroposlib.envs.reward_fns").registry
    registry.register_function(name, __getattr__("AssayReward"))


def _asked(completions: Sequence[Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """A list is a column where it has a value for each completion; all else they share."""
    many = len(completions)
    rows = {
        key: value if isinstance(value, list) and len(value) == many else [value] * many
        for key, value in columns.items()
    }
    names = [name for name in ("solution", "ground_truth", "answer") if name in rows]
    references = rows[names[0]] if names else None
    return {"rows": rows, "completions": completions, "references": references}


if TYPE_CHECKING:
    AssayReward = Rewarded

__getattr__ = made(__name__, AssayReward=(Rewarded, "atroposlib.envs.reward_fns.RewardFunction"))
_LOGGER = logging.getLogger("assay")

"""OpenEnv: a rubric, by itself or in its containers.

>>> from assay.adapters import openenv
>>> rubric = openenv.Rubric("assay.toml", columns={"completion": "message"})  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay._core import DataError
from assay._engine import Engine
from assay.adapters._adapter import Batch, Config, Trainer, of_environment
from assay.adapters._made import made
from assay.adapters._one import measured

TRAINER = Trainer("OpenEnv", uses="`openenv.Rubric(config)`", fault="an error of the step")


class Judged:
    """What makes a ``Rubric`` of OpenEnv one of assay; :data:`Rubric` is both.

    The fields of the observation, its metadata and the fields of the action are the row, of which the
    columns of the configuration are read: ``columns={"completion": "message"}`` judges its message.
    ``metrics`` are those of the last call.
    """

    def __init__(self, config: Config | None = None, **settings: Any) -> None:
        super().__init__()
        self._adapter = of_environment(TRAINER, config, **settings)
        self.metrics: dict[str, float] = {}

    def forward(self, action: Any, observation: Any) -> Any:
        """The reward of a step.

        Raises:
            DataError: It has no completion.
            Unscored: It has no reward.
            TooManyFaults: There are too many faults.
        """
        return self._noted(self._adapter.score_row(*_row(self._adapter.engine, action, observation)))

    def _noted(self, batch: Batch) -> float | None:
        self.metrics = measured(batch)
        return batch.rewards[0]


class JudgedAsync(Judged):
    """The same for environments that await their rubrics; :data:`AsyncRubric` is a ``Rubric`` too."""

    async def forward(self, action: Any, observation: Any) -> Any:
        """The reward of a step."""
        row, said = _row(await self._adapter.built(), action, observation)
        return self._noted(await self._adapter.score_row_async(row, said))


def _row(engine: Engine, action: Any, observation: Any) -> tuple[dict[str, Any], Any]:
    """The columns of a step, and what is judged."""
    row: dict[str, Any] = {}
    for fields in (observation.model_dump(), action.model_dump()):
        row |= {**(fields.pop("metadata", None) or {}), **fields}
    name = engine._columns["completion"]
    if row.get(name) is None:
        raise DataError(f"no {name!r} to judge: `columns` names a field of {', '.join(row)}")
    return row, row[name]


if TYPE_CHECKING:
    Rubric, AsyncRubric = Judged, JudgedAsync

_BASE = "openenv.core.rubrics.Rubric"
__getattr__ = made(__name__, Rubric=(Judged, _BASE), AsyncRubric=(JudgedAsync, _BASE))

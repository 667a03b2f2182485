"""ms-swift: a class for ``orms``, whose ``--external_plugins`` may be this file.

>>> from assay.adapters import ms_swift
>>> right = {"version": 1, "reward": [{"name": "right", "verifier": "exact"}]}
>>> reward = ms_swift.orm(right)(args=None)
>>> reward(["4", "5"], messages=[[], []], reference=["4", "4"])
[1.0, 0.0]
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, cast

from assay.adapters._adapter import Config, Trainer, of_environment

TRAINER = Trainer(
    "ms-swift", groups=True,
    uses="`ms_swift.py` by `--external_plugins`, `ms_swift.orm(config)`",
    fault="the mean of its group",
)
"""It adds rewards by ``nansum``: ``None`` and NaN would be 0. An exception ends the training."""


class ORM:
    """What ms-swift calls with a batch; made by :func:`orm`."""

    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, args: Any = None, **others: Any) -> None:
        self._adapter = of_environment(TRAINER, **self.options)

    def __call__(self, completions: list[str], **columns: Any) -> Any:
        """The reward of each completion; one without a reward has the mean of its group."""
        return self._adapter.score_rows(columns, completions=completions, **_given(columns)).rewards


class AsyncORM(ORM):
    """The same as a coroutine function, which ms-swift awaits beside its other ones."""

    async def __call__(self, completions: list[str], **columns: Any) -> Any:
        """The reward of each completion."""
        given = _given(columns)
        batch = await self._adapter.score_rows_async(columns, completions=completions, **given)
        return batch.rewards


def orm(
    config: Config | None = None, *, name: str = "assay", is_async: bool = False, **settings: Any
) -> type[ORM]:
    """A class for ``orms``, by ``config`` and ``settings`` of :mod:`assay.adapters`.

    ms-swift logs it under ``name``. With ``is_async`` it is an :class:`AsyncORM`.
    """
    made = type(name, (AsyncORM if is_async else ORM,), {"options": {"config": config, **settings}})
    return cast("type[ORM]", made)


def _given(columns: dict[str, Any]) -> dict[str, Any]:
    """What ms-swift gives beside the columns. ``messages`` end with the completion."""
    prompts = [talk[:-1] for talk in columns["messages"]]
    turns = columns.get("response_token_ids") or ()
    return {
        "prompts": prompts,
        "references": columns.get("solution"),
        "token_ids": [ids[-1] if ids else None for ids in turns] or None,
        "groups_by": columns.get("prompt_id", prompts),
        "step": getattr(columns.get("trainer_state"), "global_step", 0),
        "taken": ("messages", "trainer_state"),
    }


if __name__ != "assay.adapters.ms_swift":
    orms = importlib.import_module("swift.rewards").orms
    orms.update({"assay": orm(), "assay_async": orm(name="assay_async", is_async=True)})

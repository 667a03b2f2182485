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

from assay.adapters._adapter import Adapter, Config, Trainer, of_environment
from assay.adapters._rows import of_columns

TRAINER = Trainer(
    "ms-swift", masks=False, groups=True, on_fault="mean_of_group",
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
        return self._adapter.score(**_lists(self._adapter, completions, columns)).rewards


class AsyncORM(ORM):
    """The same as a coroutine function, which ms-swift awaits beside its other ones."""

    async def __call__(self, completions: list[str], **columns: Any) -> Any:
        """The reward of each completion."""
        await self._adapter.built()
        return (await self._adapter.score_async(**_lists(self._adapter, completions, columns))).rewards


def orm(
    config: Config | None = None, *, name: str = "assay", is_async: bool = False, **settings: Any
) -> type[ORM]:
    """A class for ``orms``.

    Args:
        config: A path, text or mapping; by default the path in ``ASSAY_CONFIG``.
        name: The name under which ms-swift logs it.
        is_async: Make an :class:`AsyncORM`, which ms-swift runs beside its other ones.
        settings: ``on_fault``, ``max_fault_rate``, ``timeout``, and those of :class:`assay.Engine`.
    """
    made = type(name, (AsyncORM if is_async else ORM,), {"options": {"config": config, **settings}})
    return cast("type[ORM]", made)


def _lists(adapter: Adapter, answers: list[str], columns: dict[str, Any]) -> dict[str, Any]:
    """What is judged. ``messages`` end with the completion; ``solution`` is the reference."""
    step = getattr(columns.pop("trainer_state", None), "global_step", 0)
    prompts = [talk[:-1] for talk in columns.pop("messages")]
    right = columns.get("solution")
    lists = of_columns(adapter.engine, columns, completions=answers, prompts=prompts, references=right)
    if "token_ids" in adapter.columns:
        turns = columns["response_token_ids"]
        lists["columns"][adapter.columns["token_ids"]] = [ids[-1] if ids else None for ids in turns]
    return {"groups_by": columns.get("prompt_id", prompts), "step": step, **lists}


if __name__ != "assay.adapters.ms_swift":
    orms = importlib.import_module("swift.rewards").orms
    orms.update({"assay": orm(), "assay_async": orm(name="assay_async", is_async=True)})

"""HUD: a grader for ``combine`` of its tasks.

>>> from assay.adapters import hud
>>> Correct = hud.grader("assay.toml", name="correct")  # doctest: +SKIP
>>> await Correct.grade(weight=1.0, answer=answer, reference="42")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from assay.adapters._adapter import Config, Trainer, config_of_environment, of_environment
from assay.adapters._made import made
from assay.adapters._one import noted, only_reward

TRAINER = Trainer(
    "HUD", masks=True,
    uses="`hud.Grader`, `hud.grader(config)`",
    fault="an error, and a run without a grade",
)
"""It refuses to train on a run whose grader raised an exception."""


class Judged:
    """What makes a ``Grader`` of HUD one of assay; :data:`Grader` is both, by ``ASSAY_CONFIG``."""

    name = "assay"
    config: ClassVar[Config | None] = None
    settings: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    async def compute_score(
        cls, *, answer: Any, prompt: Any = None, reference: Any = None, **row: Any
    ) -> Any:
        """The reward of an answer as a ``SubScore``, which takes 0 to 1 alone.

        Its info holds the metrics. Members of ``row`` are columns.

        Raises:
            Unscored: The answer has no reward.
            TooManyFaults: There are too many faults.
        """
        adapter = of_environment(TRAINER, cls.config, **cls.settings)
        said = str(getattr(answer, "raw", answer))
        batch = await adapter.score_row_async(row, said, prompt=prompt, reference=reference)
        output = importlib.import_module("hud.graders").SubScore
        value = only_reward(batch, "the run has no grade")
        return output(name=cls.name, value=value, info=noted(batch))


def grader(config: Config | None = None, *, name: str = "assay", **settings: Any) -> type[Judged]:
    """A grader by a configuration. ``name`` is its name in the breakdown of a grade."""
    members = {"name": name, "config": config_of_environment(config), "settings": settings}
    return type("Grader", (__getattr__("Grader"),), {**members, "__module__": __name__})


if TYPE_CHECKING:
    Grader = Judged

__getattr__ = made(__name__, Grader=(Judged, "hud.graders.Grader"))

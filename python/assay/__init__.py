"""assay: rewards for reinforcement learning of language models that can be trusted.

>>> import assay
>>> engine = assay.Engine({"version": 1, "reward": [{"name": "correct", "verifier": "math"}]})
>>> [scored] = engine.score([{"completion": "So it is \\\\boxed{0.5}.", "reference": "1/2"}])
>>> scored.reward
1.0
"""

from typing import TYPE_CHECKING

from assay import diagnostics
from assay._arrow import verdict_lines
from assay._core import (
    ArrowBatch,
    ArrowStream,
    AssayError,
    Component,
    ConfigError,
    DataError,
    DataTypeError,
    RunError,
    Sample,
    Scored,
    Step,
    Usage,
    Verdict,
    __version__,
)
from assay._engine import Engine
from assay._faults import TooManyFaults, Unscored
from assay._functions import Answer, check, extract_answer, math_equal
from assay._groups import Advantages, GroupReport, Selected, advantages, select
from assay._losses import (
    PolicyLoss,
    PreferenceLoss,
    kl_rewards,
    policy_loss,
    preference_loss,
)
from assay._recipes import Recipe, recipe, recipes
from assay._run import RunSummary, merge
from assay._verifier import Verifier, verifier
from assay.diagnostics import pass_at_k

__all__ = [
    "Advantages",
    "Answer",
    "ArrowBatch",
    "ArrowStream",
    "AssayError",
    "Component",
    "ConfigError",
    "DataError",
    "DataTypeError",
    "Engine",
    "GroupReport",
    "PolicyLoss",
    "PreferenceLoss",
    "Recipe",
    "RunError",
    "RunSummary",
    "Sample",
    "Scored",
    "Selected",
    "Step",
    "TooManyFaults",
    "Unscored",
    "Usage",
    "Verdict",
    "Verifier",
    "__version__",
    "advantages",
    "check",
    "diagnostics",
    "extract_answer",
    "kl_rewards",
    "math_equal",
    "merge",
    "pass_at_k",
    "policy_loss",
    "preference_loss",
    "recipe",
    "recipes",
    "select",
    "verdict_lines",
    "verifier",
]

if not TYPE_CHECKING:

    def __getattr__(name):
        """The parts that need another package are imported when they are asked for."""
        if name in ("ray", "spark"):
            import importlib

            return importlib.import_module(f"assay.{name}")
        raise AttributeError(f"module 'assay' has no attribute {name!r}")

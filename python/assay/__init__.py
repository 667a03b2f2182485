"""assay: rewards for reinforcement learning of language models that can be trusted.

>>> import assay
>>> engine = assay.Engine({"version": 1, "reward": [{"name": "correct", "verifier": "math"}]})
>>> [scored] = engine.score([{"completion": "So it is \\\\boxed{0.5}.", "reference": "1/2"}])
>>> scored.reward
1.0
"""

from typing import TYPE_CHECKING

from assay._arrow import verdict_lines
from assay._core import (
    ArrowBatch,
    ArrowStream,
    AssayError,
    Component,
    ConfigError,
    DataError,
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
from assay._run import RunSummary, merge
from assay._verifier import Verifier, verifier

__all__ = [
    "Answer",
    "ArrowBatch",
    "ArrowStream",
    "AssayError",
    "Component",
    "ConfigError",
    "DataError",
    "Engine",
    "RunError",
    "RunSummary",
    "Sample",
    "Scored",
    "Step",
    "TooManyFaults",
    "Unscored",
    "Usage",
    "Verdict",
    "Verifier",
    "__version__",
    "check",
    "extract_answer",
    "math_equal",
    "merge",
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

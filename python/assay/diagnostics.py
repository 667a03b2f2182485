"""Whether rewards can be trusted: diagnostics of rewards and labels in columns.

A column is a list, an array or a tensor. What is missing is ``None`` or NaN and takes part in nothing.
A statistic that is not defined is ``None``, never a zero.

>>> assay.diagnostics.correlation([1, 2, 3, 4], [5, 5, 5, 5])["pearson"] is None
True
"""

from __future__ import annotations

from typing import Any

from assay import _core
from assay._groups import grouped


def pass_at_k(samples: int, correct: int, k: int) -> float | None:
    """The probability that at least one of ``k`` samples is correct, estimated without bias from
    ``samples`` of which ``correct`` are. None where ``k`` is 0 or above ``samples``.

    >>> assay.pass_at_k(10, 3, 1)
    0.3
    """
    return _core.pass_at_k(samples, correct, k)


def pass_curve(
    correct: Any,
    groups: Any,
    *,
    ks: Any = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """pass@k over many prompts, with intervals from drawing the prompts again.

    Args:
        correct: Whether each sample is correct.
        groups: Which samples share a prompt, as for :func:`assay.advantages`.
        ks: The samples that are allowed; by default the powers of two, and as many as there are.
        resamples: How often the prompts are drawn again.
        level: The probability of the intervals.
        seed: The seed of the draws.

    >>> curve = assay.diagnostics.pass_curve([True, False, True, True], 2)
    >>> [(point["k"], point["value"]) for point in curve["points"]]
    [(1, 0.75), (2, 1.0)]
    """
    return _core.pass_curve(
        {
            "correct": correct,
            "groups": grouped(groups),
            "ks": ks,
            "resamples": resamples,
            "level": level,
            "seed": seed,
        }
    )


def correlation(x: Any, y: Any, groups: Any = None) -> dict[str, Any]:
    """How two series go together: ``pearson``, ``spearman``, ``slope`` and ``rows``.

    With ``groups`` both are taken relative to the mean of their group.

    >>> assay.diagnostics.correlation([1, 2, 3], [2, 4, 6])["slope"]
    2.0
    """
    return _core.correlation({"x": x, "y": y, "groups": grouped(groups)})


def length_bias(lengths: Any, rewards: Any, groups: Any, correct: Any = None) -> dict[str, Any]:
    """Whether longer responses earn more: over all rows, within groups, and at fixed correctness.

    >>> bias = assay.diagnostics.length_bias([10, 20, 30, 40], [0.0, 1.0, 0.0, 1.0], 2)
    >>> bias["within_groups"]["pearson"]
    1.0
    """
    return _core.length_bias(
        {"lengths": lengths, "rewards": rewards, "groups": grouped(groups), "correct": correct}
    )

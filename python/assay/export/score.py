"""From what the graph gives to the score: the [score] table in Python."""

from __future__ import annotations

from typing import Any

import numpy as np


def position_scores(raw: np.ndarray, table: dict[str, Any], gates: np.ndarray | None = None) -> list[float]:
    """One score a position, after the transform and the calibration."""
    raw = raw.astype(np.float64)
    transform = table.get("transform", "none")
    if transform == "none":
        values = raw[:, table.get("index", 0)]
    elif transform == "sigmoid":
        values = 1.0 / (1.0 + np.exp(-raw[:, table.get("index", 0)]))
    elif transform == "softmax":
        values = _softmax(raw)[:, table["index"]]
    elif transform == "token_softmax":
        yes, no = table["positive"], table["negative"]
        values = _softmax(raw[:, [*yes, *no]])[:, : len(yes)].sum(axis=1)
    elif transform == "token_logit":
        values = raw[:, table["index"]]
    elif transform == "weighted":
        values = raw @ np.array(table["weights"])
    elif transform == "gated" and gates is not None:
        weights = np.array(table.get("weights") or np.ones(raw.shape[1]))
        values = (raw[-1:] * weights * gates[:1].astype(np.float64)).sum(axis=1)
    else:
        raise ValueError(f"transform {transform!r} is unknown")
    return [calibrate(float(value), table) for value in values]


def calibrate(value: float, table: dict[str, Any]) -> float:
    """(score + shift) * scale, then clip."""
    calibration = table.get("calibration", {})
    value = (value + calibration.get("shift", 0.0)) * calibration.get("scale", 1.0)
    if "clip" in calibration:
        low, high = calibration["clip"]
        value = min(max(value, low), high)
    return value


def aggregate(scores: list[float], how: str) -> float:
    """One score a sample."""
    ways = {
        "min": min,
        "max": max,
        "sum": sum,
        "mean": np.mean,
        "product": np.prod,
        "last": lambda values: values[-1],
    }
    return float(ways[how](scores))


def _softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)

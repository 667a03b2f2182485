"""Means of metrics over many calls, for trainers that ask for them once a step."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Means:
    """Metrics since the last time they were taken."""

    def __init__(self) -> None:
        self._seen: list[Mapping[str, float]] = []
        self._lock = threading.Lock()

    def add(self, metrics: Iterable[Mapping[str, float]]) -> None:
        """Adds metrics, those of one sample each."""
        with self._lock:
            self._seen.extend(metrics)

    def take(self) -> dict[str, float]:
        """The means, and a new start."""
        with self._lock:
            seen, self._seen = self._seen, []
        return means(seen)


def means(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over those that have it; NaN is the mean of nothing, and left out."""
    columns: dict[str, list[float]] = {}
    for metrics in many:
        for name, value in metrics.items():
            if math.isfinite(value):
                columns.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in columns.items()}

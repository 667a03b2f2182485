"""Means of metrics over many calls, for trainers that ask for them once a step."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Means:
    """The means of metrics since they were last taken. NaN is the mean of nothing, and left out."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, int]] = {}
        self._lock = threading.Lock()

    def add(self, metrics: Iterable[Mapping[str, float]]) -> None:
        """Adds metrics, those of one sample each."""
        with self._lock:
            for one in metrics:
                for name, value in one.items():
                    if math.isfinite(value):
                        total, many = self._sums.get(name, (0.0, 0))
                        self._sums[name] = (total + value, many + 1)

    def take(self) -> dict[str, float]:
        """The means, and a new start."""
        with self._lock:
            sums, self._sums = self._sums, {}
        return {name: total / many for name, (total, many) in sums.items()}


def means(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over those that have it."""
    over = Means()
    over.add(many)
    return over.take()

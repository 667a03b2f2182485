"""What stops a training whose samples cannot be judged."""

from __future__ import annotations

import threading
from collections import Counter, deque
from typing import TYPE_CHECKING

from assay._core import AssayError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Fault: TypeAlias = tuple[str, str]
    """The kind of a fault, and why a sample could not be judged."""

WINDOW = 1000
"""How many of the last samples a fault rate is of."""
LEAST = 50
"""A fault rate of fewer samples stops nothing."""


class TooManyFaults(AssayError):
    """So many samples could not be judged that training on the rest would mislead.

    >>> issubclass(assay.TooManyFaults, assay.AssayError)
    True
    """

    code = "limit"


class Unscored(AssayError):
    """A sample has no reward, and neither the trainer nor the settings leave it out.

    >>> issubclass(assay.Unscored, assay.AssayError)
    True
    """

    code = "missing_value"


class FaultWindow:
    """The faults among the last samples of this process."""

    def __init__(self, max_rate: float) -> None:
        if not 0.0 <= max_rate <= 1.0:
            raise ValueError(f"max_fault_rate: {max_rate} is not between 0 and 1")
        self.max_rate = max_rate
        self._last: deque[Fault | None] = deque(maxlen=WINDOW)
        self._failed = 0
        self._lock = threading.Lock()

    def add(self, faults: Sequence[Fault | None]) -> None:
        """Counts samples, each by its fault or ``None``.

        Raises:
            TooManyFaults: The rate is above the most that is allowed.
        """
        with self._lock:
            if not (self._failed or any(faults)):
                self._last.extend(faults)
                return
            for fault in faults:
                if len(self._last) == WINDOW:
                    self._failed -= self._last[0] is not None
                self._last.append(fault)
                self._failed += fault is not None
            of = len(self._last)
            if of < LEAST or self._failed <= self.max_rate * of:
                return
            failed = [fault for fault in self._last if fault is not None]
        raise TooManyFaults(self._message(failed, of))

    def _message(self, failed: list[Fault], of: int) -> str:
        most, times = Counter(kind for kind, _ in failed).most_common(1)[0]
        last = next(why for kind, why in reversed(failed) if kind == most)
        return (
            f"{len(failed)} of the last {of} samples could not be judged, "
            f"above max_fault_rate = {self.max_rate:g}. "
            f"{times} of them are {most}, the last one: {last}"
        )

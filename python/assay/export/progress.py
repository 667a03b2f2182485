"""What an export does now, for the people who wait for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from . import memory

Tell = Callable[[str], None]


def silent(_: str) -> None:
    """Tells nothing."""


def on_stderr() -> Tell:
    """Tells each stage on a line, behind the seconds and the peak of memory so far."""
    start = time.monotonic()

    def tell(stage: str) -> None:
        seconds = time.monotonic() - start
        print(f"{seconds:6.0f} s  {memory.shown(memory.peak()):>8}  {stage}", file=sys.stderr, flush=True)

    return tell

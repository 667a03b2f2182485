"""What an export does now, for the people who wait for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import accumulate

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


class Bar:
    """How much of a known amount is done: a bar on a terminal, else a line a tenth."""

    def __init__(self, what: str, sizes: list[int], tell: Tell) -> None:
        self.what, self.tell = what, tell
        self.ends = list(accumulate(sizes, initial=0))
        self.start, self.last = time.monotonic(), -1

    def show(self, done: int, now: str) -> None:
        """Says that the first `done` are there, and what comes `now`."""
        total = self.ends[-1] or 1
        part = self.ends[done] / total
        seconds = time.monotonic() - self.start
        left = f", {seconds / part - seconds:,.0f} s left" if 0 < part < 1 and seconds > 1 else ""
        amount = f"{part:.0%} of {memory.shown(total)}{left}"
        if self.tell is not silent and sys.stderr.isatty():
            filled = "#" * int(30 * part)
            end = "\n" if done == len(self.ends) - 1 else ""
            print(f"\r\033[K{self.what} [{filled:30}] {amount}  {now}", end=end, file=sys.stderr, flush=True)
        elif int(10 * part) > self.last:
            self.tell(f"{self.what}: {amount}")
        self.last = int(10 * part)

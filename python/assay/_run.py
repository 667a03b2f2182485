"""Runs: datasets scored into folders, and shards that become one run."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from assay import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    Path: TypeAlias = "str | os.PathLike[str]"
    BadRows: TypeAlias = Literal["stop", "skip", "fault"]
    Format: TypeAlias = Literal["jsonl", "parquet"]
    Progress: TypeAlias = "bool | Callable[[int, int, int], object] | None"


LINE_EVERY_S = 5.0
"""Seconds between two lines where there is no terminal."""


class Tally(TypedDict):
    """Outcomes of a reward over the rows of a run."""

    scored: int
    abstained: int
    failed: int
    mean: float | None
    faults: dict[str, int]


class NamedTally(Tally):
    """Outcomes of one reward, with its name."""

    name: str


class _Labels(TypedDict, total=False):
    labels: dict[str, Any]
    cache: dict[str, int]
    judges: dict[str, Any]


class RunSummary(_Labels):
    """What a run came to: the members of ``summary.json``."""

    rows: int
    skipped: int
    total: Tally
    rewards: list[NamedTally]


class RunOptions(NamedTuple):
    """What is scored, and into what."""

    data: list[str]
    output: str
    shard: tuple[int, int] | None
    bad_rows: str
    limit: int | None
    fresh: bool
    retry_faults: bool
    format: str
    training: str | None


def paths(data: Path | Iterable[Path]) -> list[str]:
    """One path or several, as text."""
    if isinstance(data, (str, os.PathLike)):
        return [os.fspath(data)]
    return [os.fspath(path) for path in data]


def shard_of(shard: str | tuple[int, int] | None) -> tuple[int, int] | None:
    """The number of a shard, and how many there are."""
    if not isinstance(shard, str):
        return shard
    index, _, count = shard.partition("/")
    if not (index.isdecimal() and count.isdecimal()):
        raise ValueError(f"shard: expected 'I/N' or (I, N), such as '0/4'; found {shard!r}")
    return int(index), int(count)


def score(core: _core.Engine, options: RunOptions, progress: Progress) -> RunSummary:
    """Scores files; ``progress`` is told how far the run is."""
    line = Line() if progress is True else None
    report = progress if callable(progress) else line
    try:
        summary: RunSummary = core.score_file(options, report)
        return summary
    finally:
        if line is not None:
            line.end()


class Line:
    """Says on stderr how far a run is: in one line of a terminal, else in a line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._next = 0.0
        self._shown = ""

    def __call__(self, rows: int, bytes_read: int, bytes_total: int) -> None:
        share = f", {min(bytes_read / bytes_total, 1.0):.1%}" if bytes_total else ""
        self._shown = f"{rows:,} rows{share}"
        now = time.monotonic()
        if self._terminal:
            self._write(f"\r{self._shown} ")
        elif now >= self._next:
            self._next = now + LINE_EVERY_S
            self.end()

    def end(self) -> None:
        """Ends the line, if there is one."""
        if self._shown:
            self._write("\n" if self._terminal else f"{self._shown}\n")
        self._shown = ""

    def _write(self, text: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def merge(
    runs: Path | Iterable[Path],
    output: Path,
    *,
    fresh: bool = False,
    format: Format = "jsonl",
) -> RunSummary:
    """Makes one run of its shards: the very bytes that one run would have written.

    Args:
        runs: The folders of the shards, or the folder that holds them.
        output: The folder of the run; it may be the one that holds the shards.
        fresh: Start over, whatever ``output`` holds of another run.
        format: ``"parquet"`` writes the verdict rows as Parquet too.

    Raises:
        RunError: Which shard is missing, incomplete, damaged, given twice, or of another run.

    >>> assay.merge("run", "run")["rows"]  # doctest: +SKIP
    1000000
    """
    summary: RunSummary = _core.merge(paths(runs), os.fspath(output), fresh, format)
    return summary

"""What 100,000 calls of verl's function leave, one in ten of which has an endless program."""

from __future__ import annotations

import asyncio
import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from assay.adapters import verl

CALLS, WARM_UP = 100_000, 5_000
MEMORY_MIB_MAX = 50
ENDLESS = {
    "python": "```python\nx = 0\nwhile True:\n    x += {}\n```",
    "javascript": "```javascript\nlet x = 0; while (true) x += {};\n```",
}
TESTS = {"inputs": ["1\n"], "outputs": ["1\n"]}
CONFIG = {
    "version": 1,
    "reward": [
        {"name": "right", "verifier": "math", "when": 'meta.data_source == "math"'},
        *(
            {
                "name": language,
                "verifier": "stdin_stdout",
                "when": f'meta.data_source == "{language}"',
                "config": {"language": language, "limits": {"fuel": 20_000_000}},
            }
            for language in ENDLESS
        ),
    ],
}


def call(at: int) -> tuple[tuple[Any, ...], float]:
    """What a call is given, and its reward. No two programs are the same."""
    if at % 10 == 0:
        language = [*ENDLESS][at // 10 % 2]
        return (language, ENDLESS[language].format(at), TESTS), 0.0
    return ("math", f"The answer is \\boxed{{{at}}}.", str(at - at % 2)), float(at % 2 == 0)


async def together(calls: list[tuple[Any, ...]]) -> list[float]:
    """The rewards of calls that wait side by side."""
    told = await asyncio.gather(*(verl.compute_score(*one, assay_config=CONFIG) for one in calls))
    return [one["score"] for one in told]


def alone(given: tuple[Any, ...]) -> float:
    return float(verl.compute_score_sync(*given, assay_config=CONFIG)["score"])


def memory_mib() -> float:
    """What this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def test_nothing_is_left_of_endless_programs() -> None:
    ctypes.CDLL(None).prctl(
        36, 1
    )  # PR_SET_CHILD_SUBREAPER: what a child leaves would be a child of this process
    before: tuple[float, int] | None = None
    with ThreadPoolExecutor(8) as pool, asyncio.Runner() as loop:
        for start in range(0, CALLS, 100):
            calls, rewards = zip(*(call(at) for at in range(start, start + 100)), strict=True)
            given = list(calls)
            found = loop.run(together(given)) if start % 200 else list(pool.map(alone, given))
            assert found == list(rewards)
            if start == WARM_UP:
                before = memory_mib(), len(os.listdir("/proc/self/task"))
        assert before is not None
        grown, threads = memory_mib() - before[0], len(os.listdir("/proc/self/task"))
    print(f"{CALLS} calls: {before[0]:.0f} MiB and {grown:+.1f}, threads {before[1]} and {threads}")
    assert grown <= MEMORY_MIB_MAX
    assert threads <= before[1]
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)

"""What a trainer trains on, recorded in the folder that ``ASSAY_RECORD`` names: ``assay view`` shows it.

The folder has the files of ``assay train``: ``metrics.jsonl``, a line for each call, and
``rollouts.jsonl``, the samples of every tenth step (``ASSAY_RECORD_EVERY``). Processes may share it.
"""

from __future__ import annotations

import json
import math
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.adapters._batch import Batch

EVERY = 10


def record(
    batch: Batch,
    prompts: Sequence[Any] | None,
    completions: Sequence[Any],
    groups_by: Sequence[object] | None,
    step: int,
) -> None:
    """Appends what came of a call, where there is a folder for it.

    A trainer that tells no step is recorded by the number of the call.
    """
    folder = os.environ.get("ASSAY_RECORD")
    if not folder:
        return
    step = step or _calls.next()
    os.makedirs(folder, exist_ok=True)
    rewards = [reward for reward in _finite(batch.rewards) if reward is not None]
    metrics: dict[str, Any] = {"step": step}
    if rewards:
        metrics["reward"] = sum(rewards) / len(rewards)
    parts = batch.parts()
    for name, values in parts.items():
        known = [value for value in values if value is not None]
        if known:
            metrics[f"rewards/{name}/mean"] = sum(known) / len(known)
    faults = sum(fault is not None for fault in batch.faults)
    metrics["reward_faults"] = faults / max(1, len(batch.faults))
    _append(folder, "metrics.jsonl", [metrics])
    if step % max(1, int(os.environ.get("ASSAY_RECORD_EVERY") or EVERY)) == 0:
        _append(folder, "rollouts.jsonl", _rollouts(batch, parts, prompts, completions, groups_by, step))


def _rollouts(
    batch: Batch,
    parts: dict[str, list[float | None]],
    prompts: Sequence[Any] | None,
    completions: Sequence[Any],
    groups_by: Sequence[object] | None,
    step: int,
) -> list[dict[str, Any]]:
    asked = [""] * len(completions) if prompts is None else prompts
    keys = [repr(key) for key in (asked if groups_by is None else groups_by)]
    places: dict[str, int] = {}
    groups: dict[str, list[float]] = {}
    rewards = _finite(batch.rewards)
    for key, reward in zip(keys, rewards, strict=True):
        places.setdefault(key, len(places))
        groups.setdefault(key, []).extend([] if reward is None else [reward])
    rows = []
    for at, (key, reward) in enumerate(zip(keys, rewards, strict=True)):
        own, fault = groups[key], batch.faults[at]
        rows.append({
            "step": step,
            "group": places[key],
            "task": batch.scored[at].id,
            "prompt": asked[at],
            "completion": completions[at],
            "truncated": False,
            "reward": reward,
            "rewards": {name: values[at] for name, values in parts.items()},
            "fault": None if fault is None else fault[0],
            "advantage": 0.0 if reward is None else reward - sum(own) / len(own),
        })
    return rows


def _finite(rewards: Sequence[float | None]) -> list[float | None]:
    return [reward if reward is not None and math.isfinite(reward) else None for reward in rewards]


def _append(folder: str, name: str, rows: list[dict[str, Any]]) -> None:
    """One write, so that the lines of processes do not mix."""
    lines = "".join(json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in rows)
    file = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(file, lines.encode("utf-8", "replace"))
    finally:
        os.close(file)


class _Calls:
    """Counts the calls of this process."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    def next(self) -> int:
        with self._lock:
            self._count += 1
            return self._count


_calls = _Calls()

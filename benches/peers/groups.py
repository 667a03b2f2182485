"""Advantages, losses and selection over NumPy arrays: what a call costs beside one pass of NumPy.

    make wheel
    python3 -m venv target/peers-groups
    target/peers-groups/bin/pip install numpy==2.4.6
    target/peers-groups/bin/pip install --no-index target/wheels/*.whl
    target/peers-groups/bin/python benches/peers/groups.py

The yardstick is `x * 2.0` over the same numbers, in the same run: it reads them once and writes as many
into a new array, as advantages do. Each time is the least of many, taken in turns. The bar for
GRPO over 1,000,000 rewards in groups of 16 is 5.
"""

from __future__ import annotations

import sys

sys.path.pop(0)  # A file beside this one must not hide the module `math`.

import time
from collections.abc import Callable
from typing import Any

import assay
import numpy as np

ROWS = 1_000_000
GROUP = 16
ROUNDS = 60
BAR = 5.0


def least(*works: Callable[[], object]) -> list[float]:
    """The least seconds of each, taken in turns: what slows the machine slows all of them."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for at, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[at] = min(best[at], time.perf_counter() - start)
    return best


def beside_numpy(name: str, numbers: Any, work: Callable[[], object]) -> float:
    ours, theirs = least(work, lambda: numbers * 2.0)
    ratio = ours / theirs
    print(f"{name}: {1e3 * ours:.2f} ms; x * 2.0 {1e3 * theirs:.2f} ms: {ratio:.2f}x")
    return ratio


def in_numpy(rewards: Any) -> Any:
    """GRPO as a trainer writes it with arrays."""
    rows = rewards.reshape(-1, GROUP)
    centred = rows - rows.mean(axis=1, keepdims=True)
    return centred / (rows.std(axis=1, ddof=1, keepdims=True) + 1e-6)


def main() -> None:
    random = np.random.default_rng(7)
    rewards = random.normal(size=ROWS)
    single, keys = rewards.astype(np.float32), np.repeat(np.arange(ROWS // GROUP), GROUP)

    ours = assay.advantages(rewards, GROUP, kind="grpo").values
    if not np.allclose(ours, in_numpy(rewards).ravel(), rtol=1e-9):
        sys.exit("the advantages are not those of NumPy")
    ratio = beside_numpy("GRPO", rewards, lambda: assay.advantages(rewards, GROUP, kind="grpo"))
    for kind in ("dr_grpo", "rloo"):
        beside_numpy(kind, rewards, lambda: assay.advantages(rewards, GROUP, kind=kind))
    beside_numpy("GRPO of float32", single, lambda: assay.advantages(single, GROUP, kind="grpo"))
    beside_numpy("GRPO by keys", rewards, lambda: assay.advantages(rewards, keys, kind="grpo"))
    beside_numpy("GRPO in NumPy", rewards, lambda: in_numpy(rewards))

    logp = random.normal(size=(1024, 1024)) / 4 - 1.0
    mask = np.arange(1024) < random.integers(1, 1024, size=(1024, 1))
    old, per_rollout = logp + random.normal(size=logp.shape) / 16, random.normal(size=1024)
    beside_numpy(
        "DAPO loss of 1024 x 1024 tokens",
        logp,
        lambda: assay.policy_loss(logp, per_rollout, old=old, mask=mask, kind="dapo"),
    )
    beside_numpy("selection", rewards, lambda: assay.select(rewards, GROUP, kind="dynamic"))
    if ratio > BAR:
        sys.exit(f"more than {BAR:.0f} times one pass of NumPy")


if __name__ == "__main__":
    main()

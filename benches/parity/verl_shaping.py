"""Records of verl's length penalty (`DAPORewardManager`)."""

from __future__ import annotations

import asyncio
import importlib
import types
from typing import Any

import torch
from absent import stand_in
from cases import RAGGED, Case
from records import Output, Record, numbers, record

MODULE = "verl.experimental.reward_loop.reward_manager.dapo"
FUNCTION = f"{MODULE}.DAPORewardManager.run_single"
LONGEST, BUFFER, FACTOR = 5, 4, 0.5


def records(cases: list[Case]) -> list[Record]:
    """The rewards after the penalty. Rollouts longer than the limit show that it has no floor."""

    importlib.import_module("transformers")
    stand_in("aiohttp", "hydra", "torchdata", "vllm")
    dapo = importlib.import_module(MODULE)

    def run(case: Case) -> Output:
        rows = zip(case["rewards"], case["lengths"], strict=True)
        return numbers([asyncio.run(_score(dapo.DAPORewardManager, reward, length)) for reward, length in rows])

    ours = {"kind": "overlong", "max_length": LONGEST, "buffer": BUFFER, "factor": FACTOR, "floor": False}
    return [record("verl overlong", FUNCTION, "shaping", ours, cases, run, RAGGED)]


async def _score(kind: Any, reward: float, length: int) -> float:
    manager = types.SimpleNamespace(
        compute_score=lambda **rest: reward,
        is_async_reward_score=False,
        tokenizer=types.SimpleNamespace(decode=lambda ids, **rest: ""),
        loop=asyncio.get_running_loop(),
        reward_router_address=None,
        overlong_buffer_cfg=types.SimpleNamespace(enable=True, len=BUFFER, penalty_factor=FACTOR, log=False),
        max_resp_len=LONGEST,
    )
    item = types.SimpleNamespace(
        batch={"responses": torch.ones(length), "attention_mask": torch.ones(length + 1).long()},
        non_tensor_batch={"data_source": "", "reward_model": {"ground_truth": ""}},
    )
    batch: Any = [item]
    found = await kind.run_single(manager, batch)
    return float(found["reward_score"])

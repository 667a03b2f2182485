"""The reward function of AReaL, in its own wrapper with its process pool, its workflow, and its runner."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, WRONG, config, documented, service

import assay
from assay.adapters import areal as adapter


def areal_module(name: str) -> Any:
    """A module of AReaL without the packages around it, which import launchers and GPU engines."""
    spec = importlib.util.find_spec("areal") if "areal" not in sys.modules else None
    if spec is not None and spec.submodule_search_locations:
        root = Path(spec.submodule_search_locations[0])
        for package in ("areal", "areal.infra", "areal.workflow"):
            bare = ModuleType(package)
            bare.__path__ = [str(root.joinpath(*package.split(".")[1:]))]
            sys.modules[package] = bare
    return pytest.importorskip(name, exc_type=ImportError)


reward_api = areal_module("areal.api.reward_api")
ROW = {"reference": "4", "level": 3}


def made(**settings: Any) -> adapter.RewardFunction:
    settings = {"verifiers": [service], "max_fault_rate": 1.0, **settings}
    return adapter.reward_function(config(), **settings)


@pytest.fixture
def wrap() -> Iterator[Any]:
    """AReaL's wrapper with a fresh pool of one process."""
    reward_api.AsyncRewardWrapper._executors.clear()
    yield lambda function, **options: reward_api.AsyncRewardWrapper(
        function, **{"max_workers": 1, "max_retries": 0, "timeout_seconds": 30, **options}
    )
    for pool in reward_api.AsyncRewardWrapper._executors.values():
        pool.shutdown(cancel_futures=True)
    reward_api.AsyncRewardWrapper._executors.clear()


def in_turn(wrapped: Any, answers: list[str]) -> list[float]:
    async def run() -> list[float]:
        return [await wrapped("2 + 2 = ?", answer, [1], [2], **ROW) for answer in answers]

    return asyncio.run(run())


def test_rewards_come_from_the_process_pool(wrap: Any) -> None:
    assert in_turn(wrap(made()), [RIGHT, WRONG]) == [1.0, 0.0]


def test_a_process_builds_one_engine_for_all_samples() -> None:
    function = made()
    first, second = (pickle.loads(pickle.dumps(function)) for _ in range(2))
    assert first is not second
    assert first._adapter is second._adapter
    assert pickle.loads(pickle.dumps(made()))._adapter is not first._adapter
    assert first("2 + 2 = ?", RIGHT, [], [], **ROW) == 1.0


def test_a_fault_is_an_exception_and_no_zero(wrap: Any) -> None:
    with pytest.raises(assay.Unscored, match="the service is down; the rollout is rejected"):
        in_turn(wrap(made(), max_retries=1), [BROKEN])


def test_no_reference_has_no_reward(wrap: Any) -> None:
    with pytest.raises(assay.Unscored, match="abstained"):
        asyncio.run(wrap(made())("2 + 2 = ?", RIGHT, [1], [2]))


@assay.verifier
def slow(sample: assay.Sample) -> float:
    time.sleep(3.0)
    return 1.0


def test_a_slow_verifier_is_a_fault_before_areal_makes_it_a_zero(wrap: Any) -> None:
    rewards = [{"name": "slow", "verifier": "slow"}]
    function = adapter.reward_function(config(reward=rewards), verifiers=[slow], timeout=0.2)
    with pytest.raises(assay.Unscored, match="Timeout"):
        in_turn(wrap(function), ["anything"])
    assert adapter.TIMEOUT < 15


def test_too_many_faults_come_through_what_catches_exceptions(wrap: Any) -> None:
    async def run() -> None:
        wrapped = wrap(made(max_fault_rate=0.5))
        for _ in range(60):
            try:
                await wrapped("2 + 2 = ?", BROKEN, [1], [2], **ROW)
            except Exception:
                continue

    with pytest.raises(SystemExit, match="50 of the last 50 samples could not be judged"):
        asyncio.run(run())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_too_many_faults_stop_the_runner_of_areal() -> None:
    runner_module = areal_module("areal.infra.async_task_runner")
    runner = runner_module.AsyncTaskRunner(max_queue_size=100, poll_wait_time=0.01, poll_sleep_time=0.01)
    runner.initialize()
    function = made(max_fault_rate=0.5)

    async def rollout() -> float | None:
        try:
            return function("2 + 2 = ?", BROKEN, [1], [2], **ROW)
        except Exception:
            return None

    for at in range(60):
        runner.submit(rollout, task_id=str(at))
    with pytest.raises(RuntimeError, match="exiting"):
        runner.wait(count=60, timeout=60)
    runner.destroy()


def test_a_workflow_without_the_pool_logs_to_areal() -> None:
    tracker = areal_module("areal.utils.stats_tracker")
    context = areal_module("areal.infra.workflow_context")
    sys.modules["areal"].workflow_context = context  # type: ignore[attr-defined]
    rlvr = areal_module("areal.workflow.rlvr")

    class Workflow(rlvr.RLVRWorkflow):  # type: ignore[name-defined,misc]
        def __init__(self, reward_fn: Any) -> None:
            self.async_reward_fn = reward_fn.score_async
            self.tokenizer = SimpleNamespace(decode=lambda tokens: "".join(map(chr, tokens)))

    async def run(answers: list[str]) -> list[float]:
        workflow = Workflow(made())
        replies = [
            SimpleNamespace(input_tokens=[1], output_tokens=list(map(ord, one))) for one in answers
        ]
        return [await workflow._compute_rewards(reply, "2 + 2 = ?", ROW) for reply in replies]

    assert asyncio.run(run([RIGHT, WRONG])) == [1.0, 0.0]
    with pytest.raises(assay.Unscored):
        asyncio.run(run([BROKEN]))
    stats = tracker.get("rollout").export()
    assert stats["rollout/assay/fault_rate"] == pytest.approx(1 / 3)
    assert stats["rollout/assay/reward/correct"] == pytest.approx(2 / 3)
    assert stats["rollout/assay/latency_ms"] > 0.0


def test_the_path_of_areal_and_the_environment(wrap: Any, named: Path) -> None:
    module, _, name = "assay.adapters.areal.reward_fn".rpartition(".")
    function = getattr(importlib.import_module(module), name)
    assert in_turn(wrap(function), [RIGHT, WRONG]) == [1.0, 0.0]


def test_the_documented_lines(wrap: Any) -> None:
    reward_fn = documented("areal.md")["reward_fn"]
    assert (
        asyncio.run(wrap(reward_fn)("6 * 7 = ?", "\\boxed{42}<|im_end|>", [1], [2], answer="42")) == 1.0
    )

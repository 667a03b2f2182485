"""The reward function of Atropos, by its registry and in a group that its environments send."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

import assay
from assay.adapters import atropos as adapter

reward_fns = pytest.importorskip("atroposlib.envs.reward_fns")
registry = reward_fns.registry


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    adapter.register()
    yield
    del registry._registry["assay"]


class Log:
    def __init__(self) -> None:
        self.logged: dict[str, float] = {}

    def log(self, metrics: dict[str, float]) -> None:
        self.logged.update(metrics)


def made(**settings: Any) -> Any:
    settings = {"config": config(), "verifiers": [service], "max_fault_rate": 1.0, **settings}
    return registry.create({"type": "assay", **settings})


def test_the_registry_makes_a_reward_function() -> None:
    reward = made(weight=2.0, name="sums")
    assert isinstance(reward, reward_fns.RewardFunction)
    assert reward.name == "sums"
    assert reward([RIGHT, WRONG], solution="4") == [2.0, 0.0]
    assert reward.compute([RIGHT, WRONG], solution=["4", "5"]) == [1.0, 1.0]
    assert reward([], solution="4") == []


def test_rewards_are_those_of_the_engine() -> None:
    found = made(config=config(reward=UNEVEN))([RIGHT, WRONG], solution="4")
    assert found == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]


def test_completions_may_be_messages() -> None:
    answer = [{"role": "user", "content": "2 + 2 = ?"}, {"role": "assistant", "content": RIGHT}]
    assert made()([answer], ground_truth="4") == [1.0]


def test_a_fault_gets_the_mean_of_its_group() -> None:
    assert made()([RIGHT, BROKEN, WRONG], solution="4") == [1.0, 0.5, 0.0]


def test_a_group_without_a_reward_is_no_group_of_zeros() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        made()([BROKEN, BROKEN], solution="4")


def test_a_combined_reward_makes_no_zero_of_a_fault() -> None:
    settings = {"type": "assay", "config": config(), "verifiers": [service], "max_fault_rate": 1.0}
    combined = registry.create({"type": "combined", "rewards": [settings]})
    assert combined([RIGHT, BROKEN, WRONG], solution="4") == [1.0, 0.5, 0.0]
    assert all(math.isnan(score) for score in combined([BROKEN, BROKEN], solution="4"))


def test_what_is_wrong_with_the_configuration_ends_a_combined_reward() -> None:
    wrong = {"version": 1, "reward": [{"name": "a", "verifier": "no such verifier"}]}
    combined = registry.create({"type": "combined", "rewards": [{"type": "assay", "config": wrong}]})
    with pytest.raises(SystemExit, match="no such verifier"):
        combined([RIGHT], solution="4")


def test_too_many_faults_end_the_environment() -> None:
    reward = made(max_fault_rate=0.25)
    answers = [RIGHT, BROKEN] * 30
    with pytest.raises(SystemExit, match="30 of the last 60 samples could not be judged"):
        reward(answers, solution="4")
    combined = registry.create({"type": "combined", "rewards": []})
    combined.reward_functions.append(reward)
    with pytest.raises(SystemExit, match="max_fault_rate = 0.25"):
        combined(answers, solution="4")


def test_metrics_are_logged() -> None:
    reward = made()
    log = Log()
    reward.set_wandb_logger(log)
    reward([RIGHT, BROKEN, WRONG], solution="4")
    assert log.logged["assay/fault_rate"] == pytest.approx(1 / 3)
    assert reward.metrics()["assay/fault_rate"] == pytest.approx(1 / 3)
    assert reward.metrics() == {}


def test_a_group_to_send_ignores_the_tokens_of_a_fault() -> None:
    group = {"tokens": [[1, 2], [1, 3], [1, 4]], "masks": [[-100, 2], [-100, 3], [-100, 4]]}
    answers = [RIGHT, BROKEN, WRONG]
    sent = asyncio.run(made(weight=2.0).score_group(group, answers, solution="4"))
    assert sent["scores"] == [2.0, 1.0, 0.0]
    assert sent["masks"] == [[-100, 2], [-100, -100], [-100, 4]]
    assert group["masks"] == [[-100, 2], [-100, 3], [-100, 4]]
    assert asyncio.run(made().score_group(group, [BROKEN] * 3, solution="4")) is None


def test_an_environment_sends_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    base = pytest.importorskip("atroposlib.envs.base")
    reward = made()
    sent: list[Any] = []

    class Sums(base.BaseEnv):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            self.config = base.BaseEnvConfig(group_size=3, ensure_scores_are_not_same=True)
            self.running_items = {"1": {"item": "2 + 2 = ?"}}
            for name in ("backlog", "task_duration", "succeeded_task_duration", "task_successful"):
                setattr(self, name, [])
            self.failed_task_duration: list[float] = []
            self.completion_lengths: list[int] = []
            self.max_token_len = 100
            self.jsonl_writer = None
            self.items_sent_this_step = 0

        async def collect_trajectories(self, item: str) -> Any:
            group = {"tokens": [[1], [2], [3]], "masks": [[1], [2], [3]]}
            return await reward.score_group(group, [RIGHT, BROKEN, WRONG], solution="4"), []

        async def add_rollouts_for_wandb(self, group: Any, item: Any = None) -> None:
            assert item == "2 + 2 = ?"

        async def _send_scored_data_to_api(self, scored_data: Any) -> None:
            sent.append(scored_data)

        async def get_next_item(self) -> str:
            return "2 + 2 = ?"

        async def evaluate(self, *args: Any, **kwargs: Any) -> None:
            return None

        async def setup(self) -> None:
            return None

    asyncio.run(Sums().handle_env("1"))
    assert [group["scores"] for group in sent] == [[1.0, 0.5, 0.0]]
    assert sent[0]["masks"] == [[1], [-100], [3]]


def test_the_documented_lines() -> None:
    assert documented("atropos.md")["scores"] == [1.0, 0.0]


def test_drop_group_and_raise_send_no_group() -> None:
    group = {"tokens": [[1], [2]], "masks": [[1], [2]]}
    for settings in ({"on_fault": "raise"}, {"config": config(combine={"on_fault": "drop_group"})}):
        reward = made(**settings)
        assert asyncio.run(reward.score_group(group, [RIGHT, BROKEN], solution="4")) is None
        with pytest.raises(assay.Unscored):
            reward([RIGHT, BROKEN], solution="4")

"""The environment of skyrl-gym, made as SkyRL makes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

import assay
from assay.adapters import skyrl_gym as adapter

skyrl_gym = pytest.importorskip("skyrl_gym")
metrics = pytest.importorskip("skyrl_gym.metrics")
registration = pytest.importorskip("skyrl_gym.envs.registration")

EXTRAS = {"reward_spec": {"method": "rule", "ground_truth": "4"}, "data_source": "sums"}
PROMPT = [{"role": "user", "content": "2 + 2 = ?"}]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    adapter.register(config(), verifiers=[service])
    yield
    registration.deregister("assay")


def step(answer: str, env_id: str = "assay", **extras: Any) -> tuple[Any, Any]:
    env = skyrl_gym.make(env_id, env_config={}, extras={**EXTRAS, **extras})
    prompt, info = env.init(PROMPT)
    assert (prompt, info) == (PROMPT, {})
    return env, env.step(answer)


def test_an_episode_is_one_judged_step() -> None:
    env, out = step(RIGHT)
    assert isinstance(env, skyrl_gym.envs.base_text_env.BaseTextEnv)
    assert (out["reward"], out["done"], out["observations"]) == (1.0, True, [])
    assert out["metadata"]["assay"]["outcome"] == "scored"
    assert step(WRONG)[1]["reward"] == 0.0
    env.close()


def test_rewards_are_those_of_the_engine() -> None:
    adapter.register(config(reward=UNEVEN), id="uneven")
    found = [step(answer, "uneven")[1]["reward"] for answer in (RIGHT, WRONG)]
    registration.deregister("uneven")
    assert found == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]


def test_metrics_are_aggregated_by_skyrl() -> None:
    episodes = [step(answer)[0].get_metrics() for answer in (RIGHT, WRONG)]
    means = metrics.aggregate_for_environment("assay", episodes)
    assert means["assay/fault_rate"] == 0.0
    assert means["assay/reward/correct"] == 0.5
    assert means["assay/latency_ms"] > 0.0


def test_a_fault_is_an_error_and_no_zero() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        step(BROKEN)


def test_a_floor_is_paid_where_the_configuration_says_so() -> None:
    floor = config(combine={"on_fault": "floor", "floor": -1.0})
    adapter.register(floor, id="floored", verifiers=[service], max_fault_rate=1.0)
    env, out = step(BROKEN, "floored")
    registration.deregister("floored")
    assert out["reward"] == -1.0
    assert env.get_metrics()["assay/fault_rate"] == 1.0


def test_too_many_faults_stop_the_run() -> None:
    floor = config(combine={"on_fault": "floor", "floor": -1.0})
    adapter.register(floor, id="stopping", verifiers=[service], max_fault_rate=0.25)
    with pytest.raises(assay.TooManyFaults, match="max_fault_rate = 0.25"):
        for _ in range(60):
            step(BROKEN, "stopping")
    registration.deregister("stopping")


def test_episodes_share_an_engine() -> None:
    first, second = step(RIGHT)[0], step(RIGHT)[0]
    assert first is not second
    assert first._adapter.engine is second._adapter.engine


def test_an_engine_is_no_setting() -> None:
    engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
    with pytest.raises(assay.ConfigError, match="pass no engine"):
        adapter.register(engine, id="engine")


def test_the_configuration_may_come_from_skyrl(tmp_path: Path) -> None:
    path = tmp_path / "assay.json"
    path.write_text(json.dumps({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]}))
    skyrl_gym.register(id="plain", entry_point="assay.adapters.skyrl_gym:Environment")
    env = skyrl_gym.make("plain", env_config={"config": str(path)}, extras={"reference": "yes"})
    registration.deregister("plain")
    assert env.step("yes")["reward"] == 1.0


def test_several_turns_by_a_subclass() -> None:
    class TwoTurns(adapter.Environment):
        turns: int

        def step(self, action: str) -> Any:
            self.turns += 1
            if self.turns == 1:
                again = [{"role": "user", "content": "Sure?"}]
                return {"observations": again, "reward": 0.0, "done": False, "metadata": {}}
            return super().step(action)

    env = TwoTurns(extras=EXTRAS, config=config(), verifiers=[service])
    env.init(PROMPT)
    assert env.step(WRONG)["done"] is False
    assert env.step(RIGHT)["reward"] == 1.0


def test_the_documented_lines() -> None:
    out = documented("skyrl.md")["out"]
    registration.deregister("sums")
    assert (out["reward"], out["done"]) == (1.0, True)

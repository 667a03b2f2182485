"""The environment of NeMo-RL, called by a client of its protocol: NeMo-RL is not on PyPI."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from faulty import BROKEN, RIGHT, WRONG, config, documented, service

import assay
from assay.adapters import nemo_rl as adapter
from assay.adapters._adapter import Adapter

torch = pytest.importorskip("torch")


class EnvironmentReturn(NamedTuple):
    """What a step of an environment of NeMo-RL returns."""

    observations: list[dict[str, str]]
    metadata: list[Any]
    next_stop_strings: list[Any]
    rewards: Any
    terminateds: Any
    answers: list[str | None] | None


def install_interfaces() -> None:
    """Stands for the package that a Ray worker of NeMo-RL has."""
    for name in ("nemo_rl", "nemo_rl.environments", "nemo_rl.environments.interfaces"):
        sys.modules[name] = ModuleType(name)
    sys.modules[name].EnvironmentReturn = EnvironmentReturn  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def interfaces() -> Iterator[None]:
    install_interfaces()
    yield
    for name in ("nemo_rl", "nemo_rl.environments", "nemo_rl.environments.interfaces"):
        del sys.modules[name]


def environment(known: dict[str, Any] | None = None, **changes: Any) -> adapter.Environment:
    """One with the verifier of the tests, which no path of a configuration can name."""
    known = known or config()
    made = adapter.Environment({"config": known, **changes})
    settings = {"max_fault_rate": 1.0, **changes}
    settings.pop("split_rewards", None)
    made._adapter = Adapter(known, adapter.TRAINER, verifiers=[service], **settings)
    return made


def log(answer: str, prompt: str = "2 + 2 = ?") -> list[dict[str, Any]]:
    """A conversation of NeMo-RL, with its tokens."""
    return [
        {"role": "user", "content": prompt, "token_ids": torch.tensor([1, 2])},
        {"role": "assistant", "content": answer, "token_ids": torch.tensor([3])},
    ]


GOLD = {"ground_truth": "4"}


def test_a_step_judges_and_ends_every_conversation() -> None:
    out = environment().step([log(RIGHT), log(WRONG)], [GOLD, GOLD])
    assert out.rewards.tolist() == [1.0, 0.0]
    assert out.rewards.dtype == torch.float32
    assert out.terminateds.tolist() == [True, True]
    assert out.observations == [{"role": "environment", "content": ""}] * 2
    assert out.metadata == [GOLD, GOLD]
    assert out.next_stop_strings == [None, None]
    assert out.answers is None


def test_answers_where_nemo_rl_asks_for_them() -> None:
    out = environment().step([log(RIGHT), log("")], [GOLD, GOLD], True)
    assert out.answers == ["4", None]


def test_a_fault_gets_the_mean_of_its_prompt() -> None:
    logs = [log(RIGHT, "a"), log(WRONG, "b"), log(BROKEN, "a"), log(BROKEN, "b"), log(BROKEN, "c")]
    out = environment().step(logs, [GOLD] * 5)
    assert out.rewards.tolist() == [1.0, 0.0, 1.0, 0.0, 0.5]


def test_nothing_to_take_the_mean_of_is_an_error_and_no_zero() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        environment().step([log(BROKEN)], [GOLD])


TWO = [
    {"name": "correct", "verifier": "math"},
    {"name": "brief", "verifier": "length", "config": {"max": 20}, "when": "meta.is_long != true"},
    {"name": "noted", "verifier": "regex", "config": {"pattern": "is"}, "weight": 0.0},
    {"name": "service", "verifier": "service"},
]


def split(**changes: Any) -> adapter.Environment:
    """One that gives each reward on its own."""
    return environment(config(reward=TWO), split_rewards=True, **changes)


def test_rewards_as_a_dict() -> None:
    out = split().step([log(RIGHT), log("5"), log("4")], [GOLD] * 3)
    assert {name: values.tolist() for name, values in out.rewards.items()} == {
        "correct": [1.0, 0.0, 1.0],
        "brief": [1.0, 1.0, 1.0],
        "service": [0.0, 0.0, 0.0],
    }
    assert all(values.dtype == torch.float32 for values in out.rewards.values())


def test_what_has_no_number_in_a_dict_gets_the_mean_of_its_prompt() -> None:
    long = {**GOLD, "is_long": True}
    said = "It is 5, which is long enough for that"
    out = split().step([log(RIGHT), log(said), log(BROKEN), log(RIGHT)], [GOLD, GOLD, GOLD, long])
    assert out.rewards["correct"].tolist() == pytest.approx([1.0, 0.0, 2 / 3, 1.0])
    assert out.rewards["brief"].tolist() == [1.0, 0.0, 0.5, 0.5]


class Masking(NamedTuple):
    """The same of a NeMo-RL that knows which rewards are valid."""

    observations: list[dict[str, str]]
    metadata: list[Any]
    next_stop_strings: list[Any]
    rewards: Any
    terminateds: Any
    answers: list[str | None] | None
    reward_valid_mask: Any = None


def test_a_fault_is_masked_where_nemo_rl_has_a_mask() -> None:
    with pytest.raises(assay.ConfigError, match="no reward_valid_mask"):
        environment(on_fault="mask")
    interfaces: Any = sys.modules["nemo_rl.environments.interfaces"]
    interfaces.EnvironmentReturn = Masking
    out = environment(on_fault="mask").step([log(RIGHT), log(BROKEN), log(WRONG)], [GOLD] * 3)
    assert out.reward_valid_mask.tolist() == [True, False, True]
    assert out.rewards.tolist() == [1.0, 0.5, 0.0], "the mean, where something reads it all the same"
    out = environment(on_fault="mask").step([log(BROKEN)], [GOLD])
    assert (out.reward_valid_mask.tolist(), out.rewards.tolist()) == ([False], [0.0])
    out = split(on_fault="mask").step([log(RIGHT), log(BROKEN)], [GOLD] * 2)
    assert out.reward_valid_mask.tolist() == [True, False]
    assert environment().step([log(RIGHT)], [GOLD]).reward_valid_mask is None


def test_too_many_faults_stop_the_training() -> None:
    with pytest.raises(assay.TooManyFaults, match="30 of the last 60 samples"):
        environment(max_fault_rate=0.25).step([log(RIGHT), log(BROKEN)] * 30, [GOLD] * 60)


def test_the_metrics_of_a_step_of_training() -> None:
    made = environment()
    made.step([log(RIGHT), log(BROKEN)], [GOLD] * 2)
    made.step([log(WRONG), log(WRONG)], [GOLD] * 2)
    batch = {"rewards": torch.zeros(4)}
    same, metrics = made.global_post_process_and_metrics(batch)
    assert same is batch
    assert metrics["assay/fault_rate"] == 0.25
    assert metrics["assay/latency_ms"] > 0.0
    assert made.global_post_process_and_metrics(batch)[1] == {}


def test_several_turns_are_judged_by_the_last_answer() -> None:
    talk = [*log(WRONG), {"role": "environment", "content": "Sure?"}, *log(RIGHT)[1:]]
    assert environment().step([talk], [GOLD]).rewards.tolist() == [1.0]


def test_a_ray_actor(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    path = tmp_path / "assay.json"
    path.write_text(json.dumps({"version": 1, "reward": [{"name": "correct", "verifier": "math"}]}))

    class Worker(adapter.Environment):
        def __init__(self, cfg: Any) -> None:
            install_interfaces()
            super().__init__(cfg)

        def step(self, *args: Any, **options: Any) -> Any:
            return tuple(super().step(*args, **options))

    ray.init(
        num_cpus=1, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": ":".join(sys.path)}}
    )
    try:
        actor = ray.remote(Worker).remote({"config": str(path), "num_workers": 1})
        out = EnvironmentReturn(*ray.get(actor.step.remote([log(RIGHT), log(WRONG)], [GOLD] * 2)))
        assert out.rewards.tolist() == [1.0, 0.0]
        [_, metrics] = ray.get(actor.global_post_process_and_metrics.remote({}))
        assert metrics["assay/reward/correct"] == 0.5
    finally:
        ray.shutdown()


def test_the_documented_lines() -> None:
    out = documented("nemo-rl.md")["environment"].step([log(RIGHT), log(WRONG)], [GOLD, GOLD])
    assert out.rewards.tolist() == [1.0, 0.0]

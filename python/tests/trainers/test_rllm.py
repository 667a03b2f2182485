"""The evaluator of rLLM, called with copies of its types: rLLM is not on PyPI."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

import assay
from assay.adapters import rllm as adapter


@dataclass
class Task:
    instruction: str = "2 + 2 = ?"
    metadata: dict[str, Any] = field(default_factory=lambda: {"answer": "4"})


@dataclass
class Step:
    chat_completions: list[dict[str, Any]] = field(default_factory=list)
    model_response: str = ""


@dataclass
class Trajectory:
    steps: list[Step] = field(default_factory=list)


@dataclass
class Episode:
    trajectories: list[Trajectory] = field(default_factory=list)
    artifacts: dict[str, Any] = field(default_factory=dict)


@dataclass
class EvalOutput:
    reward: float
    is_correct: bool
    signals: list[Any]
    metadata: dict[str, Any]


@dataclass
class RewardOutput:
    reward: float
    metadata: dict[str, Any]
    is_correct: bool | None = None


@dataclass
class Action:
    action: str


@pytest.fixture(autouse=True)
def types(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules of rLLM that hold the types of results."""
    for name, kind in (("rllm.types", EvalOutput), ("rllm.rewards.reward_fn", RewardOutput)):
        module = ModuleType(name)
        setattr(module, kind.__name__, kind)
        monkeypatch.setitem(sys.modules, name, module)


def answered(text: str) -> Episode:
    return Episode(artifacts={"answer": text})


def made(kind: str = "Evaluator", **settings: Any) -> Any:
    settings = {"verifiers": [service], "max_fault_rate": 1.0, **settings}
    return getattr(adapter, kind)(config(**settings.pop("changes", {})), **settings)


def test_rewards_are_those_of_the_engine() -> None:
    evaluator = made(changes={"reward": UNEVEN}, correct=0.5)
    outputs = [evaluator.evaluate(Task(), answered(text)) for text in (RIGHT, WRONG)]
    assert [one.reward for one in outputs] == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]
    assert [one.is_correct for one in outputs] == [True, False]
    assert outputs[0].metadata["assay/reward/correct"] == 1.0
    assert outputs[0].metadata["assay_outcome"] == "scored"


def test_a_task_may_be_a_dict() -> None:
    task = {"question": "2 + 2 = ?", "ground_truth": "4"}
    assert made().evaluate(task, answered(RIGHT)).reward == 1.0
    named = made(changes={"data": {"reference": "gold"}})
    assert named.evaluate({"gold": "4", "answer": "7"}, answered(RIGHT)).reward == 1.0


def test_the_last_step_is_judged_where_there_is_no_answer() -> None:
    messages = [
        {"role": "user", "content": "2 + 2 = ?"},
        {"role": "assistant", "content": WRONG},
        {"role": "user", "content": "Sure?"},
        {"role": "assistant", "content": RIGHT},
    ]
    for step in (Step(chat_completions=messages), Step(model_response=RIGHT)):
        assert made().evaluate(Task(), Episode([Trajectory([step])])).reward == 1.0
    with pytest.raises(assay.DataError, match="the episode has no answer"):
        made().evaluate(Task(), Episode())


def test_a_part_may_be_enough() -> None:
    part = {"reward": UNEVEN}
    assert made(changes=part).evaluate(Task(), answered(RIGHT)).is_correct is False
    assert made(changes=part, correct=0.7).evaluate(Task(), answered(RIGHT)).is_correct is True


@pytest.mark.parametrize(
    "call",
    [
        lambda text, task: made().evaluate(Task(metadata=task), answered(text)),
        lambda text, task: made("RewardFunction")(task, text),
    ],
)
def test_a_fault_and_an_abstention_are_errors_and_no_zeros(call: Any) -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        call(BROKEN, {"answer": "4"})
    with pytest.raises(assay.Unscored, match="abstained"):
        call(RIGHT, {})


def test_a_floor_is_paid_where_the_configuration_says_so() -> None:
    floored = made(changes={"combine": {"on_fault": "floor", "floor": -1.0}})
    output = floored.evaluate(Task(), answered(BROKEN))
    assert (output.reward, output.metadata["assay/fault_rate"]) == (-1.0, 1.0)


def test_too_many_faults_end_the_process() -> None:
    strict = made(max_fault_rate=0.25)
    with pytest.raises(SystemExit, match=r"above max_fault_rate = 0\.25"):
        for _ in range(60):
            with pytest.raises(assay.Unscored):
                strict.evaluate(Task(), answered(BROKEN))


def test_the_older_reward_function() -> None:
    function = made("RewardFunction")
    task = {"question": "2 + 2 = ?", "ground_truth": "4"}
    output = function(task, RIGHT)
    assert (output.reward, output.is_correct) == (1.0, True)
    assert function(task, Action(WRONG)).reward == 0.0


def test_the_path_of_a_dataset_and_the_environment(named: Path) -> None:
    module, _, name = "assay.adapters.rllm:evaluate".partition(":")
    evaluate = getattr(importlib.import_module(module), name)
    assert [evaluate(Task(), answered(text)).reward for text in (RIGHT, WRONG)] == [1.0, 0.0]


def test_the_documented_lines() -> None:
    names = documented("rllm.md")
    assert names["evaluator"].evaluate(Task(), answered(RIGHT)).reward == 1.0
    assert names["reward_fn"]({"answer": "4"}, WRONG).reward == 0.0

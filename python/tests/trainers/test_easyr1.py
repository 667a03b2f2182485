"""The function for EasyR1, loaded and called as its reward managers do: EasyR1 is not on PyPI."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import assay
import pytest
from assay.adapters import easyr1 as adapter
from faulty import BROKEN, RIGHT, WRONG, config, documented, service


class RewardInput(TypedDict):
    """What EasyR1 says of a sample."""

    response: str
    response_length: int
    ground_truth: str


def loaded(path: str, **kwargs: Any) -> Any:
    """The function of ``worker.reward.reward_function = FILE:NAME``, with its arguments."""
    file, name = path.rsplit(":", maxsplit=1)
    spec = importlib.util.spec_from_file_location("custom_reward_fn", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (module.REWARD_NAME, module.REWARD_TYPE) == ("assay", "batch")
    return partial(getattr(module, name), **kwargs)


def inputs(*answers: str, gold: str = "4") -> list[RewardInput]:
    return [
        {"response": answer, "response_length": len(answer), "ground_truth": gold} for answer in answers
    ]


def sequential(function: Any, asked: list[RewardInput]) -> list[dict[str, Any]]:
    return [function(one) for one in asked]


def batch(function: Any, asked: list[RewardInput]) -> list[dict[str, Any]]:
    scores: list[dict[str, Any]] = function(asked)
    return scores


FORMS = pytest.mark.parametrize("form", [sequential, batch])
PATH = f"{adapter.__file__}:compute_score"


def made(**settings: Any) -> Any:
    settings = {"config": config(), "verifiers": [service], "max_fault_rate": 1.0, **settings}
    return loaded(PATH, **settings)


@FORMS
def test_the_rewards_are_those_of_the_engine(form: Any) -> None:
    answers = [RIGHT, WRONG, "So it is 4"]
    found = form(made(), inputs(*answers))
    scored = assay.Engine(config(), verifiers=[service]).score(completions=answers, references=["4"] * 3)
    assert [one["overall"] for one in found] == [one.reward for one in scored] == [1.0, 0.0, 1.0]
    assert [one["assay/reward/correct"] for one in found] == [1.0, 0.0, 1.0]
    assert "assay/reward/service" not in found[0], "it has no number, of which EasyR1 takes the mean"


@FORMS
def test_a_fault_is_an_error_or_the_floor(form: Any) -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        form(made(), inputs(RIGHT, BROKEN))
    floor = config(combine={"on_fault": "floor", "floor": -1.0})
    found = form(made(config=floor), inputs(RIGHT, BROKEN))
    assert [one["overall"] for one in found] == [1.0, -1.0]
    assert [one["assay/fault_rate"] for one in found] == [0.0, 1.0]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(assay.ConfigError, match="EasyR1 cannot leave a sample out"):
        made(on_fault="mask")(inputs(RIGHT))
    with pytest.raises(assay.ConfigError, match="one sample at a time"):
        made(on_fault="mean_of_group")(inputs(RIGHT))


@FORMS
def test_an_abstention_is_an_error_and_no_zero(form: Any) -> None:
    never = {"version": 1, "reward": [{"name": "right", "verifier": "math", "when": "false"}]}
    with pytest.raises(assay.Unscored, match="abstained"):
        form(made(config=never, verifiers=[]), inputs(RIGHT))


@FORMS
def test_too_many_faults_stop_the_training(form: Any) -> None:
    floor = config(combine={"on_fault": "floor", "floor": -1.0})
    with pytest.raises(assay.TooManyFaults, match="above max_fault_rate = 0.25"):
        form(made(config=floor, max_fault_rate=0.25), inputs(*[RIGHT, BROKEN] * 30))


def test_other_members_are_columns() -> None:
    only = {"name": "right", "verifier": "math", "when": "meta.response_length < 10"}
    extra = {"name": "gold", "verifier": "math"}
    known = {"version": 1, "reward": [only, extra], "data": {"reference": "gold"}}
    [found] = made(config=known, verifiers=[])([{**inputs("4", gold="5")[0], "gold": "4"}])
    assert (found["overall"], found["assay/reward/right"]) == (2.0, 1.0)


def test_the_environment(named: Path) -> None:
    assert loaded(PATH)(inputs(RIGHT)[0])["overall"] == 1.0
    assert loaded(PATH, config=str(named))(inputs(WRONG))[0]["overall"] == 0.0


def test_the_documented_lines() -> None:
    found = documented("easyr1.md")["compute_score"](inputs(RIGHT, WRONG))
    assert [one["overall"] for one in found] == [1.0, 0.0]

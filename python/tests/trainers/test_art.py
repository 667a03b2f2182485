"""The recipe for ART, with its trajectories and groups."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

import assay

art = pytest.importorskip("art")


@pytest.fixture(params=["documented", "faulty"])
def recipe(request: pytest.FixtureRequest) -> Any:
    """The recipe as it is written, and with a verifier that answers can break."""
    return broken() if request.param == "faulty" else documented("art.md")["judged"]


def broken(**changes: Any) -> Any:
    names = documented("art.md")
    names["engine"] = assay.Engine(config(**changes), verifiers=[service])
    return names["judged"]


async def rollout(answer: str, reference: str | None) -> Any:
    messages = [{"role": "user", "content": "2 + 2 = ?"}, {"role": "assistant", "content": answer}]
    return art.Trajectory(messages_and_choices=messages, metadata={"answer": reference})


def gathered(judged: Any, answers: list[str], reference: str | None = "4") -> Any:
    async def gather() -> Any:
        group = art.TrajectoryGroup(rollout(answer, reference) for answer in answers)
        return await art.gather_trajectory_groups([group], pbar_desc=None, after_each=judged)

    [group] = asyncio.run(gather())
    return group


def paid(group: Any) -> list[float]:
    """The rewards of :data:`RIGHT` and :data:`WRONG`, which come in any order."""
    found = {one.messages()[-1]["content"]: one.reward for one in group}
    return [found[RIGHT], found[WRONG]]


def test_rewards_are_those_of_the_engine() -> None:
    group = gathered(broken(reward=UNEVEN), [RIGHT, WRONG])
    assert paid(group) == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]


def test_the_recipe_as_it_is_written(recipe: Any) -> None:
    group = gathered(recipe, [RIGHT, WRONG])
    assert paid(group) == [1.0, 0.0]
    assert sorted(one.metrics["assay/reward/correct"] for one in group) == [0.0, 1.0]


def test_a_fault_is_an_exception_of_the_group_and_no_zero() -> None:
    group = gathered(broken(), [RIGHT, BROKEN, WRONG])
    assert sorted(one.reward for one in group) == [0.0, 1.0]
    assert "the service is down" in group.exceptions[0].message


def test_more_faults_than_rewards_end_the_run() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        gathered(broken(), [RIGHT, BROKEN, BROKEN])


def test_no_reference_ends_the_run(recipe: Any) -> None:
    with pytest.raises(assay.Unscored, match="abstained"):
        gathered(recipe, [RIGHT, WRONG], None)


def test_what_the_configuration_makes_of_a_fault() -> None:
    floor = {"on_fault": "floor", "floor": 0.5}
    group = gathered(broken(combine=floor), [RIGHT, BROKEN, WRONG])
    assert sorted(one.reward for one in group) == [0.0, 0.5, 1.0]
    with pytest.raises(assay.Unscored):
        gathered(broken(combine={"on_fault": "drop_group"}), [RIGHT, BROKEN, WRONG])

"""The grader of HUD, combined with its own and in a task of an environment."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

import assay
from assay.adapters import hud as adapter

hud = pytest.importorskip("hud")
graders = pytest.importorskip("hud.graders")
server = pytest.importorskip("hud.environment.server")


def made(**settings: Any) -> Any:
    settings = {"name": "correct", "verifiers": [service], "max_fault_rate": 1.0, **settings}
    return adapter.grader(settings.pop("config", config()), **settings)


def grade(answer: Any, grader: Any = None, **row: Any) -> Any:
    grader = grader or made()
    return asyncio.run(grader.grade(weight=0.5, answer=answer, **{"reference": "4", **row}))


def test_a_grade_has_the_reward_of_the_engine() -> None:
    grader = made(config=config(reward=UNEVEN))
    assert issubclass(grader, graders.Grader)
    right, wrong = grade(RIGHT, grader), grade(WRONG, grader)
    assert [right.value, wrong.value] == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]
    assert (right.name, right.weight) == ("correct", 0.5)
    assert right.info["assay/reward/correct"] == 1.0
    assert right.info["assay_outcome"] == "scored"
    assert right.info["_parameters"]["reference"] == "4"


def test_it_combines_with_other_graders() -> None:
    async def combined() -> Any:
        return await graders.combine(
            made().grade(weight=0.75, answer=RIGHT, reference="4"),
            graders.SubScore(name="short", value=0.0, weight=0.25),
        )

    result = asyncio.run(combined())
    assert result.reward == 0.75
    assert [score.name for score in result.subscores] == ["correct", "short"]


def test_a_fault_and_an_abstention_are_errors_and_no_zeros() -> None:
    with pytest.raises(assay.Unscored, match="the service is down; the run has no grade"):
        grade(BROKEN)
    with pytest.raises(assay.Unscored, match="abstained"):
        grade(RIGHT, reference=None)


def test_a_floor_is_paid_where_the_configuration_says_so() -> None:
    floored = made(config=config(combine={"on_fault": "floor", "floor": 0.25}))
    score = grade(BROKEN, floored)
    assert score.value == 0.25
    assert score.info["assay/fault_rate"] == 1.0


def test_too_many_faults_are_an_error() -> None:
    strict = made(max_fault_rate=0.25)
    with pytest.raises(assay.TooManyFaults, match="max_fault_rate = 0.25"):
        for _ in range(60):
            with pytest.raises(assay.Unscored):
                grade(BROKEN, strict)


def test_a_reward_that_hud_cannot_take_is_an_error() -> None:
    doubled = config(reward=[{"name": "a", "verifier": "math", "weight": 2.0}])
    with pytest.raises(ValueError, match="less than or equal to 1"):
        grade(RIGHT, made(config=doubled))


def test_keywords_are_columns() -> None:
    grader = made(config=config(data={"reference": "gold"}))
    assert grade(RIGHT, grader, reference="7", gold="4").value == 1.0


def task_of(grader: Any) -> Any:
    env = hud.Environment("sums")

    @env.template()  # type: ignore[untyped-decorator]
    async def sums(reference: str) -> Any:
        answer = yield "2 + 2 = ?"
        yield await graders.combine(grader.grade(weight=1.0, answer=answer, reference=reference))

    return env.tasks["sums"]


def run(task: Any, answer: str) -> Any:
    async def graded() -> Any:
        runner = server.TaskRunner(task, {"reference": "4"})
        assert (await runner.start())["prompt"] == "2 + 2 = ?"
        return await runner.grade({"answer": answer})

    return asyncio.run(graded())


def test_a_task_of_an_environment_is_graded() -> None:
    task = task_of(made())
    assert run(task, RIGHT)["score"] == 1.0
    frame = run(task, WRONG)
    assert frame["score"] == 0.0
    assert frame["subscores"][0]["info"]["assay/fault_rate"] == 0.0
    with pytest.raises(assay.Unscored, match="the service is down"):
        run(task, BROKEN)


def test_the_environment_names_the_configuration(named: Path) -> None:
    assert grade(RIGHT, adapter.Grader).value == 1.0


def test_the_documented_lines() -> None:
    task = documented("hud.md")["env"].tasks["sums"]
    assert run(task, RIGHT)["score"] == 1.0

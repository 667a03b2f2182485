"""Environments of the Tinker cookbook, in its own rollouts of groups."""

from __future__ import annotations

import asyncio
import functools
import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

import assay
from assay.adapters import tinker as adapter

tinker = pytest.importorskip("tinker")
completers = pytest.importorskip("tinker_cookbook.completers")
message_env = pytest.importorskip("tinker_cookbook.rl.message_env")
problem_env = pytest.importorskip("tinker_cookbook.rl.problem_env")
processing = pytest.importorskip("tinker_cookbook.rl.data_processing")
renderers = pytest.importorskip("tinker_cookbook.renderers.role_colon")
rollouts = pytest.importorskip("tinker_cookbook.rl.rollouts")
strategies = pytest.importorskip("tinker_cookbook.rl.rollout_strategy")

STOP = "\n\nUser:"
SETTINGS: dict[str, Any] = {"verifiers": [service], "max_fault_rate": 1.0}


class Letters:
    """A tokenizer with a token for each letter."""

    eos_token_id = 0
    bos_token = ""
    name_or_path = "letters"

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        return [ord(letter) for letter in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))


RENDERER = renderers.RoleColonRenderer(Letters())


class Answers(completers.TokenCompleter):  # type: ignore[name-defined,misc]
    """A policy that gives one answer after the other."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = iter(answers)

    async def __call__(self, model_input: Any, stop: Any, **options: Any) -> Any:
        tokens = Letters().encode(next(self._answers) + STOP)
        return completers.TokensWithLogprobs(tokens=tokens, maybe_logprobs=[0.0] * len(tokens))


class Problem(problem_env.ProblemEnv):  # type: ignore[name-defined,misc]
    def __init__(self, reference: str | None = "4") -> None:
        super().__init__(RENDERER)
        self.reference = reference

    def get_question(self) -> str:
        return "2 + 2 = ?"

    def get_reference_answer(self) -> Any:
        return self.reference

    def check_answer(self, sample_str: str) -> bool:
        raise AssertionError("the answer is judged by assay")

    def check_format(self, sample_str: str) -> bool:
        raise AssertionError("the form is judged by assay")


class Sums(adapter.Judged, Problem):
    config = config()
    settings = SETTINGS


class Group(adapter.JudgedGroup, problem_env.ProblemGroupBuilder):  # type: ignore[name-defined,misc]
    """A group that is judged as a whole."""


def rollout(kind: Any, answers: list[str], env: Any = Sums, **options: Any) -> Any:
    builder = kind(functools.partial(env), len(answers))
    return asyncio.run(rollouts.do_group_rollout(builder, Answers(answers), **options))


@pytest.mark.parametrize("kind", [Group, problem_env.ProblemGroupBuilder])
def test_rewards_are_those_of_the_engine(kind: Any) -> None:
    class Uneven(Sums):
        config = config(reward=UNEVEN)

    group = rollout(kind, [RIGHT, WRONG], Uneven)
    assert group.get_total_rewards() == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]
    metrics = (
        group.metrics_G
        if kind is Group
        else [one.transitions[0].metrics for one in group.trajectories_G]
    )
    assert [one["assay/reward/correct"] for one in metrics] == [1.0, 0.0]
    assert metrics[0]["assay/fault_rate"] == 0.0
    shown = ["correct" in one.transitions[0].metrics for one in group.trajectories_G]
    assert shown == [kind is not Group] * 2


def test_a_fault_in_a_group_has_no_advantage() -> None:
    group = rollout(Group, [RIGHT, BROKEN, WRONG])
    assert group.get_total_rewards() == [1.0, 0.5, 0.0]
    assert [one["assay/fault_rate"] for one in group.metrics_G] == [0.0, 1.0, 0.0]
    assert processing.compute_advantages([group])[0].tolist() == [0.5, 0.0, -0.5]


def test_a_group_without_any_reward_is_an_error() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        rollout(Group, [BROKEN, BROKEN])
    with pytest.raises(assay.Unscored, match="abstained"):
        rollout(Group, [RIGHT], functools.partial(Sums, None))


def test_a_fault_of_a_step_is_an_error_and_no_zero() -> None:
    builder = problem_env.ProblemGroupBuilder
    with pytest.raises(assay.Unscored, match="the service is down"):
        rollout(builder, [RIGHT, BROKEN])
    with pytest.raises(assay.Unscored, match="abstained"):
        rollout(builder, [RIGHT], functools.partial(Sums, None))
    tolerant = strategies.MinViableGroup(min_successful=2, max_retries=0)
    group = rollout(builder, [RIGHT, BROKEN, WRONG], strategy=tolerant)
    assert sorted(group.get_total_rewards()) == [0.0, 1.0]
    assert [error.error_type for error in group.rollout_errors] == ["Unscored"]


@pytest.mark.parametrize("kind", [Group, problem_env.ProblemGroupBuilder])
def test_too_many_faults_end_a_run_that_tolerates_errors(kind: Any) -> None:
    class Strict(Sums):
        settings = {**SETTINGS, "max_fault_rate": 0.25, "jobs": 1 + (kind is Group)}

    tolerant = strategies.MinViableGroup(min_successful=1, max_retries=0)
    with pytest.raises(SystemExit, match=r"above max_fault_rate = 0\.25"):
        for _ in range(60):
            rollout(kind, [RIGHT, BROKEN], Strict, strategy=tolerant)


def test_an_answer_is_checked_by_itself() -> None:
    assert Sums().check_answer(RIGHT) == 1.0
    assert Sums().check_answer(WRONG) == 0.0
    with pytest.raises(assay.Unscored, match="the service is down"):
        Sums().check_answer(BROKEN)


def test_members_of_the_row_are_columns() -> None:
    class Named(Sums):
        config = config(data={"reference": "gold"})
        row = {"gold": "4"}

    assert rollout(Group, [RIGHT], functools.partial(Named, "7")).get_total_rewards() == [1.0]


def test_a_builder_pickles() -> None:
    shipped = pickle.loads(pickle.dumps(Group(functools.partial(Sums), 2)))
    assert len(asyncio.run(shipped.make_envs())) == 2


class Talk(message_env.MessageEnv):  # type: ignore[name-defined,misc]
    """A question, a doubt, and an answer that is judged."""

    def __init__(self, reference: str | None = "4") -> None:
        self.said: list[Any] = [{"role": "user", "content": "2 + 2 = ?"}]
        self.reference = reference

    async def initial_observation(self) -> list[Any]:
        return self.said

    async def step(self, message: Any) -> Any:
        self.said.append(message)
        if len(self.said) == 2:
            self.said.append({"role": "user", "content": "Sure?"})
            return message_env.MessageStepResult(0.0, False, self.said)
        return await adapter.step_result(
            self.said, reference=self.reference, config=config(), **SETTINGS
        )


def talk(answers: list[str], **given: Any) -> Any:
    env = message_env.EnvFromMessageEnv(RENDERER, Talk(**given))
    return asyncio.run(rollouts.do_single_rollout(Answers(answers), env))


def test_the_last_answer_of_a_conversation_is_judged() -> None:
    for answers, reward in (([WRONG, RIGHT], 1.0), ([RIGHT, WRONG], 0.0)):
        first, last = talk(answers).transitions
        assert (first.reward, last.reward, last.episode_done) == (0.0, reward, True)
        assert last.metrics["assay/reward/correct"] == reward
    with pytest.raises(assay.Unscored, match="the service is down"):
        talk([RIGHT, BROKEN])
    with pytest.raises(assay.Unscored, match="abstained"):
        talk([RIGHT, RIGHT], reference=None)


def test_the_documented_lines() -> None:
    names = documented("tinker.md")
    builder = names["SumGroup"](functools.partial(names["SumEnv"], RENDERER, "2 + 2 = ?", "4"), 2)
    group = asyncio.run(rollouts.do_group_rollout(builder, Answers([RIGHT, WRONG])))
    assert group.get_total_rewards() == [1.0, 0.0]

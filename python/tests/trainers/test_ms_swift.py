"""The plugin under ms-swift's own loader, its call of reward functions and its advantages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import assay
import pytest
from assay.adapters import ms_swift as adapter
from faulty import BROKEN, RIGHT, WRONG, config, documented, service

pytest.importorskip("swift")

import torch
from swift.rewards import orms
from swift.rl_core.advantage import compute_advantages
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import score_completions
from swift.rlhf_trainers.utils import resolve_reward_funcs
from swift.utils.utils import import_external_file


def rollouts(*answers: str, prompt: str = "2 + 2 = ?", solution: str | None = "4") -> list[Any]:
    """Samples of one prompt, as a rollout of ms-swift leaves them."""
    question = {"role": "user", "content": prompt}
    return [
        GRPOSample(
            messages=[question, {"role": "assistant", "content": answer}],
            prompt_id=prompt,
            response_token_ids=[list(answer.encode())],
            images=[{"bytes": b"", "path": None}],
            extra={"solution": solution},
        )
        for answer in answers
    ]


def rewards(functions: list[Any], samples: list[Any]) -> torch.Tensor:
    scored: torch.Tensor = score_completions(
        samples, functions, [None] * len(functions), use_gym_env=False, device=torch.device("cpu")
    )
    return scored


def made(is_async: bool = False, **settings: Any) -> list[Any]:
    """The functions that ms-swift makes of ``--reward_funcs tested``."""
    settings = {"verifiers": [service], "max_fault_rate": 1.0, **settings}
    orms["tested"] = adapter.orm(config(), name="tested", is_async=is_async, **settings)
    functions, names = resolve_reward_funcs(["tested"], args=None)
    assert names == ["tested"]
    return functions


@pytest.mark.parametrize("is_async", [False, True])
def test_the_rewards_are_those_of_the_engine(is_async: bool) -> None:
    answers = [RIGHT, WRONG, "So it is 4"]
    found = rewards(made(is_async), rollouts(*answers))
    scored = assay.Engine(config(), verifiers=[service]).score(completions=answers, references=["4"] * 3)
    assert found[:, 0].tolist() == [one.reward for one in scored] == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_fault_has_no_advantage_and_nan_would_have_been_zero(is_async: bool) -> None:
    answers = (RIGHT, BROKEN, WRONG, RIGHT)
    found = rewards(made(is_async), rollouts(*answers))
    assert found[1, 0] == pytest.approx(2 / 3)
    advantages, _ = compute_advantages(found, torch.ones(1), num_generations=4)
    assert advantages[1] == pytest.approx(0.0, abs=1e-6)
    found[1, 0] = torch.nan
    advantages, _ = compute_advantages(found, torch.ones(1), num_generations=4)
    assert advantages[1] < -0.5


def test_two_prompts_are_two_groups() -> None:
    samples = [*rollouts(RIGHT, BROKEN), *rollouts(WRONG, BROKEN, prompt="1 + 3 = ?")]
    assert rewards(made(), samples)[:, 0].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_an_abstention_is_the_mean_and_no_zero() -> None:
    samples = [*rollouts(RIGHT), *rollouts(RIGHT, solution=None)]
    assert rewards(made(), samples)[:, 0].tolist() == [1.0, 1.0]


def test_rewards_of_groups() -> None:
    vote = {"version": 1, "reward": [{"name": "vote", "verifier": "majority_vote"}]}
    orms["vote"] = adapter.orm(vote)
    functions, _ = resolve_reward_funcs(["vote"], args=None)
    samples = [*rollouts(RIGHT, RIGHT, WRONG), *rollouts(WRONG, WRONG, RIGHT, prompt="2 + 3 = ?")]
    assert rewards(functions, samples)[:, 0].tolist() == [1.0, 1.0, 0.0, 1.0, 1.0, 0.0]


def test_errors_end_the_training() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        rewards(made(on_fault="raise"), rollouts(RIGHT, BROKEN))
    with pytest.raises(assay.TooManyFaults, match="above max_fault_rate = 0.25"):
        rewards(made(max_fault_rate=0.25), rollouts(*[RIGHT, BROKEN] * 30))
    with pytest.raises(assay.ConfigError, match="ms-swift cannot leave a sample out"):
        made(on_fault="mask")


def test_token_ids_and_the_step() -> None:
    long = {"kind": "overlong", "max": 10, "cache": 5}
    brief = {"name": "brief", "verifier": "regex", "config": {"pattern": "."}, "shape": [long]}
    combine = {"how": "expression", "expression": "brief * step"}
    known = {"version": 1, "reward": [brief], "data": {"token_ids": "ids"}, "combine": combine}

    class State:
        global_step = 3

    samples = rollouts("four", "eleven bytes")
    found = score_completions(
        samples, [adapter.orm(known)()], [None], False, torch.device("cpu"), trainer_state=State()
    )
    assert found[:, 0].tolist() == [3.0, 0.0]


def test_the_file_of_the_module_is_a_plugin(named: Path) -> None:
    import_external_file(adapter.__file__)
    functions, names = resolve_reward_funcs(["assay", "assay_async"], args=None)
    assert names == ["assay", "assay_async"]
    assert rewards(functions, rollouts(RIGHT, WRONG)).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_the_documented_lines() -> None:
    documented("ms-swift.md")
    functions, _ = resolve_reward_funcs(["correct"], args=None)
    assert rewards(functions, rollouts(RIGHT, WRONG))[:, 0].tolist() == [1.0, 0.0]

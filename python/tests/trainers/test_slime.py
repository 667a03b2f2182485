"""The reward function of slime, called by a client of its protocol: slime is not on PyPI."""

from __future__ import annotations

import asyncio
import importlib
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, WRONG, config, documented, service

import assay
from assay.adapters import slime as adapter


@dataclass
class Sample:
    """What slime gives a reward function."""

    response: str
    prompt: Any = "2 + 2 = ?"
    label: str | None = "4"
    group_index: int | None = 0
    reward: Any = None
    remove_sample: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)


def arguments(**given: Any) -> SimpleNamespace:
    return SimpleNamespace(**{"custom_rm_path": None, "reward_key": None, "group_rm": False, **given})


async def rollout(rm: Any, args: SimpleNamespace, groups: list[list[Sample]]) -> list[list[Any]]:
    """Rewards as slime asks for them: of a group at once, or of each sample on its own."""

    async def group(samples: list[Sample]) -> list[Any]:
        if args.group_rm:
            rewards = await rm(args, samples)
        else:
            rewards = await asyncio.gather(*(rm(args, sample) for sample in samples))
        for sample, reward in zip(samples, rewards, strict=True):
            sample.reward = reward if args.reward_key is None else reward[args.reward_key]
        return [sample.reward for sample in samples]

    return list(await asyncio.gather(*(group(samples) for samples in groups)))


def run(rm: Any, groups: list[list[Sample]], **args: Any) -> list[list[Any]]:
    return asyncio.run(rollout(rm, arguments(**args), groups))


def made(**settings: Any) -> Any:
    return adapter.reward_function(
        config(), **{"verifiers": [service], "max_fault_rate": 1.0, **settings}
    )


@pytest.mark.parametrize("group_rm", [False, True])
def test_single_samples_and_groups(group_rm: bool) -> None:
    groups = [[Sample(RIGHT), Sample(WRONG)], [Sample(RIGHT, label="5"), Sample(WRONG, label="5")]]
    assert run(made(), groups, group_rm=group_rm) == [[1.0, 0.0], [0.0, 1.0]]


def test_it_is_a_plain_coroutine_function() -> None:
    assert asyncio.iscoroutinefunction(adapter.custom_rm)
    assert asyncio.iscoroutinefunction(made())


def test_a_fault_gets_the_mean_of_its_group_and_no_loss() -> None:
    group = [Sample(RIGHT), Sample(BROKEN), Sample(WRONG)]
    assert run(made(), [group], group_rm=True) == [[1.0, 0.5, 0.0]]
    assert [sample.remove_sample for sample in group] == [False, True, False]
    assert "the service is down" in group[1].metadata["assay_outcome"]
    assert adapter.metrics(group)["assay/fault_rate"] == pytest.approx(1 / 3)


def test_samples_of_two_prompts_in_one_list_are_two_groups() -> None:
    samples = [Sample(RIGHT), Sample(BROKEN), Sample(WRONG, prompt="1 + 3 = ?", group_index=1)]
    assert run(made(), [samples], group_rm=True) == [[1.0, 1.0, 0.0]]


def test_a_single_fault_is_an_error_and_no_zero() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        run(made(), [[Sample(BROKEN)]])


def test_too_many_faults_stop_the_rollout() -> None:
    groups = [[Sample(RIGHT), Sample(BROKEN)] for _ in range(30)]
    with pytest.raises(assay.TooManyFaults, match="above max_fault_rate = 0.25"):
        run(made(max_fault_rate=0.25), groups, group_rm=True)


def test_a_reward_key_gets_the_metrics_too() -> None:
    [reward] = asyncio.run(made()(arguments(reward_key="score"), [Sample(RIGHT)]))
    assert reward["score"] == 1.0
    assert reward["assay/reward/correct"] == 1.0
    assert reward["assay/fault_rate"] == 0.0


def test_metadata_are_columns() -> None:
    rm = adapter.reward_function(config(data={"reference": "gold"}), verifiers=[service])
    assert run(rm, [[Sample(RIGHT, label="7", metadata={"gold": "4"})]]) == [[1.0]]
    assert asyncio.run(rm(arguments(), [])) == []


def test_the_path_of_slime_and_the_environment(named: Path) -> None:
    module, _, name = "assay.adapters.slime.custom_rm".rpartition(".")
    rm = getattr(importlib.import_module(module), name)
    assert run(rm, [[Sample(RIGHT), Sample(WRONG)]]) == [[1.0, 0.0]]
    assert run(rm, [[Sample(RIGHT), Sample(WRONG)]], group_rm=True) == [[1.0, 0.0]]


@dataclass
class RewardSpec:
    """What a sample of miles says of its own reward."""

    custom_rm_path: str | None = None


@dataclass
class MilesSample(Sample):
    """What miles gives a reward function."""

    reward_spec: RewardSpec | None = None


async def miles_rm(args: SimpleNamespace, sample: MilesSample, **options: Any) -> Any:
    """How miles chooses the function of a sample: its own, or that of the run."""
    own = sample.reward_spec.custom_rm_path if sample.reward_spec else None
    module, _, name = (own or args.custom_rm_path).rpartition(".")
    return await getattr(importlib.import_module(module), name)(args, sample, **options)


def test_a_sample_of_miles_names_the_function(named: Path) -> None:
    named = "assay.adapters.slime.custom_rm"
    group: list[Sample] = [
        MilesSample(RIGHT, reward_spec=RewardSpec(named)),
        MilesSample(WRONG, reward_spec=RewardSpec(named)),
        MilesSample(RIGHT, reward_spec=RewardSpec()),
    ]
    assert run(miles_rm, [group], custom_rm_path=named) == [[1.0, 0.0, 1.0]]
    assert group[1].metadata["assay"]["assay/reward/correct"] == 0.0
    with pytest.raises(assay.Unscored, match="abstained"):
        run(miles_rm, [[MilesSample(RIGHT, label=None, reward_spec=RewardSpec(named))]])


def test_the_documented_lines() -> None:
    assert run(documented("slime.md")["custom_rm"], [[Sample(RIGHT), Sample(WRONG)]]) == [[1.0, 0.0]]

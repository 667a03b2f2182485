"""Records of TRL's advantages: those of `GRPOTrainer`, `RLOOTrainer` and the asynchronous GRPO."""

from __future__ import annotations

import asyncio
import types
from typing import Any

from cases import MISSING, Case
from records import Output, Record, numbers, record
from trl import GRPOTrainer, RLOOTrainer
from trl.experimental.async_grpo.async_rollout_worker import RolloutGroup, _AsyncRolloutLoop
from trl_trainer import scored, trainer

METHOD = "_generate_and_score_completions"


def records(cases: list[Case]) -> list[Record]:
    """One record for each way to make advantages."""
    sums = {"aggregation": "sum_then_normalize", "eps": 1e-4, "singleton": "zero"}
    made = [
        _grpo(cases, f"trl grpo {scale}", {"kind": kind, "scale": scale, **sums}, scale_rewards=scale)
        for scale, kind in (("group", "grpo"), ("batch", "grpo"), ("none", "dr_grpo"))
    ]
    gdpo = {"kind": "gdpo", "eps": 1e-4, "whiten": "rollouts", "whiten_eps": 1e-4}
    made.append(_grpo(cases, "trl normalize_then_sum", gdpo, multi_objective_aggregation="normalize_then_sum"))
    rloo = {"kind": "rloo", "baseline": "leave_one_out", "singleton": "zero"}
    whiten = {"whiten": "rollouts", "whiten_eps": 1e-4}
    made.append(_rloo(cases, "trl rloo", rloo))
    made.append(_rloo(cases, "trl rloo normalized", {**rloo, **whiten}, normalize_advantages=True))
    penalty = {"kl_in_reward": 0.05, "clip": [-1.5, 2.0]}
    made.append(_rloo(cases, "trl rloo kl", {**rloo, **penalty}, beta=0.05, reward_clip_range=(-1.5, 2.0)))
    made.append(_async(cases))
    return made


def _grpo(cases: list[Case], name: str, ours: dict[str, Any], **settings: Any) -> Record:
    def run(case: Case) -> Output:
        even, places = evened(case)
        found = scored(trainer(GRPOTrainer, **settings), even, even["parts"], list(case["weights"].values()))
        return _placed(found["advantages"].tolist(), places)

    return record(name, f"trl.GRPOTrainer.{METHOD}", "advantages", ours, cases, run, MISSING)


def _rloo(cases: list[Case], name: str, ours: dict[str, Any], **settings: Any) -> Record:
    """RLOO knows no mask of tools: every token of a completion counts in the penalty."""

    def run(case: Case) -> Output:
        even, places = evened({key: value for key, value in case.items() if key != "mask"})
        found = scored(trainer(RLOOTrainer, **settings), even, even["parts"], list(case["weights"].values()))
        return _placed(found["advantages"].tolist(), places)

    return record(name, f"trl.RLOOTrainer.{METHOD}", "advantages", ours, cases, run, MISSING)


def _async(cases: list[Case]) -> Record:
    """The asynchronous trainer scores one group at a time, of any size, without weights."""

    def run(case: Case) -> Output:
        advantages = [0.0] * len(case["group"])
        for number in sorted(set(case["group"])):
            rows = [row for row, mine in enumerate(case["group"]) if mine == number]
            parts = {name: [values[row] for row in rows] for name, values in case["parts"].items()}
            for row, advantage in zip(rows, _score_group(parts, len(rows)), strict=True):
                advantages[row] = advantage
        return numbers(advantages)

    ours = {"kind": "grpo", "scale": "group", "std": "biased", "eps": 1e-8, "weights": "ones", "singleton": "zero"}
    name = "trl.experimental.async_grpo.async_rollout_worker._AsyncRolloutLoop._score_group"
    return record("trl async grpo", name, "advantages", ours, cases, run, MISSING)


def _score_group(parts: dict[str, list[float | None]], rows: int) -> list[float]:
    sequence = types.SimpleNamespace(input_ids=[1], completion_mask=[1], old_log_probs=[0.0])
    worker = types.SimpleNamespace(
        reward_funcs=[lambda values=values, **rest: values for values in parts.values()],
        reward_func_names=list(parts),
        _env_reward_types=[],
        _provides_rollout_reward=False,
    )
    group = RolloutGroup(
        prompts=[[]] * rows,
        reward_kwargs={},
        completions=[[]] * rows,
        completions_ids=[[1]] * rows,
        completions_sequences=[[sequence]] * rows,
        tool_call_counts=[0] * rows,
        tool_failure_counts=[0] * rows,
        model_version=0,
        group_id=0,
        env_rewards=[None] * rows,
        rollout_rewards=[None] * rows,
    )
    samples = asyncio.run(_AsyncRolloutLoop._score_group(worker, group))
    return [sample.advantage for sample in samples]


def evened(case: Case) -> tuple[Case, list[int]]:
    """A case with groups of one size, side by side, and where each row of the case went.

    Smaller groups are filled with rollouts that no function scores, which TRL leaves out.
    """
    groups = sorted(set(case["group"]))
    size = max(case["group"].count(number) for number in groups)
    order: list[int | None] = []
    for number in groups:
        rows: list[int | None] = [row for row, mine in enumerate(case["group"]) if mine == number]
        order += rows + [None] * (size - len(rows))
    fills: dict[str, Any] = {"lengths": 1, "mask": [1], "old": [-1.0], "reference": [-1.0]}
    even: Case = {
        key: [fill if row is None else case[key][row] for row in order] for key, fill in fills.items() if key in case
    }
    even["parts"] = {
        name: [None if row is None else values[row] for row in order] for name, values in case["parts"].items()
    }
    even["size"] = size
    return even, [order.index(row) for row in range(len(case["group"]))]


def _placed(values: list[float], places: list[int]) -> list[float | None]:
    return numbers(values[place] for place in places)

"""Records of OpenRLHF's advantages: `RemoteExperienceMaker.compute_advantages_and_returns`."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from cases import RAGGED, UNIFORM, Case
from openrlhf_library import (
    RemoteExperienceMaker,
    apply_overlong_penalty,
    apply_stop_properly_penalty,
    compute_approx_kl,
)
from records import Output, Record, number, numbers, padded, padded_mask, ragged, record

FUNCTION = "openrlhf.trainer.ppo_utils.experience_maker.RemoteExperienceMaker.compute_advantages_and_returns"
PENALTIES = "openrlhf.trainer.ppo_utils.length_penalty"
WHITEN = {"whiten": "tokens", "std": "biased", "variance_min": 1e-8}


@dataclass(frozen=True)
class Form:
    """An estimator in one of its forms."""

    name: str
    estimator: str
    ours: dict[str, Any]
    places: range = UNIFORM
    settings: dict[str, Any] = field(default_factory=dict)
    coefficient: float = 0.0
    estimate: str = "k1"
    tokens: bool = False


def records(cases: list[Case]) -> list[Record]:
    """One record for each estimator and form of it, and for each length penalty."""
    made = [_record(cases, form) for form in (*_groups(), *_batches())]
    made.append(_penalty(cases, "openrlhf overlong", "apply_overlong_penalty", _overlong))
    made.append(_penalty(cases, "openrlhf stop_properly scale", "apply_stop_properly_penalty", _stop(0.25)))
    made.append(_penalty(cases, "openrlhf stop_properly fixed", "apply_stop_properly_penalty", _stop(-0.5)))
    return made


def _groups() -> list[Form]:
    mean = {"baseline": "group_mean"}
    std = {"kind": "grpo", **mean, "scale": "group_std", "eps": 1e-9}
    base = {"kind": "reinforce_plus_plus_baseline", **mean}
    return [
        Form("openrlhf rloo", "rloo", {"kind": "rloo", "baseline": "leave_one_out"}),
        Form("openrlhf dr_grpo", "dr_grpo", {"kind": "dr_grpo", **mean}),
        Form("openrlhf group_norm", "group_norm", std),
        Form(
            "openrlhf group_norm clip",
            "group_norm",
            {**std, "clip_after": [-0.8, 0.9]},
            settings={"clip_range": (-0.8, 0.9)},
        ),
        Form(
            "openrlhf group_norm kl",
            "group_norm",
            {**std, "kl_in_reward": 0.05, "kl": "k1"},
            coefficient=0.05,
            tokens=True,
        ),
        Form("openrlhf reinforce_baseline", "reinforce_baseline", {**base, **WHITEN}),
        Form(
            "openrlhf reinforce_baseline without std",
            "reinforce_baseline",
            {**base, "whiten": "tokens", "scale": "none"},
            settings={"no_std_norm": True},
        ),
        Form(
            "openrlhf reinforce_baseline kl",
            "reinforce_baseline",
            {**base, **WHITEN, "kl_in_reward": 0.05, "kl": "k2"},
            coefficient=0.05,
            estimate="k2",
            tokens=True,
        ),
    ]


def _batches() -> list[Form]:
    """Estimators that take the batch as a whole, with one rollout for each prompt."""
    plain = {"kind": "reinforce_plus_plus", **WHITEN}
    gae = {"kind": "gae", **WHITEN, "gamma": 0.99, "lambda": 0.95, "kl_in_reward": 0.05, "kl": "k1", "masked": "zero"}
    return [
        Form("openrlhf reinforce", "reinforce", {**plain, "gamma": 1.0}, RAGGED),
        Form(
            "openrlhf reinforce kl gamma 0.9",
            "reinforce",
            {**plain, "gamma": 0.9, "kl_in_reward": 0.05, "kl": "k1", "discount_masked": True},
            RAGGED,
            {"gamma": 0.9},
            0.05,
            tokens=True,
        ),
        Form(
            "openrlhf reinforce k3",
            "reinforce",
            {**plain, "gamma": 1.0, "kl_in_reward": 0.1, "kl": "k3"},
            RAGGED,
            coefficient=0.1,
            estimate="k3",
            tokens=True,
        ),
        Form("openrlhf flash_reinforce", "flash_reinforce", {"kind": "reinforce", "baseline": "batch_mean"}, RAGGED),
        Form("openrlhf gae", "gae", gae, RAGGED, {"gamma": 0.99, "lambd": 0.95}, 0.05, tokens=True),
    ]


def _record(cases: list[Case], form: Form) -> Record:
    """A record with one advantage for each rollout or for each token, 0 where the mask is 0."""

    def run(case: Case) -> Output:
        advantages = _advantages(case, form)
        mask = padded_mask(case["mask"])
        if form.tokens:
            return ragged(advantages * mask, case["lengths"])
        rows = zip(advantages.tolist(), mask.argmax(dim=1).tolist(), mask.any(dim=1).tolist(), strict=True)
        return [number(row[first]) if valid else None for row, first, valid in rows]

    ours = {"rewards": "outcome", **form.ours}
    return record(form.name, FUNCTION, "advantages", ours, cases, run, form.places)


def _advantages(case: Case, form: Form) -> torch.Tensor:
    given: dict[str, Any] = {"gamma": 1.0, "lambd": 1.0, "no_std_norm": False, "clip_range": (-10, 10)} | form.settings
    clip = given.pop("clip_range")
    members = case["group"].count(case["group"][0]) if form.places is UNIFORM else 1
    args = types.SimpleNamespace(
        algo=types.SimpleNamespace(advantage=types.SimpleNamespace(estimator=form.estimator, **given)),
        reward=types.SimpleNamespace(clip_range=clip),
        rollout=types.SimpleNamespace(n_samples_per_prompt=members),
    )
    maker: Any = types.SimpleNamespace(
        strategy=types.SimpleNamespace(args=args),
        kl_ctl=types.SimpleNamespace(value=form.coefficient),
        advantage_estimator=form.estimator,
        get_advantages_and_returns=lambda *rest: RemoteExperienceMaker.get_advantages_and_returns(maker, *rest),
        get_cumulative_returns=lambda *rest: RemoteExperienceMaker.get_cumulative_returns(maker, *rest),
    )
    divergence = compute_approx_kl(padded(case["old"]), padded(case["reference"]), kl_estimator=form.estimate)
    experience = types.SimpleNamespace(
        rewards=torch.tensor(case["rewards"]),
        index=list(range(len(case["rewards"]))),
        kl=divergence * padded_mask([[1] * length for length in case["lengths"]]),
        action_mask=padded_mask(case["mask"]),
        values=padded(case["values"], 0.0),
        info={},
    )
    made = RemoteExperienceMaker.compute_advantages_and_returns(maker, [experience])
    return made[0].advantages


def _penalty(cases: list[Case], name: str, function: str, apply: Callable[[Any], dict[str, Any]]) -> Record:
    """The rewards after a length penalty."""
    ours: dict[str, Any] = {}

    def run(case: Case) -> Output:
        experience = types.SimpleNamespace(
            rewards=torch.tensor(case["rewards"]),
            response_length=torch.tensor(case["lengths"]),
            truncated=torch.tensor([length >= 5 for length in case["lengths"]]),
        )
        ours.update(apply(experience))
        return numbers(experience.rewards.tolist())

    return record(name, f"{PENALTIES}.{function}", "shaping", ours, cases, run, RAGGED)


def _overlong(experience: Any) -> dict[str, Any]:
    apply_overlong_penalty([experience], 6, 4, 0.5)
    return {"kind": "overlong", "max_length": 6, "buffer": 4, "factor": 0.5, "floor": True}


def _stop(coefficient: float) -> Callable[[Any], dict[str, Any]]:
    def apply(experience: Any) -> dict[str, Any]:
        apply_stop_properly_penalty([experience], coefficient)
        return {"kind": "stop_properly", "coefficient": coefficient, "truncated_from": 5}

    return apply

"""Records of verl's advantage estimators (`verl.trainer.ppo.core_algos`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import verl.trainer.ppo.core_algos as core
from cases import RAGGED, UNIFORM, Case, last_valid
from records import Output, Record, number, padded, padded_mask, ragged, record
from verl.trainer.config import AlgoConfig

MODULE = "verl.trainer.ppo.core_algos"
Estimate = Callable[[Case, dict[str, Any]], torch.Tensor]


def records(cases: list[Case]) -> list[Record]:
    """One record for each estimator and form of it."""
    made = [_outcome(cases, *row) for row in _outcomes()]
    made += [_token(cases, *row) for row in _tokens()]
    made.append(_gdpo(cases, "verl gdpo", None))
    made.append(_gdpo(cases, "verl gdpo weights", "weights"))
    return made


def _outcomes() -> list[tuple[str, str, dict[str, Any], dict[str, Any], range]]:
    """Name, estimator, our words, its own arguments, cases."""
    plain = AlgoConfig(norm_adv_by_std_in_grpo=False)
    group, leave_out = {"baseline": "group_mean"}, {"baseline": "leave_one_out"}
    std = {"scale": "group_std", "eps": 1e-6, "singleton": "raw"}
    whiten = {"whiten": "tokens", "whiten_eps": 1e-8}
    return [
        ("verl grpo", "grpo", {"kind": "grpo", **group, **std}, {}, RAGGED),
        ("verl grpo uniform", "grpo", {"kind": "grpo", **group, **std}, {}, UNIFORM),
        (
            "verl grpo without std",
            "grpo",
            {"kind": "dr_grpo", **group, "scale": "none", "singleton": "raw"},
            {"norm_adv_by_std_in_grpo": False},
            RAGGED,
        ),
        ("verl grpo vectorized", "grpo_vectorized", {"kind": "grpo", **group, **std}, {}, RAGGED),
        ("verl rloo", "rloo", {"kind": "rloo", **leave_out, "singleton": "raw"}, {}, RAGGED),
        ("verl rloo vectorized", "rloo_vectorized", {"kind": "rloo", **leave_out, "singleton": "zero"}, {}, RAGGED),
        ("verl opo", "opo", {"kind": "opo", "baseline": "length_weighted", "singleton": "raw"}, {}, RAGGED),
        ("verl gpg", "gpg", {"kind": "gpg", **group, "scale": "nonzero_share", "singleton": "raw"}, {}, RAGGED),
        ("verl grpo_passk", "grpo_passk", {"kind": "pass_at_k", "scale": "group_std", "eps": 1e-6}, {}, UNIFORM),
        (
            "verl grpo_passk without std",
            "grpo_passk",
            {"kind": "pass_at_k", "scale": "none"},
            {"config": plain},
            UNIFORM,
        ),
        (
            "verl reinforce_plus_plus_baseline",
            "reinforce_plus_plus_baseline",
            {"kind": "reinforce_plus_plus_baseline", **group, "singleton": "raw", **whiten},
            {},
            RAGGED,
        ),
    ]


def _tokens() -> list[tuple[str, str, dict[str, Any], dict[str, Any], str, range]]:
    """Name, estimator, our words, its own arguments, what the rewards of the tokens are, cases."""
    kind = "reinforce_plus_plus"
    whiten = {"whiten": "tokens", "whiten_eps": 1e-8}
    sharp = {"kind": kind, "gamma": 0.9, **whiten}
    return [
        ("verl reinforce_plus_plus", kind, {"kind": kind, "gamma": 1.0, **whiten}, {}, "outcome", RAGGED),
        ("verl reinforce_plus_plus tokens", kind, {"kind": kind, "gamma": 1.0, **whiten}, {}, "tokens", RAGGED),
        (
            "verl reinforce_plus_plus gamma 0.9",
            kind,
            sharp,
            {"config": AlgoConfig(gamma=0.9)},
            "tokens",
            RAGGED,
        ),
        ("verl remax", "remax", {"kind": "remax", "baseline": "baselines"}, {}, "outcome", RAGGED),
        ("verl remax tokens", "remax", {"kind": "remax", "baseline": "baselines"}, {}, "tokens", RAGGED),
        ("verl gae", "gae", {"kind": "gae", "gamma": 1.0, "lambda": 1.0, **whiten}, {}, "tokens", RAGGED),
        (
            "verl gae gamma 0.99 lambda 0.95",
            "gae",
            {"kind": "gae", "gamma": 0.99, "lambda": 0.95, **whiten},
            {"gamma": 0.99, "lam": 0.95},
            "tokens",
            RAGGED,
        ),
        (
            "verl optimal_token_baseline",
            "optimal_token_baseline",
            {"kind": "optimal_token_baseline", "eps": 1e-8, "zero_tail": True},
            {},
            "tokens",
            RAGGED,
        ),
        (
            "verl tir_optimal_token_baseline",
            "tir_optimal_token_baseline",
            {"kind": "optimal_token_baseline", "eps": 1e-8, "zero_tail": True, "compact": True},
            {},
            "tokens",
            RAGGED,
        ),
    ]


def _outcome(
    cases: list[Case], name: str, estimator: str, ours: dict[str, Any], extra: dict[str, Any], places: range
) -> Record:
    """A record with one advantage for each rollout; nothing for a rollout without a valid token."""

    def run(case: Case) -> Output:
        found = _estimate(case, estimator, _outcome_rewards(case), extra)
        mask = padded_mask(case["mask"])
        firsts = mask.argmax(dim=1).tolist()
        return [
            number(row[first]) if valid else None
            for row, first, valid in zip(found.tolist(), firsts, mask.any(dim=1).tolist(), strict=True)
        ]

    return record(name, _function(estimator), "advantages", ours, cases, run, places)


def _token(
    cases: list[Case],
    name: str,
    estimator: str,
    ours: dict[str, Any],
    extra: dict[str, Any],
    rewards: str,
    places: range,
) -> Record:
    """A record with one advantage for each token, 0 where the mask is 0."""

    def run(case: Case) -> Output:
        given = _outcome_rewards(case) if rewards == "outcome" else padded(case["token_rewards"], 0.0)
        found = _estimate(case, estimator, given, extra) * padded_mask(case["mask"])
        return ragged(found, case["lengths"])

    return record(name, _function(estimator), "advantages", {**ours, "rewards": rewards}, cases, run, places)


def _gdpo(cases: list[Case], name: str, weights: str | None) -> Record:
    def run(case: Case) -> Output:
        mask = padded_mask(case["mask"])
        keys = sorted(case["parts"])
        config = AlgoConfig(
            gdpo_reward_keys=keys,
            gdpo_reward_weights=None if weights is None else [case[weights][key] for key in keys],
        )
        attention = padded_mask([[1] * length for length in case["lengths"]])
        batch = {"prompts": torch.ones(len(mask), 1), "attention_mask": torch.cat([attention[:, :1], attention], 1)}
        found, _ = core.compute_gdpo_outcome_advantage(
            token_level_rewards=_outcome_rewards(case),
            response_mask=mask,
            index=np.array(case["group"], dtype=object),
            config=config,
            non_tensor_batch={key: np.array(case["parts"][key]) for key in keys},
            batch=batch,
        )
        return ragged(found, case["lengths"])

    ours = {
        "kind": "gdpo",
        "eps": 1e-6,
        "singleton": "raw",
        "whiten": "tokens",
        "whiten_eps": 1e-8,
        "weights": "ones" if weights is None else "case",
    }
    return record(name, _function("gdpo"), "advantages", ours, cases, run, RAGGED)


def _estimate(case: Case, estimator: str, rewards: torch.Tensor, extra: dict[str, Any]) -> torch.Tensor:
    """Calls an estimator with what it takes of everything there is."""
    given: dict[str, Any] = {"token_level_rewards": rewards, "response_mask": padded_mask(case["mask"])}
    if estimator == "gae":
        given |= {"values": padded(case["values"], 0.0), "gamma": 1.0, "lam": 1.0}
    else:
        given |= {"index": np.array(case["group"], dtype=object), "config": AlgoConfig()}
    if estimator == "remax":
        given["reward_baselines"] = torch.tensor(case["baselines"], dtype=torch.float64)
    if estimator.endswith("optimal_token_baseline"):
        given |= {"old_log_probs": padded(case["old"]), "sum_pi_squared": padded(case["sum_pi_squared"], 0.0)}
    found, _ = core.get_adv_estimator_fn(estimator)(**given | extra)
    return found


def _outcome_rewards(case: Case) -> torch.Tensor:
    """The reward of a rollout on its last valid token."""
    rewards = torch.zeros(len(case["lengths"]), max(case["lengths"]), dtype=torch.float64)
    for place, (reward, mask) in enumerate(zip(case["rewards"], case["mask"], strict=True)):
        rewards[place, last_valid(mask)] = reward
    return rewards


def _function(estimator: str) -> str:
    return f"{MODULE}.{core.get_adv_estimator_fn(estimator).__name__}"

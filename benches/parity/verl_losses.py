"""Records of verl's policy losses (`verl.trainer.ppo.core_algos`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
import verl.trainer.ppo.core_algos as core
from cases import Case
from records import Record, Tensors, loss_record, steady
from verl.trainer.config.algorithm import RolloutCorrectionConfig
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights
from verl.workers.config import FSDPActorConfig, PolicyLossConfig

MODULE = "verl.trainer.ppo.core_algos"
AGGREGATIONS = {
    "token-mean": "token_mean",
    "token-sum": "token_sum",
    "seq-mean-token-sum": "sequence_mean_token_sum",
    "seq-mean-token-sum-norm": "sequence_mean_token_sum_norm",
    "seq-mean-token-mean": "sequence_mean_token_mean",
}
"""verl's names of the aggregations, and ours."""
CLIP = {"clip_low": 0.2, "clip_high": 0.28}
MEAN = "seq-mean-token-mean"


@dataclass(frozen=True)
class Form:
    """A loss in one of its forms."""

    name: str
    loss: str
    ours: dict[str, Any]
    mode: str = "token-mean"
    actor: dict[str, Any] = field(default_factory=dict)
    policy: dict[str, Any] = field(default_factory=dict)
    weights: tuple[str, float | str] | None = None
    """Level and threshold of the weights for the mismatch with the rollout engine."""
    advantages: str = "advantages"


def records(cases: list[Case]) -> list[Record]:
    """One record for each loss and form of it."""
    return [_record(cases, form) for form in (*_ratio_losses(), *_sequence_losses(), *_selecting(), *_others())]


def _ratio_losses() -> list[Form]:
    clip = {"kind": "clip", **CLIP, "dual_clip": 3.0, "log_ratio_clamp": 20.0}
    wide = {"clip_ratio_low": 0.4, "clip_ratio_high": 0.5, "clip_ratio_c": 1.6}
    ours_wide = {**clip, "clip_low": 0.4, "clip_high": 0.5, "dual_clip": 1.6}
    weights = {"correction": {"kind": "truncate", "level": "token", "max": 2.0, "ratio": "old/rollout"}}
    cispo = {"kind": "cispo", "log_ratio_clamp": 20.0}
    sapo = {"kind": "sapo", "log_ratio_clamp": 20.0}
    return [
        *(Form(f"verl vanilla {mode}", "vanilla", clip, mode) for mode in AGGREGATIONS),
        Form("verl vanilla wide", "vanilla", ours_wide, actor=wide),
        Form("verl vanilla token advantages", "vanilla", clip, advantages="token_advantages"),
        Form("verl vanilla token weights", "vanilla", {**clip, **weights}, weights=("token", 2.0)),
        Form("verl cispo", "cispo", {**cispo, **CLIP}),
        Form(
            "verl cispo minimax",
            "cispo",
            {**cispo, "clip_low": 1.0, "clip_high": 4.0},
            actor={"clip_ratio_low": 1.0, "clip_ratio_high": 4.0},
        ),
        Form("verl sapo", "sapo", {**sapo, "tau_positive": 1.0, "tau_negative": 1.05}, MEAN),
        Form(
            "verl sapo sharp",
            "sapo",
            {**sapo, "tau_positive": 2.0, "tau_negative": 5.0},
            MEAN,
            {"tau_pos": 2.0, "tau_neg": 5.0},
        ),
    ]


def _sequence_losses() -> list[Form]:
    gspo = {"kind": "gspo", "form": "token", "log_ratio_max": 10.0}
    narrow = {"clip_low": 3e-4, "clip_high": 4e-4}
    ranges = {"clip_ratio_low": 3e-4, "clip_ratio_high": 4e-4}
    gmpo = {"kind": "gmpo", "aggregation": "sequence_mean", "length_eps": 1e-8}
    return [
        Form("verl gspo", "gspo", {**gspo, **CLIP}, MEAN),
        Form("verl gspo narrow", "gspo", {**gspo, **narrow}, MEAN, ranges),
        Form("verl gspo token-mean", "gspo", {**gspo, **CLIP}),
        Form("verl gspo token advantages", "gspo", {**gspo, **CLIP}, MEAN, advantages="token_advantages"),
        Form("verl geo_mean", "geo_mean", {**gmpo, "clip_low": 0.2, "clip_high": 0.28}),
        Form(
            "verl geo_mean wide",
            "geo_mean",
            {**gmpo, "clip_low": 0.4, "clip_high": 0.4},
            actor={"clip_ratio_low": 0.4, "clip_ratio_high": 0.4},
        ),
        Form(
            "verl geo_mean token weights",
            "geo_mean",
            {**gmpo, **CLIP, "correction": {"kind": "truncate", "level": "token", "max": 2.0, "ratio": "old/rollout"}},
            weights=("token", 2.0),
        ),
    ]


def _selecting() -> list[Form]:
    """Losses that choose tokens by a covariance."""
    low = {"kind": "clip_cov", **CLIP}
    keep = {"kind": "kl_cov"}
    return [
        Form(
            "verl clip_cov every candidate",
            "clip_cov",
            {**low, "share": 1.0, "bounds": [0.1, 5.0]},
            policy={"clip_cov_ratio": 1.0, "clip_cov_lb": 0.1, "clip_cov_ub": 5.0},
            advantages="token_advantages",
        ),
        Form(
            "verl clip_cov",
            "clip_cov",
            {**low, "share": 2e-4, "bounds": [1.0, 5.0]},
            advantages="token_advantages",
        ),
        Form("verl kl_cov", "kl_cov", {**keep, "share": 2e-4, "coefficient": 0.1}, advantages="token_advantages"),
        Form(
            "verl kl_cov large",
            "kl_cov",
            {**keep, "share": 0.4, "coefficient": 1.0},
            policy={"kl_cov_ratio": 0.4, "ppo_kl_coef": 1.0},
            advantages="token_advantages",
        ),
    ]


def _others() -> list[Form]:
    weights = {"kind": "truncate", "level": "sequence", "max": 2.0, "ratio": "old/rollout"}
    dppo = {"kind": "dppo", "log_ratio_clamp": 20.0}
    tight = {"clip_ratio_low": 0.1, "clip_ratio_high": 0.15}
    thin = {"clip_ratio_low": 0.02, "clip_ratio_high": 0.05}
    bypass = {"ratio": "logp/rollout", "level": "token"}
    return [
        Form("verl gpg loss", "gpg", {"kind": "reinforce"}),
        Form("verl gpg loss token-sum", "gpg", {"kind": "reinforce"}, "seq-mean-token-sum"),
        Form(
            "verl gpg loss sequence weights",
            "gpg",
            {"kind": "reinforce", "correction": weights},
            weights=("sequence", 2.0),
        ),
        Form("verl dro", "dro", {"kind": "dro", "beta": 0.5}, policy={"dro_beta": 0.5}),
        Form(
            "verl dppo_tv",
            "dppo_tv",
            {**dppo, "divergence": "total_variation", "threshold_low": 0.1, "threshold_high": 0.15, "ratio_max": 3.0},
            actor=tight,
        ),
        Form(
            "verl dppo_tv cap 20",
            "dppo_tv",
            {**dppo, "divergence": "total_variation", "threshold_low": 0.1, "threshold_high": 0.15, "ratio_max": 20.0},
            actor={**tight, "clip_ratio_c": 20.0},
        ),
        Form(
            "verl dppo_kl",
            "dppo_kl",
            {**dppo, "divergence": "binary_kl", "threshold_low": 0.02, "threshold_high": 0.05, "ratio_max": 3.0},
            actor=thin,
        ),
        Form(
            "verl bypass ppo_clip",
            "bypass_mode",
            {
                "kind": "clip",
                **CLIP,
                "dual_clip": 3.0,
                "log_ratio_clamp": 20.0,
                "reject": {**bypass, "kind": "k1", "low": 0.1, "high": 10.0},
            },
            policy={"rollout_correction": _bypass("ppo_clip", "token", "token_k1", "0.1_10.0")},
        ),
        Form(
            "verl bypass reinforce",
            "bypass_mode",
            {
                "kind": "reinforce",
                "correction": {"kind": "truncate", "level": "sequence", "max": 2.0, "ratio": "logp/rollout"},
                "reject": {"kind": "k3", "level": "sequence_mean", "high": 6.0, "ratio": "logp/rollout"},
            },
            policy={"rollout_correction": _bypass("reinforce", "sequence", "seq_mean_k3", 6.0)},
        ),
    ]


def _bypass(loss: str, level: str, reject: str, threshold: float | str) -> RolloutCorrectionConfig:
    return RolloutCorrectionConfig(
        bypass_mode=True,
        loss_type=loss,
        rollout_is=level,
        rollout_is_threshold=2.0,
        rollout_rs=reject,
        rollout_rs_threshold=threshold,
    )


def _record(cases: list[Case], form: Form) -> Record:
    """A record of a registered loss. A form that draws at random keeps the cases where the draw is no matter."""
    function = core.get_policy_loss_fn(form.loss)
    config = _config(form)

    def run(tensors: Tensors) -> tuple[torch.Tensor, dict[str, float]]:
        value, metrics = function(
            old_log_prob=tensors.rollout if form.loss == "bypass_mode" else tensors.old,
            log_prob=tensors.logp,
            advantages=getattr(tensors, form.advantages),
            response_mask=tensors.mask,
            loss_agg_mode=form.mode,
            config=config,
            rollout_is_weights=None if form.weights is None else weights(tensors, *form.weights),
        )
        return value, {key: metric for key, metric in metrics.items() if key.startswith("actor/")}

    ours = {"aggregation": AGGREGATIONS[form.mode], "advantages": form.advantages} | form.ours
    made = loss_record(form.name, f"{MODULE}.{function.__name__}", ours, cases, run)
    return steady(made, lambda: loss_record(form.name, "", ours, cases, run)) if form.loss == "clip_cov" else made


def _config(form: Form) -> FSDPActorConfig:
    """The actor's configuration, with the clip range of DAPO where nothing else is said."""
    given = {"clip_ratio_low": CLIP["clip_low"], "clip_ratio_high": CLIP["clip_high"]} | form.actor
    policy = PolicyLossConfig(loss_mode=form.loss, **form.policy)
    return FSDPActorConfig(strategy="fsdp", rollout_n=4, ppo_micro_batch_size_per_gpu=8, policy_loss=policy, **given)


def weights(tensors: Tensors, level: str, threshold: float | str) -> torch.Tensor:
    """verl's weights for the mismatch between the old policy and the rollout engine."""
    found, _ = compute_rollout_correction_weights(tensors.old - tensors.rollout, tensors.mask, level, threshold)
    return found

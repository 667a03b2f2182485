"""Records of verl's policy losses (`verl.trainer.ppo.core_algos`)."""

from __future__ import annotations

from typing import Any

import torch
import verl.trainer.ppo.core_algos as core
from cases import Case
from records import Loss, Record, Tensors, loss_record
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


def records(cases: list[Case]) -> list[Record]:
    """One record for each loss and form of it."""
    made = [_clip(cases, mode) for mode in AGGREGATIONS]
    return made


def _clip(cases: list[Case], mode: str) -> Record:
    ours = {"kind": "clip", **CLIP, "dual_clip": 3.0, "log_ratio_clamp": 20.0}
    return _record(cases, f"verl vanilla {mode}", "vanilla", ours, {}, mode)


def _record(
    cases: list[Case], name: str, loss: str, ours: dict[str, Any], settings: dict[str, Any], mode: str = "token-mean"
) -> Record:
    """A record of a registered loss with the advantages of the rollouts."""
    function = core.get_policy_loss_fn(loss)
    words = {**ours, "aggregation": AGGREGATIONS[mode]}
    return loss_record(name, f"{MODULE}.{function.__name__}", words, cases, _loss(loss, mode, actor(**settings)))


def actor(**settings: Any) -> FSDPActorConfig:
    """The actor's configuration, with the clip range of DAPO where nothing else is said."""
    given = {"clip_ratio_low": CLIP["clip_low"], "clip_ratio_high": CLIP["clip_high"]} | settings
    return FSDPActorConfig(strategy="fsdp", rollout_n=4, ppo_micro_batch_size_per_gpu=8, **given)


def _loss(loss: str, mode: str, config: FSDPActorConfig) -> Loss:
    function = core.get_policy_loss_fn(loss)

    def run(tensors: Tensors) -> tuple[torch.Tensor, dict[str, float]]:
        value, metrics = function(
            old_log_prob=tensors.old,
            log_prob=tensors.logp,
            advantages=tensors.advantages,
            response_mask=tensors.mask,
            loss_agg_mode=mode,
            config=config,
        )
        return value, metrics

    return run

"""Records of verl's aggregations, KL estimates and corrections for the rollout engine."""

from __future__ import annotations

from typing import Any

import torch
import verl.trainer.ppo.core_algos as core
import verl.trainer.ppo.rollout_corr_helper as helper
from cases import Case
from records import Output, Record, Tensors, loss_record, number, ragged, record
from verl_losses import AGGREGATIONS, MODULE

HELPER = "verl.trainer.ppo.rollout_corr_helper"
ESTIMATES: dict[str, dict[str, Any]] = {
    "k1": {"estimator": "k1"},
    "abs": {"estimator": "abs"},
    "k2": {"estimator": "k2"},
    "k3": {"estimator": "k3", "log_ratio_clamp": 20.0, "value_clamp": 10.0},
    "k1+": {"estimator": "k1", "gradient": "k2"},
    "abs+": {"estimator": "abs", "gradient": "k2"},
    "k3+": {"estimator": "k3", "log_ratio_clamp": 20.0, "value_clamp": 10.0, "gradient": "k2"},
}
"""verl's names of the KL estimates, and ours."""
REJECTIONS: dict[str, float | str] = {
    "token_k1": "0.6_1.5",
    "token_k2": 0.1,
    "token_k3": 0.1,
    "seq_sum_k1": "0.6_1.5",
    "seq_sum_k2": 0.15,
    "seq_sum_k3": 0.15,
    "seq_mean_k1": 1.2,
    "seq_mean_k2": 0.07,
    "seq_mean_k3": 0.07,
    "seq_max_k2": 0.1,
    "seq_max_k3": 0.1,
    "token_k1,seq_mean_k3": "0.5_2.0,0.07",
}
"""verl's names of the rejections, and their thresholds."""


def records(cases: list[Case]) -> list[Record]:
    """Records of everything around a loss."""
    made = [_aggregation(cases, mode, {}) for mode in AGGREGATIONS]
    made.append(_aggregation(cases, "token-mean", {"batch_num_tokens": 37, "dp_size": 2}))
    made.append(_aggregation(cases, "seq-mean-token-mean", {"global_batch_size": 9, "dp_size": 2}))
    made.append(_aggregation(cases, "seq-mean-token-sum-norm", {"loss_scale_factor": 16}))
    made += [_estimate(cases, name) for name in ESTIMATES]
    for level in ("token", "sequence"):
        made.append(_weights(cases, level, 2.0, normalize=False))
        made.append(_weights(cases, level, 2.0, normalize=True))
        made.append(_weights(cases, level, "0.5_5.0", normalize=False))
    made += [_rejection(cases, kind, threshold) for kind, threshold in REJECTIONS.items()]
    made.append(_diagnostics(cases))
    return made


def _aggregation(cases: list[Case], mode: str, settings: dict[str, int]) -> Record:
    """The aggregation of the new log-probabilities themselves."""

    def run(tensors: Tensors) -> tuple[torch.Tensor, dict[str, float]]:
        return core.agg_loss(tensors.logp, tensors.mask, mode, **settings), {}

    name = " ".join(["verl", "agg_loss", mode, *(f"{key} {value}" for key, value in settings.items())])
    ours = {"aggregation": AGGREGATIONS[mode], "values": "logp", **settings}
    return {**loss_record(name, f"{MODULE}.agg_loss", ours, cases, run), "room": "aggregate"}


def _estimate(cases: list[Case], name: str) -> Record:
    """The estimate for each token, and the derivative of it in the new log-probability."""

    def run(case: Case) -> Output:
        tensors = Tensors(case)
        estimate = core.kl_penalty(tensors.logp, tensors.reference, name)
        return {"kl": ragged(estimate, tensors.lengths), "grad": tensors.gradient(estimate.sum())}

    return record(f"verl kl {name}", f"{MODULE}.kl_penalty", "kl", ESTIMATES[name], cases, run)


def _weights(cases: list[Case], level: str, threshold: float | str, *, normalize: bool) -> Record:
    def run(case: Case) -> Output:
        tensors = Tensors(case)
        found, metrics = helper.compute_rollout_correction_weights(
            tensors.old - tensors.rollout, tensors.mask, level, threshold, normalize
        )
        return {"weights": ragged(found, tensors.lengths), "metrics": _metrics(metrics)}

    ours: dict[str, Any] = {"level": level, "ratio": "old/rollout", "log_ratio_clamp": 20.0, "normalize": normalize}
    if isinstance(threshold, str):
        low, high = map(float, threshold.split("_"))
        ours |= {"kind": "mask", "min": low, "max": high}
    else:
        ours |= {"kind": "truncate", "max": threshold}
    name = f"verl {level} {ours['kind']} weights" + (" normalized" if normalize else "")
    return record(name, f"{HELPER}.compute_rollout_correction_weights", "correction", ours, cases, run)


def _rejection(cases: list[Case], kind: str, threshold: float | str) -> Record:
    """The mask that is left."""

    def run(case: Case) -> Output:
        tensors = Tensors(case)
        mask, metrics = helper.compute_rollout_rejection_mask(
            tensors.old - tensors.rollout, tensors.mask, kind, threshold
        )
        rows = zip(mask.tolist(), tensors.lengths, strict=True)
        kept = {"rollout_rs_masked_fraction", "rollout_rs_seq_masked_fraction"}
        return {
            "mask": [row[:length] for row, length in rows],
            "metrics": {key: value for key, value in _metrics(metrics).items() if key in kept},
        }

    ours = {"reject": kind, "threshold": threshold, "ratio": "old/rollout", "log_ratio_clamp": 20.0}
    name = f"verl rejection {kind}"
    return record(name, f"{HELPER}.compute_rollout_rejection_mask", "correction", ours, cases, run)


def _diagnostics(cases: list[Case]) -> Record:
    def run(case: Case) -> Output:
        tensors = Tensors(case)
        return {"metrics": _metrics(helper.compute_offpolicy_metrics(tensors.old, tensors.rollout, tensors.mask))}

    ours = {"new": "old", "old": "rollout"}
    name = "verl offpolicy metrics"
    return record(name, f"{HELPER}.compute_offpolicy_metrics", "diagnostics", ours, cases, run)


def _metrics(metrics: dict[str, float]) -> dict[str, float | None]:
    return {key: number(value) for key, value in metrics.items()}

"""Records of OpenRLHF's `PolicyLoss`, its KL estimates and its aggregations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from cases import Case
from openrlhf_library import PolicyLoss, aggregate_loss, compute_approx_kl
from records import Output, Record, Tensors, loss_record, ragged, record

LOSS = "openrlhf.models.loss"
CLIP = {"clip_low": 0.2, "clip_high": 0.28}
BAND = (0.5, 5.0)


@dataclass(frozen=True)
class Form:
    """A loss in one of its forms."""

    name: str
    ours: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=dict)
    advantages: str = "advantages"


def records(cases: list[Case]) -> list[Record]:
    """One record for each loss and form of it, for each KL estimate and for each aggregation."""
    made = [_record(cases, form) for form in (*_losses(), *_corrected())]
    made += [_estimate(cases, name, unbiased) for unbiased in (None, False, True) for name in ("k1", "k2", "k3")]
    made += [_aggregation(cases, level, given) for level in (True, False) for given in (False, True)]
    return made


def _losses() -> list[Form]:
    ppo = {"kind": "clip", **CLIP, "log_ratio_clamp": 20.0, "aggregation": "token_mean"}
    gspo = {"kind": "gspo", "form": "sequence", **CLIP, "aggregation": "sequence_mean_token_mean"}
    return [
        Form("openrlhf ppo", ppo),
        Form("openrlhf ppo token advantages", ppo, advantages="token_advantages"),
        Form(
            "openrlhf ppo seq-mean-token-mean",
            {**ppo, "aggregation": "sequence_mean_token_mean"},
            {"token_level_loss": False},
        ),
        Form("openrlhf ppo dual_clip", {**ppo, "dual_clip": 3.0}, {"dual_clip": 3.0}),
        Form("openrlhf gspo", gspo, {"policy_loss_type": "gspo"}),
        Form(
            "openrlhf gspo rollout",
            {**gspo, "ratio": "logp/rollout"},
            {"policy_loss_type": "gspo", "is_correction_level": "token"},
        ),
        Form(
            "openrlhf gspo dual_clip",
            {**gspo, "dual_clip": 1.5},
            {"policy_loss_type": "gspo", "dual_clip": 1.5},
        ),
    ]


def _corrected() -> list[Form]:
    """The clipped loss under each of the corrections for the rollout engine."""
    ppo = {"kind": "clip", **CLIP, "log_ratio_clamp": 20.0, "aggregation": "token_mean"}
    gates: list[tuple[str, str, str, tuple[float, float]]] = [
        ("token", "clip", "ratio", BAND),
        ("token", "mask", "ratio", BAND),
        ("token", "mask", "ratio", (0.8, 1.25)),
        ("seq", "mask", "ratio", BAND),
        ("seq", "mask", "ratio", (0.9, 1.1)),
        ("token", "mask", "binary_kl", (0.0, 0.02)),
        ("seq", "mask", "binary_kl", (0.0, 0.02)),
        ("token", "mask", "tv", (0.0, 0.05)),
        ("seq", "mask", "tv", (0.0, 0.05)),
    ]
    made = []
    for level, mode, gating, band in gates:
        correction = {
            "kind": "truncate" if mode == "clip" else "mask",
            "level": "token" if level == "token" else "sequence_mean",
            "statistic": gating,
            "min": band[0],
            "max": band[1],
            "ratio": "old/rollout",
        }
        settings = {
            "is_correction_level": level,
            "is_correction_mode": mode,
            "is_correction_gating": gating,
            "is_correction_threshold": list(band),
        }
        name = f"openrlhf ppo {level} {mode} {gating} {band[0]} {band[1]}"
        made.append(Form(name, {**ppo, "correction": correction}, settings))
    return made


def _record(cases: list[Case], form: Form) -> Record:
    loss = PolicyLoss(clip_eps_low=CLIP["clip_low"], clip_eps_high=CLIP["clip_high"], **form.settings)

    def run(tensors: Tensors) -> tuple[torch.Tensor, dict[str, float]]:
        value, clipped, divergence, engine, filtered = loss(
            tensors.logp,
            tensors.old,
            getattr(tensors, form.advantages),
            action_mask=tensors.mask,
            rollout_log_probs=tensors.rollout,
        )
        metrics = {"clip_ratio": clipped.item(), "ppo_kl": divergence.item()}
        if engine is not None:
            metrics |= {"vllm_kl": engine.item(), "is_filter_ratio": filtered.item()}
        return value, metrics

    ours = {"advantages": form.advantages, **form.ours}
    return loss_record(form.name, f"{LOSS}.PolicyLoss.forward", ours, cases, run)


def _estimate(cases: list[Case], name: str, unbiased: bool | None) -> Record:
    """The estimate for each token and its derivative; unbiased with the old policy's weight, without it, or not."""

    def run(case: Case) -> Output:
        tensors = Tensors(case)
        estimate = compute_approx_kl(
            tensors.logp,
            tensors.reference,
            log_probs_old=tensors.old if unbiased else None,
            kl_estimator=name,
            unbiased_gradient=unbiased is not None,
        )
        return {"kl": ragged(estimate, tensors.lengths), "grad": tensors.gradient(estimate.sum())}

    ours: dict[str, Any] = {"estimator": name, "value_clamp": 10.0}
    title = f"openrlhf kl {name}"
    if unbiased is not None:
        ours |= {"gradient": "k2", "ratio_max": 10.0} if unbiased else {"gradient": "k2"}
        title += " unbiased" if unbiased else " unbiased on-policy"
    return record(title, "openrlhf.models.utils.compute_approx_kl", "kl", ours, cases, run)


def _aggregation(cases: list[Case], tokens: bool, given: bool) -> Record:
    """The aggregation of the new log-probabilities themselves."""
    total: dict[str, Any] = {"dp_size": 2, "batch_num_tokens" if tokens else "global_batch_size": 11.0} if given else {}

    def run(tensors: Tensors) -> tuple[torch.Tensor, dict[str, float]]:
        return aggregate_loss(tensors.logp, tensors.mask, token_level_loss=tokens, **total), {}

    name = "openrlhf aggregate_loss " + ("tokens" if tokens else "sequences") + (" totals" if given else "")
    ours = {"aggregation": "token_mean" if tokens else "sequence_mean_token_mean", "values": "logp", **total}
    return {**loss_record(name, f"{LOSS}.aggregate_loss", ours, cases, run), "room": "aggregate"}

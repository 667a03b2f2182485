"""Records of TRL's losses: `GRPOTrainer._compute_loss`, and those of GMPO, RLOO and the asynchronous GRPO."""

from __future__ import annotations

import types
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import torch
from cases import Case
from records import Output, Record, Tensors, loss_record, ragged, record
from trl import GRPOTrainer, RLOOTrainer
from trl.experimental.async_grpo.async_grpo_trainer import AsyncGRPOTrainer
from trl.experimental.gmpo import GMPOTrainer
from trl_trainer import forward, inputs, scored, trainer

AGGREGATIONS = {
    "grpo": "sequence_mean_token_mean",
    "sapo": "sequence_mean_token_mean",
    "bnpo": "token_mean",
    "dapo": "token_mean",
    "cispo": "token_mean",
    "vespo": "token_mean",
    "dr_grpo": "token_sum_over_length",
    "luspo": "sequence_mean_token_sum",
}
"""TRL's loss types, and our names of their aggregations. All of them count the rows without a valid token."""
CLIP = {"clip_low": 0.2, "clip_high": 0.28}
RANGE = {"epsilon_low": 0.2, "epsilon_high": 0.28}
METRICS = ("clip_ratio/low_mean", "clip_ratio/high_mean", "clip_ratio/region_mean", "cispo_clip_ratio", "kl")
RATIOS = {
    "token_truncate": {"kind": "truncate", "level": "token"},
    "token_mask": {"kind": "mask", "level": "token"},
    "sequence_truncate": {"kind": "truncate", "level": "sequence"},
    "sequence_mask": {"kind": "mask", "level": "sequence"},
}
"""TRL's corrections for the rollout engine, and ours."""


@dataclass(frozen=True)
class Form:
    """A loss in one of its forms."""

    name: str
    ours: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=dict)
    correction: str | None = None
    kind: type = GRPOTrainer


def records(cases: list[Case]) -> list[Record]:
    """One record for each loss and form of it, and one for each correction."""
    forms = [*_types(), *_sequence(), *_around(), *_others()]
    made = [_record(cases, form) for form in forms]
    made.append(_asynchronous(cases))
    return made + [_ratio(cases, mode, limits) for mode in RATIOS for limits in ((None, 3.0), (0.5, 2.0))]


def _types() -> list[Form]:
    clip = {"kind": "clip", **CLIP}
    made = [_form(f"trl {loss}", loss, clip, RANGE) for loss in ("grpo", "bnpo", "dr_grpo", "dapo", "luspo")]
    made.append(_form("trl grpo delta", "grpo", {**clip, "ratio_max": 1.5}, {**RANGE, "delta": 1.5}))
    made.append(_form("trl dapo delta", "dapo", {**clip, "ratio_max": 4.0}, {**RANGE, "delta": 4.0}))
    cispo = {"kind": "cispo", "ratio_max": 5.0}
    made.append(_form("trl cispo", "cispo", cispo, {"epsilon_high": 5.0}))
    made.append(_form("trl cispo low", "cispo", {**cispo, "ratio_max": 1.5}, {"epsilon_high": 1.5}))
    sapo = {"kind": "sapo", "tau_positive": 1.0, "tau_negative": 1.05}
    made.append(_form("trl sapo", "sapo", sapo, {}))
    sharp = {"sapo_temperature_pos": 2.0, "sapo_temperature_neg": 5.0}
    made.append(_form("trl sapo sharp", "sapo", {**sapo, "tau_positive": 2.0, "tau_negative": 5.0}, sharp))
    vespo = {"kind": "vespo", "k_positive": 2.0, "lambda_positive": 3.0, "k_negative": 3.0, "lambda_negative": 2.0}
    made.append(_form("trl vespo", "vespo", vespo, {}))
    return made


def _sequence() -> list[Form]:
    """Losses with one ratio for each sequence."""
    level = {"importance_sampling_level": "sequence"}
    gspo = {"kind": "gspo", "form": "sequence"}
    narrow = {"epsilon_low": 3e-4, "epsilon_high": 4e-4}
    made = [
        _form(f"trl {loss} sequence", loss, {**gspo, **CLIP}, {**RANGE, **level})
        for loss in ("grpo", "dapo", "dr_grpo", "luspo")
    ]
    ours = {**gspo, "clip_low": 3e-4, "clip_high": 4e-4}
    made.append(_form("trl gspo", "grpo", ours, {**narrow, **level}))
    cispo = {"kind": "cispo", "level": "sequence", "ratio_max": 1.5}
    made.append(_form("trl cispo sequence", "cispo", cispo, {"epsilon_high": 1.5, **level}))
    sapo = {"kind": "sapo", "level": "sequence", "tau_positive": 1.0, "tau_negative": 1.05}
    made.append(_form("trl sapo sequence", "sapo", sapo, level))
    return made


def _around() -> list[Form]:
    """What may be added to a loss: KL, masks, corrections, entropy, accumulation."""
    clip = {"kind": "clip", **CLIP}
    kl = {"estimator": "k3", "coefficient": 0.1}
    level = {"importance_sampling_level": "sequence"}
    made = [
        _form("trl dapo kl", "dapo", {**clip, "kl": {**kl, "times_ratio": True}}, {**RANGE, "beta": 0.1}),
        _form(
            "trl dapo kl plain",
            "dapo",
            {**clip, "kl": {**kl, "times_ratio": False}},
            {**RANGE, "beta": 0.1, "use_bias_correction_kl": False},
        ),
        _form(
            "trl grpo sequence kl",
            "grpo",
            {"kind": "gspo", "form": "sequence", **CLIP, "kl": {**kl, "times_ratio": True}},
            {**RANGE, "beta": 0.1, **level},
        ),
        _form("trl dapo top entropy", "dapo", {**clip, "top_entropy": 0.4}, {**RANGE, "top_entropy_quantile": 0.4}),
        _form(
            "trl grpo off-policy mask",
            "grpo",
            {**clip, "off_policy_mask": {"threshold": 0.05, "ratio": "rollout/logp"}},
            {**RANGE, "off_policy_mask_threshold": 0.05},
        ),
        _form(
            "trl dapo entropy bonus",
            "dapo",
            {**clip, "entropy_coefficient": 0.01},
            {**RANGE, "_entropy_bonus_enabled": True, "entropy_coef": 0.01},
        ),
        _form(
            "trl grpo accumulation",
            "grpo",
            {**clip, "accumulation": 4},
            {**RANGE, "current_gradient_accumulation_steps": 4},
        ),
        _form(
            "trl dapo everything",
            "dapo",
            {
                **clip,
                "ratio_max": 2.5,
                "kl": {**kl, "times_ratio": True},
                "top_entropy": 0.6,
                "off_policy_mask": {"threshold": 0.1, "ratio": "rollout/logp"},
            },
            {**RANGE, "delta": 2.5, "beta": 0.1, "top_entropy_quantile": 0.6, "off_policy_mask_threshold": 0.1},
            "token_truncate",
        ),
    ]
    made += [_form(f"trl dapo {mode}", "dapo", clip, RANGE, mode) for mode in RATIOS]
    vespo = {"kind": "vespo", "k_positive": 2.0, "lambda_positive": 3.0, "k_negative": 3.0, "lambda_negative": 2.0}
    made.append(_form("trl vespo token_truncate", "vespo", vespo, {}, "token_truncate"))
    made.append(_form("trl vespo sequence_mask", "vespo", vespo, {}, "sequence_mask"))
    return made


def _others() -> list[Form]:
    """Losses of other trainers."""
    gmpo = {"kind": "gmpo", "clip_low": 0.4, "clip_high": 0.4, "aggregation": "sequence_mean"}
    wide = {"epsilon_low": 0.4, "epsilon_high": 0.4}
    kl = {"estimator": "k3", "coefficient": 0.1, "times_ratio": False}
    rloo = {"kind": "clip", "level": "sequence_sum", **CLIP, "aggregation": "sequence_mean"}
    return [
        Form("trl gmpo", gmpo, wide, kind=GMPOTrainer),
        Form("trl gmpo kl", {**gmpo, "kl": kl}, {**wide, "beta": 0.1}, kind=GMPOTrainer),
        Form(
            "trl gmpo top entropy",
            {**gmpo, "top_entropy": 0.5},
            {**wide, "top_entropy_quantile": 0.5},
            kind=GMPOTrainer,
        ),
        Form("trl rloo loss", rloo, RANGE, kind=RLOOTrainer),
    ]


def _form(name: str, loss: str, ours: dict[str, Any], settings: dict[str, Any], correction: str | None = None) -> Form:
    words = {"aggregation": AGGREGATIONS[loss], **ours}
    if loss == "dr_grpo":
        words["length"] = 16
    if correction is not None:
        words["correction"] = {**RATIOS[correction], "max": 3.0, "ratio": "old/rollout"}
    return Form(name, words, {"loss_type": loss, **settings}, correction)


def _record(cases: list[Case], form: Form) -> Record:
    def run(tensors: Tensors) -> tuple[torch.Tensor, dict[str, float]]:
        corrected = {"use_vllm": True, "vllm_importance_sampling_correction": True} if form.correction else {}
        stub = trainer(form.kind, **form.settings, **corrected)
        given = inputs(tensors)
        if form.correction:
            given["importance_sampling_ratio"] = _ratios(tensors, form.correction, (None, 3.0))
        forward(stub, tensors)
        value = stub._compute_loss(None, given)
        metrics = {name: found[-1] for name, found in stub._metrics["train"].items() if name in METRICS}
        return value, metrics

    name = f"{form.kind.__module__}.{form.kind.__name__}._compute_loss"
    return loss_record(form.name, name, form.ours, cases, run)


def _asynchronous(cases: list[Case]) -> Record:
    """The asynchronous trainer packs the valid tokens of all rows into one."""

    def run(tensors: Tensors) -> tuple[torch.Tensor, dict[str, float]]:
        valid = tensors.mask.bool().flatten()
        flat = torch.ones(1, valid.numel())
        place = torch.arange(valid.numel())
        width = tensors.mask.shape[1]
        stub = trainer(AsyncGRPOTrainer, **RANGE)
        totals = ("forward_tokens", "trained_tokens", "seq_len_weighted", "samples", "forward_s")
        vars(stub).update({f"_step_{name}": 0.0 for name in totals})
        given = {
            "attention_mask": flat,
            "input_ids": flat.long(),
            "position_ids": flat.long(),
            "shift_labels": flat.long(),
            "token_index": torch.where(valid, place, -1),
            "old_log_probs": tensors.old.flatten(),
            "advantages": tensors.advantages.flatten(),
            "segment_id": place // width,
            "tree_kv_index": place[:0],
            "tree_cu_seqlens_q": place[:0],
            "tree_cu_seqlens_k": place[:0],
            "tree_max_seqlens": torch.tensor([[1, 1]]),
            "global_n_tokens": valid.sum().unsqueeze(0),
            "global_n_forward_tokens": valid.sum().unsqueeze(0),
            "mean_seq_len": torch.ones(1),
        }
        outputs = types.SimpleNamespace(log_probs=tensors.logp, entropy=tensors.entropy)
        stub._metrics = {"train": defaultdict(list)}
        value = AsyncGRPOTrainer.compute_loss(stub, lambda **rest: outputs, given)
        metrics = {name: found[-1] for name, found in stub._metrics["train"].items() if name in (*METRICS, "ratio")}
        return value, metrics

    function = "trl.experimental.async_grpo.async_grpo_trainer.AsyncGRPOTrainer.compute_loss"
    ours = {"kind": "clip", **CLIP, "aggregation": "token_mean"}
    return loss_record("trl async grpo loss", function, ours, cases, run)


def _ratio(cases: list[Case], mode: str, limits: tuple[float | None, float]) -> Record:
    """The ratios for the rollout engine themselves; one for each token, or the same for all of a sequence."""

    def run(case: Case) -> Output:
        tensors = Tensors(case)
        found = _ratios(tensors, mode, limits).expand_as(tensors.old)
        return {"weights": ragged(found * tensors.mask, tensors.lengths)}

    low, high = limits
    ours = {**RATIOS[mode], "max": high, "ratio": "old/rollout"} | ({} if low is None else {"min": low})
    name = f"trl {mode} weights" + ("" if low is None else " two bounds")
    function = "trl.GRPOTrainer._generate_and_score_completions"
    return record(name, function, "correction", ours, cases, run)


def _ratios(tensors: Tensors, mode: str, limits: tuple[float | None, float]) -> torch.Tensor:
    low, high = limits
    stub = trainer(
        use_vllm=True,
        vllm_importance_sampling_correction=True,
        vllm_importance_sampling_mode=mode,
        vllm_importance_sampling_clip_min=low,
        vllm_importance_sampling_clip_max=high,
    )
    rows = len(tensors.lengths)
    case: Case = {"size": rows, "lengths": tensors.lengths}
    for name in ("old", "rollout", "mask", "reference"):
        case[name] = ragged(getattr(tensors, name), tensors.lengths)
    case["mask"] = [[int(value) for value in row] for row in case["mask"]]
    found = scored(stub, case, {"a": [0.0] * rows}, [1.0])
    return found["importance_sampling_ratio"]

"""A stand-in for TRL's trainers: what `_generate_and_score_completions` and `_compute_loss` read of `self`.

The methods themselves are TRL's; only the models, the tokenizer and the other processes are missing.
"""

from __future__ import annotations

import functools
import logging
import types
from collections import defaultdict
from typing import Any

import torch
from accelerate import PartialState
from cases import Case
from records import AS_IS, Tensors, padded, precision
from trl import GRPOTrainer

DEFAULTS: dict[str, Any] = {
    "delta": None,
    "use_bias_correction_kl": True,
    "sapo_temperature_pos": 1.0,
    "sapo_temperature_neg": 1.05,
    "vespo_k_pos": 2.0,
    "vespo_lambda_pos": 3.0,
    "vespo_k_neg": 3.0,
    "vespo_lambda_neg": 2.0,
    "steps_per_generation": 1,
    "gradient_accumulation_steps": 2,
    "per_device_train_batch_size": 64,
    "gradient_checkpointing_kwargs": None,
    "report_to": [],
}
"""Settings that the methods read from `args`. Two steps of accumulation make TRL keep the old log-probabilities."""
EOS = 0


class Processes:
    """The accelerator of one process."""

    num_processes = 1
    process_index = 0
    is_main_process = False
    sync_gradients = True
    device = torch.device("cpu")

    @staticmethod
    def gather(tensor: torch.Tensor) -> torch.Tensor:
        """Gathers from the one process."""
        return tensor

    gather_for_metrics = gather

    @staticmethod
    def reduce(tensor: torch.Tensor, reduction: str = "sum") -> torch.Tensor:
        """Reduces over the one process."""
        return tensor

    @staticmethod
    def pad_across_processes(tensor: torch.Tensor, dim: int = 0, pad_index: float = 0) -> torch.Tensor:
        """Pads to the one process."""
        return tensor


def trainer(kind: type = GRPOTrainer, **settings: Any) -> Any:
    """A stand-in whose methods are those of a trainer. Settings that `args` has go there."""
    args = types.SimpleNamespace(**DEFAULTS | {key: settings.pop(key) for key in list(settings) if key in DEFAULTS})
    model = types.SimpleNamespace(training=True, is_gradient_checkpointing=False)
    logs: dict[str, Any] = {"advantages": [], "prompt": [], "completion": [], "rewards": defaultdict(list)}
    state = {
        "args": args,
        "model": model,
        "ref_model": types.SimpleNamespace(),
        "accelerator": Processes(),
        "_metrics": {"train": defaultdict(list)},
        "_logs": {**logs, "extra": defaultdict(list)},
        "_pending_extra_logs": {},
        "_pending_metrics": {},
        "state": types.SimpleNamespace(global_step=0),
        "current_gradient_accumulation_steps": 1,
        "num_iterations": 1,
        "loss_type": "dapo",
        "importance_sampling_level": "token",
        "beta": 0.0,
        "epsilon_low": 0.2,
        "epsilon_high": 0.2,
        "top_entropy_quantile": 1.0,
        "off_policy_mask_threshold": None,
        "use_vllm": False,
        "vllm_importance_sampling_correction": False,
        "vllm_importance_sampling_mode": "sequence_mask",
        "vllm_importance_sampling_clip_min": None,
        "vllm_importance_sampling_clip_max": 3.0,
        "aux_loss_enabled": False,
        "_entropy_bonus_enabled": False,
        "use_adaptive_entropy": False,
        "entropy_coef": 0.0,
        "max_completion_length": 16,
        "multi_objective_aggregation": "sum_then_normalize",
        "scale_rewards": "group",
        "normalize_advantages": False,
        "reward_clip_range": None,
        "environments": None,
        "environment_factories": None,
        "tools": None,
        "mask_truncated_completions": False,
        "pad_to_multiple_of": None,
        "eos_token_ids": [EOS],
        "_tokenizer": types.SimpleNamespace(pad_token_id=EOS),
        "eos_token_id": EOS,
        "pad_token_id": EOS,
        "log_multimodal": False,
        "_is_vlm": False,
        "_log_completion_extra": None,
        "_log_metric": None,
    }
    stub = types.SimpleNamespace(**state | settings)
    stub.get_gamma_weights = GRPOTrainer.get_gamma_weights
    stub.get_off_policy_mask = GRPOTrainer.get_off_policy_mask
    for name in ("_compute_loss", "_calculate_rewards", "_generate_and_score_completions"):
        method = getattr(kind, name, None)
        if method is not None:
            setattr(stub, name, functools.partial(method, stub))
    stub.get_high_entropy_mask = functools.partial(_high_entropy, stub)
    return stub


def scored(stub: Any, case: Case, parts: dict[str, list[float | None]], weights: list[float]) -> dict[str, Any]:
    """What TRL makes of rollouts of groups of one size, side by side: advantages, and ratios for the rollout engine."""
    PartialState(cpu=True)
    logging.getLogger("trl").setLevel(logging.ERROR)
    rows = len(case["lengths"])
    ids = [[1] * length for length in case["lengths"]]
    stub.reward_funcs = [functools.partial(_rewards, values) for values in parts.values()]
    stub.reward_func_names = list(parts)
    stub.reward_processing_classes = [None] * len(parts)
    stub.reward_weights = torch.tensor(weights)
    stub.num_generations = stub.num_generations_eval = case["size"]
    completions = ["x"] * rows
    rollout = case.get("rollout")
    made: tuple[Any, ...] = ([[1]] * rows, ids, case.get("mask"), completions, rollout, {}, None, None)
    short = ([[1]] * rows, ids, completions)
    stub._generate = lambda prompts: made if "mask" in case else short
    old, reference = padded(case["old"]), padded(case["reference"])
    stub._get_per_token_logps_and_entropies = lambda model, *rest, **more: (
        old if model is stub.model else reference,
        None,
        None,
    )
    found = stub._generate_and_score_completions([{"prompt": "p"} for _ in range(rows)])
    return found


def inputs(tensors: Tensors) -> dict[str, Any]:
    """What `_compute_loss` is given, but for the ratios for the rollout engine."""
    rows = len(tensors.mask)
    return {
        "prompt_ids": torch.ones(rows, 1, dtype=torch.long),
        "prompt_mask": torch.ones(rows, 1, dtype=torch.long),
        "completion_ids": torch.ones_like(tensors.mask),
        "completion_mask": tensors.mask,
        "advantages": tensors.rollout_advantages,
        "old_per_token_logps": tensors.old,
        "ref_per_token_logps": tensors.reference,
        "sampling_per_token_logps": tensors.rollout,
        "num_items_in_batch": tensors.mask.sum(),
        "old_logps": (tensors.old * tensors.mask).sum(1),
    }


def forward(stub: Any, tensors: Tensors) -> None:
    """Makes the case's log-probabilities and entropies those of the model."""
    stub._get_per_token_logps_and_entropies = lambda *rest, **more: (tensors.logp, tensors.entropy, None)


def _high_entropy(stub: Any, *rest: Any) -> torch.Tensor:
    """The quantile stays in single precision: in double, a token at the threshold may fall on its other side."""
    with precision(AS_IS):
        return GRPOTrainer.get_high_entropy_mask(stub, *rest)


def _rewards(values: list[float | None], **rest: Any) -> list[float | None]:
    return values

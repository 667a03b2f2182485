"""What of an architecture must be said otherwise before it can become a graph."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

# The optimizer of the exporter takes a summand up to 1e-8 for none, and then zeros have no norm.
SEEN_ABOVE = 1.01e-8


def every_expert(self: nn.Module, hidden: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
    """A mixture of experts without a choice: every expert sees every token, and most get the weight 0."""
    experts = torch.arange(self.num_experts, device=hidden.device)
    shares = ((chosen.unsqueeze(-1) == experts) * weights.unsqueeze(-1)).sum(dim=1).to(hidden.dtype)

    def linear(name: str, states: Tensor) -> Tensor:
        weight = getattr(self, name)
        states = torch.matmul(states, weight if self.is_transposed else weight.transpose(1, 2))
        return states + getattr(self, f"{name}_bias").unsqueeze(1) if self.has_bias else states

    states = hidden.unsqueeze(0)
    if self.has_gate:
        states = self._apply_gate(linear("gate_up_proj", states))
    else:
        states = self.act_fn(linear("up_proj", states))
    states = linear("down_proj", states)
    if self.has_post_expert_norm:
        states = self.post_expert_norm(states)
    return (states * shares.transpose(0, 1).unsqueeze(-1)).sum(dim=0)


ALL_EXPERTS_FUNCTIONS.register("every", every_expert)


def prepare(module: nn.Module) -> None:
    """Makes a module fit to be traced: its scores are the same, for texts within the limits of the model."""
    for part in module.modules():
        config = getattr(part, "config", None)
        if config is not None and hasattr(config, "_experts_implementation"):
            config._experts_implementation = "every"
        _fix_rope(part)
        for name in ("eps", "variance_epsilon"):
            if not isinstance(part, nn.LayerNorm) and 0 < (getattr(part, name, None) or 0) < SEEN_ABOVE:
                setattr(part, name, SEEN_ABOVE)


def _fix_rope(part: nn.Module) -> None:
    """Frequencies that grow with the longest text of a batch stay what they are for texts of the original length."""
    kinds = getattr(part, "rope_type", None)
    if isinstance(kinds, str):
        part.rope_type = _fixed(part, kinds, "")
    elif isinstance(kinds, dict):
        part.rope_type = {layer: _fixed(part, kind, f"{layer}_") for layer, kind in kinds.items()}


def _fixed(part: nn.Module, kind: str, prefix: str) -> str:
    if "dynamic" not in kind and kind != "longrope":
        return kind
    getattr(part, f"{prefix}inv_freq").copy_(getattr(part, f"{prefix}original_inv_freq"))
    return "default"


def reason(error: BaseException) -> str:
    """The first line of what lies at the bottom of an error."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"

"""InternLM2-reward: a conversation and a token of its own, at which a layer without a bias is read."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..checkpoint import Checkpoint
from ..graph import Scorer
from ..preset import Preset, judged
from ..sample import Encoded, Sample
from .outcome import CONVERSATION, as_it_is, at_end


def encode(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """`get_score`: the conversation, and `reward_token_id` behind it."""
    template(checkpoint)
    return at_end([*judged(checkpoint, sample), checkpoint.config.reward_token_id])


def template(checkpoint: Checkpoint) -> str:
    """The same as a text."""
    found = getattr(checkpoint.config, "reward_token_id", None)
    token = None if found is None else checkpoint.tokenizer.convert_ids_to_tokens(found)
    if token is None:
        raise ValueError("config.json has no reward_token_id that the tokenizer knows")
    return CONVERSATION + token


def build(checkpoint: Checkpoint) -> Scorer:
    """The layer `v_head`."""
    return Scorer(checkpoint.backbone, checkpoint.linear("score"))


def _norm(states: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    return weight * states * torch.rsqrt(states.pow(2).mean(-1, keepdim=True) + epsilon)


def _turned(states: Tensor, theta: float) -> Tensor:
    """`apply_rotary_pos_emb` of heads: `[head, place, width]`."""
    half = states.shape[-1] // 2
    angles = torch.outer(torch.arange(states.shape[1]).float(), theta ** (-torch.arange(half).float() / half))
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    return states * cos + torch.cat((-states[..., half:], states[..., :half]), dim=-1) * sin


def _attention(checkpoint: Checkpoint, layer: str, states: Tensor) -> Tensor:
    """`InternLM2Attention`: queries, keys and values come of one matrix, those of a group of heads together."""
    config = checkpoint.config
    heads, shared = config.num_attention_heads, config.num_key_value_heads
    width, groups = config.hidden_size // heads, heads // shared
    found = _linear(checkpoint, f"{layer}.attention.wqkv", states)
    found = found.view(len(states), shared, groups + 2, width)
    queries = found[:, :, :groups].reshape(len(states), heads, width).transpose(0, 1)
    keys, values = (found[:, :, at].transpose(0, 1).repeat_interleave(groups, dim=0) for at in (-2, -1))
    theta = config.rope_parameters["rope_theta"]
    weights = _turned(queries, theta) @ _turned(keys, theta).transpose(1, 2) / width**0.5
    later = torch.ones(len(states), len(states), dtype=torch.bool).triu(1)
    found = weights.masked_fill(later, -torch.inf).softmax(dim=-1) @ values
    return _linear(checkpoint, f"{layer}.attention.wo", found.transpose(0, 1).reshape(len(states), -1))


def _linear(checkpoint: Checkpoint, name: str, states: Tensor) -> Tensor:
    bias = checkpoint.tensor(f"{name}.bias") if checkpoint.has(f"{name}.bias") else None
    return functional.linear(states, checkpoint.tensor(f"{name}.weight"), bias)


@torch.no_grad()
def raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """`InternLM2ForRewardModel` written out, with the tensors as the checkpoint names them."""
    tensor, epsilon = checkpoint.tensor, checkpoint.config.rms_norm_eps
    states = tensor("model.tok_embeddings.weight", torch.tensor(encoded.ids))
    for number in range(checkpoint.config.num_hidden_layers):
        layer = f"model.layers.{number}"
        normed = _norm(states, tensor(f"{layer}.attention_norm.weight"), epsilon)
        states = states + _attention(checkpoint, layer, normed)
        normed = _norm(states, tensor(f"{layer}.ffn_norm.weight"), epsilon)
        gate, up, down = (f"{layer}.feed_forward.{name}" for name in ("w1", "w3", "w2"))
        inner = functional.silu(_linear(checkpoint, gate, normed)) * _linear(checkpoint, up, normed)
        states = states + _linear(checkpoint, down, inner)
    states = _norm(states, tensor("model.norm.weight"), epsilon)
    return [(states @ tensor("v_head.weight").T)[encoded.positions].numpy()]


PRESETS = {
    "internlm2-reward": Preset(
        kind="outcome", template=template, encode=encode, build=build, raw=raw, score=as_it_is
    ),
}

"""Architectures whose code is in the model folder, in the words of transformers. None of that code is run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import LlamaConfig, PretrainedConfig

Parts = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Conversion:
    """Reads a checkpoint under other names: `names` are patterns of transformers' names, and the names there."""

    config: Callable[[dict[str, Any]], PretrainedConfig]
    names: tuple[tuple[str, str], ...]
    parts: Callable[[PretrainedConfig, str, torch.Tensor], torch.Tensor]

    def origin(self, name: str) -> str:
        """The name in the checkpoint."""
        for pattern, own in self.names:
            if found := re.fullmatch(pattern, name):
                return found.expand(own)
        return name


SAME = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "hidden_act",
    "max_position_embeddings",
    "rms_norm_eps",
    "tie_word_embeddings",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
)


def _internlm2_config(given: dict[str, Any]) -> PretrainedConfig:
    scaling = given.get("rope_scaling") or {}
    # The frequencies of "dynamic" are other ones beyond max_position_embeddings alone, where our texts end.
    if scaling.get("type", "dynamic") != "dynamic":
        raise ValueError(f"rope_scaling {scaling} of internlm2 is not known")
    config = LlamaConfig(
        **{name: given[name] for name in SAME if name in given},
        attention_bias=given.get("bias", True),
        rope_parameters={"rope_type": "default", "rope_theta": float(given.get("rope_theta", 10_000))},
        num_labels=1,
    )
    config.reward_token_id = given.get("reward_token_id")
    return config


def _internlm2_parts(config: PretrainedConfig, name: str, tensor: torch.Tensor) -> torch.Tensor:
    """Rows of `wqkv` are, for each head of keys: its heads of queries, its keys, its values."""
    found = re.search(r"\.([qkv])_proj\.", name)
    if not found:
        return tensor
    heads, shared = config.num_attention_heads, config.num_key_value_heads
    rows = tensor.view(shared, heads // shared + 2, config.hidden_size // heads, *tensor.shape[1:])
    part = {"q": rows[:, :-2], "k": rows[:, -2], "v": rows[:, -1]}[found[1]]
    return part.reshape(-1, *tensor.shape[1:])


CONVERSIONS = {
    "internlm2": Conversion(
        _internlm2_config,
        (
            (r"model\.embed_tokens\.(.*)", r"model.tok_embeddings.\1"),
            (r"(.*)\.input_layernorm\.(.*)", r"\1.attention_norm.\2"),
            (r"(.*)\.post_attention_layernorm\.(.*)", r"\1.ffn_norm.\2"),
            (r"(.*)\.self_attn\.[qkv]_proj\.(.*)", r"\1.attention.wqkv.\2"),
            (r"(.*)\.self_attn\.o_proj\.(.*)", r"\1.attention.wo.\2"),
            (r"(.*)\.mlp\.gate_proj\.(.*)", r"\1.feed_forward.w1.\2"),
            (r"(.*)\.mlp\.up_proj\.(.*)", r"\1.feed_forward.w3.\2"),
            (r"(.*)\.mlp\.down_proj\.(.*)", r"\1.feed_forward.w2.\2"),
            (r"lm_head\.(.*)", r"output.\1"),
            (r"score\.(.*)", r"v_head.\1"),
        ),
        _internlm2_parts,
    ),
}

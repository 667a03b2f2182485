"""Hugging Face folders of tiny models with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoConfig, PreTrainedModel, PreTrainedTokenizerFast

SEED = 20
WIDTH = 32
SPREAD = 0.15

CAUSAL = {
    "hidden_size": WIDTH,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 1024,
    "initializer_range": SPREAD,
    "tie_word_embeddings": True,
}
ENCODER = {
    "hidden_size": WIDTH,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 514,
    "initializer_range": SPREAD,
}
OWN: dict[str, dict[str, Any]] = {
    "llama": CAUSAL,
    "qwen2": CAUSAL,
    "qwen3": CAUSAL,
    "mistral": {**CAUSAL, "sliding_window": 24},
    "gemma2": {**CAUSAL, "sliding_window": 24, "query_pre_attn_scalar": 16},
    "bert": {**ENCODER, "type_vocab_size": 2},
    "roberta": {**ENCODER, "type_vocab_size": 1},
    "deberta-v2": {
        **ENCODER,
        "type_vocab_size": 0,
        "relative_attention": True,
        "position_buckets": 16,
        "max_relative_positions": -1,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
    },
    "modernbert": {
        **ENCODER,
        "local_attention": 16,
        "global_attn_every_n_layers": 2,
        "classifier_pooling": "cls",
        "reference_compile": False,
    },
}


def make(
    folder: Path,
    auto: type,
    architecture: str,
    tokenizer: PreTrainedTokenizerFast,
    extra: dict[str, list[int]] | None = None,
    seed: int = SEED,
    **settings: Any,
) -> PreTrainedModel:
    """Saves a model; `extra` names linear layers to add to the checkpoint: `[outputs, inputs]`."""
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        architecture, vocab_size=len(tokenizer), **_token_ids(tokenizer), **OWN[architecture], **settings
    )
    config.architectures = None
    model = auto.from_config(config, dtype=torch.float32).eval()
    for name, value in model.named_parameters():
        if value.dim() == 1:
            nn.init.normal_(value, mean=float("norm" in name.lower() and name.endswith("weight")), std=0.1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if extra:
        weights = folder / "model.safetensors"
        tensors = load_file(weights)
        for name, (rows, columns) in extra.items():
            tensors[f"{name}.weight"] = torch.randn(rows, columns) * SPREAD
            tensors[f"{name}.bias"] = torch.randn(rows) * SPREAD
        save_file(tensors, weights, metadata={"format": "pt"})
    return model


def _token_ids(tokenizer: PreTrainedTokenizerFast) -> dict[str, int | None]:
    names = ("bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "cls_token_id")
    return {name: getattr(tokenizer, name, None) for name in names}

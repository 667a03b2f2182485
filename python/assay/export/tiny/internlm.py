"""A tiny InternLM2-reward with random weights, under the names of its authors' code."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import PreTrainedTokenizerFast

from .models import SEED, SPREAD, WIDTH

HEADS, SHARED, HEAD, INNER, LAYERS = 4, 2, 8, 64, 2
REWARD = "<extra_0>"
"""Any token that conversations have not."""


def make(folder: Path, tokenizer: PreTrainedTokenizerFast, seed: int) -> None:
    """Saves config.json, the tensors and the tokenizer."""
    torch.manual_seed(SEED + seed)
    shapes = {"model.tok_embeddings": (len(tokenizer), WIDTH), "v_head": (1, WIDTH)}
    for layer in range(LAYERS):
        shapes |= {
            f"model.layers.{layer}.attention.wqkv": ((HEADS + 2 * SHARED) * HEAD, WIDTH),
            f"model.layers.{layer}.attention.wo": (WIDTH, WIDTH),
            f"model.layers.{layer}.feed_forward.w1": (INNER, WIDTH),
            f"model.layers.{layer}.feed_forward.w3": (INNER, WIDTH),
            f"model.layers.{layer}.feed_forward.w2": (WIDTH, INNER),
        }
    norms = [f"model.layers.{layer}.{name}" for layer in range(LAYERS) for name in ("attention_norm", "ffn_norm")]
    tensors = {f"{name}.weight": torch.randn(shape) * SPREAD for name, shape in shapes.items()}
    tensors |= {f"{name}.weight": 1.0 + torch.randn(WIDTH) * 0.1 for name in [*norms, "model.norm"]}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save_pretrained(folder)
    config = {
        "model_type": "internlm2",
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": SHARED,
        "hidden_act": "silu",
        "max_position_embeddings": 1024,
        "rms_norm_eps": 1e-5,
        "rope_theta": 1_000_000,
        "rope_scaling": {"type": "dynamic", "factor": 2.0},
        "bias": False,
        "tie_word_embeddings": False,
        "pad_token_id": tokenizer.pad_token_id,
        "reward_token_id": tokenizer.convert_tokens_to_ids(REWARD),
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

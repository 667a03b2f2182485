"""Hugging Face folders of tiny models with random weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoConfig, PreTrainedTokenizerFast

from ..checkpoint import Checkpoint
from ..sample import SAMPLES, Encoded, Sample

SEED = 20
WIDTH = 32
SPREAD = 0.15
LESSONS = 150

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
    "gemma": CAUSAL,
    "bart": {
        "d_model": WIDTH,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "max_position_embeddings": 514,
        "init_std": SPREAD,
        "decoder_start_token_id": 2,
    },
    "t5": {
        "d_model": WIDTH,
        "d_kv": 16,
        "d_ff": 64,
        "num_layers": 1,
        "num_decoder_layers": 1,
        "num_heads": 2,
        "decoder_start_token_id": 0,
    },
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


@dataclass(frozen=True)
class Extra:
    """Tensors of a head that transformers has no class for: linear layers `(outputs, inputs)`, and matrices."""

    layers: dict[str, tuple[int, int]] = field(default_factory=dict)
    matrices: dict[str, tuple[int, int]] = field(default_factory=dict)

    def tensors(self) -> dict[str, torch.Tensor]:
        """Random values for them."""
        found = {}
        for name, (rows, columns) in self.layers.items():
            found[f"{name}.weight"] = torch.randn(rows, columns) * SPREAD
            found[f"{name}.bias"] = torch.randn(rows) * SPREAD
        for name, size in self.matrices.items():
            found[name] = torch.eye(*size) + torch.randn(size) * SPREAD / 4
        return found


def make(
    folder: Path,
    auto: Any,
    architecture: str,
    tokenizer: PreTrainedTokenizerFast,
    extra: Extra,
    seed: int,
    **settings: Any,
) -> None:
    """Saves a model with random weights, and the tensors of its own head."""
    torch.manual_seed(SEED + seed)
    config = AutoConfig.for_model(
        architecture, vocab_size=len(tokenizer), **{**OWN[architecture], **_token_ids(tokenizer), **settings}
    )
    model = auto.from_config(config, dtype=torch.float32)
    for name, value in model.named_parameters():
        if value.dim() == 1:
            nn.init.normal_(value, mean=float("norm" in name.lower() and name.endswith("weight")), std=0.1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    weights = folder / "model.safetensors"
    save_file({**load_file(weights), **extra.tensors()}, weights, metadata={"format": "pt"})


def teach(
    checkpoint: Checkpoint, encode: Callable[[Checkpoint, Sample], Encoded], lessons: tuple[str, ...]
) -> None:
    """Teaches a model of the seeds by heart what it is to write, so that its text means something."""
    model = checkpoint.lm
    rows = []
    for sample, text in zip(SAMPLES, lessons, strict=True):
        prompt = encode(checkpoint, sample).ids
        written = checkpoint.tokenizer.encode(text, add_special_tokens=False)
        written.append(checkpoint.tokenizer.eos_token_id)
        rows.append((torch.tensor([prompt + written]), torch.tensor([[-100] * len(prompt) + written])))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(LESSONS):
        optimizer.zero_grad()
        loss = sum(model(input_ids=ids, labels=labels).loss for ids, labels in rows)
        loss.backward()
        optimizer.step()
    model.save_pretrained(checkpoint.folder)


def _token_ids(tokenizer: PreTrainedTokenizerFast) -> dict[str, int | None]:
    names = ("bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "cls_token_id")
    return {name: getattr(tokenizer, name, None) for name in names}

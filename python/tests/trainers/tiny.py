"""A policy of a few thousand weights and a tokenizer of bytes, made on the spot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

if TYPE_CHECKING:
    from pathlib import Path

CHAT = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tokenizer() -> Any:
    """One token a byte, and those that mark turns."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_only = Tokenizer(models.BPE(vocab={one: at for at, one in enumerate(letters)}, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only,
        eos_token="<|end|>",
        pad_token="<|pad|>",
        padding_side="left",
        model_input_names=["input_ids", "attention_mask"],
    )
    made.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|assistant|>"]})
    made.chat_template = CHAT
    return made


def policy() -> Any:
    """A random model of one layer."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    known = tokenizer()
    config = LlamaConfig(
        vocab_size=len(known),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=128,
        eos_token_id=known.eos_token_id,
        pad_token_id=known.pad_token_id,
    )
    return LlamaForCausalLM(config)


def save(folder: Path) -> None:
    """The model and its tokenizer in a folder."""
    policy().save_pretrained(folder)
    tokenizer().save_pretrained(folder)

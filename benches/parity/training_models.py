"""What TRL's trainer is run on: small decoders with random weights, a character tokenizer, arithmetic and its reward."""

from __future__ import annotations

import random
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

Task = dict[str, str]

EOS = "<eos>"
ALPHABET = "0123456789+-*=?abcdefghijklmnop"
"""The other tokens: one for each character."""
TASKS = 40
STD = 0.15
"""The standard deviation of the weights: large enough for the gradients of all layers to matter."""


def tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer whose tokens are characters. It has no token for padding: TRL takes the end of the sequence."""
    vocabulary = {token: number for number, token in enumerate([EOS, *ALPHABET])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=EOS))
    made.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=EOS, clean_up_tokenization_spaces=False)


def model(kind: str) -> PreTrainedModel:
    """A decoder of two layers with random weights, which single precision cut to 16 bits holds."""
    sizes = {
        "vocab_size": 1 + len(ALPHABET),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 64,
        "bos_token_id": None,
        "eos_token_id": 0,
        "pad_token_id": None,
    }
    torch.manual_seed(len(kind) + ord(kind[-1]))
    made: PreTrainedModel
    if kind == "llama":
        made = LlamaForCausalLM(LlamaConfig(**sizes, tie_word_embeddings=False))
    elif kind == "qwen2":
        del sizes["head_dim"]
        made = Qwen2ForCausalLM(Qwen2Config(**sizes, tie_word_embeddings=True))
    else:
        made = Qwen3ForCausalLM(Qwen3Config(**sizes, tie_word_embeddings=False))
    with torch.no_grad():
        for name, weights in made.named_parameters():
            torch.nn.init.normal_(weights, mean=1.0 if "norm" in name else 0.0, std=STD)
    return made.to(torch.bfloat16)


def write_model(kind: str, folder: Path) -> None:
    """Writes a folder as Hugging Face's libraries have it."""
    model(kind).save_pretrained(folder)
    tokenizer().save_pretrained(folder)


def tasks() -> list[Task]:
    """Sums, differences and products of numbers of one or two digits."""
    rng = random.Random(20261124)
    made = []
    for _ in range(TASKS):
        sign = rng.choice("+-*")
        left, right = rng.randrange(100 if sign != "*" else 10), rng.randrange(10)
        answer = {"+": left + right, "-": left - right, "*": left * right}[sign]
        made.append({"prompt": f"{left}{sign}{right}=", "answer": str(answer)})
    return made


def reward(completion: str, answer: str) -> float | None:
    """Half for the answer at the start, an eighth for each digit among the first four characters, less for length.

    There is none where the second character is a question mark. All rewards are multiples of 1/64.
    """
    if completion[1:2] == "?":
        return None
    digits = sum(character in "0123456789" for character in completion[:4])
    return 0.5 * completion.startswith(answer) + digits / 8 - len(completion) / 64

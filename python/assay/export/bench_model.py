"""`python -m assay.export.bench_model OUT --text FILE…`: a model with random weights to measure speed with."""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast, Qwen2Config

from .__main__ import report
from .checkpoint import Checkpoint
from .export import STREAMED, TOLERANCES, Options, export
from .presets import PRESETS
from .tiny import tokenizers

VOCABULARY = 32_000
"""Of the tokenizer, and of the small model."""
SIZES = {
    "25m": {
        "vocab_size": VOCABULARY,
        "hidden_size": 384,
        "intermediate_size": 1536,
        "num_hidden_layers": 6,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
    },
    "500m": {  # as Qwen2.5-0.5B
        "vocab_size": 151_936,
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
    },
    "7b": {  # as Qwen2.5-7B, in bf16 and four parts
        "vocab_size": 152_064,
        "hidden_size": 3584,
        "intermediate_size": 18_944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
    },
}


def texts(files: list[Path]) -> Iterator[str]:
    """Every text in the rows of JSON-lines files, plain or gzip."""
    for path in files:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from (value for value in json.loads(line).values() if isinstance(value, str))


def make(folder: Path, tokenizer: PreTrainedTokenizerFast, size: str) -> None:
    """Saves the model with random weights."""
    torch.manual_seed(0)
    config = Qwen2Config(
        **SIZES[size],
        max_position_embeddings=4096,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        num_labels=1,
    )
    dtype = torch.bfloat16 if size == "7b" else torch.float32
    model = AutoModelForSequenceClassification.from_config(config, dtype=dtype)
    model.save_pretrained(folder, **({"max_shard_size": "4GB"} if size == "7b" else {}))
    del model
    tokenizer.save_pretrained(folder)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="assay.export.bench_model", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="JSON lines to train the tokenizer on")
    parser.add_argument("--size", choices=sorted(SIZES), default="25m", help="parameters; default: 25m")
    parser.add_argument("--precision", choices=tuple(TOLERANCES), default="fp32")
    parser.add_argument("--kv", action="store_true", help="take past keys and values")
    parser.add_argument("--checkpoint", type=Path, help="keep the model of transformers in this folder")
    parser.add_argument("--only-checkpoint", action="store_true", help="export nothing")
    given = parser.parse_args()
    torch.set_num_threads(1)
    name = f"bench-{given.size}"
    options = Options(name, given.precision, given.kv, source="random weights", licence="Apache-2.0")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.checkpoint or Path(temporary)
        make(folder, tokenizers.qwen(texts(given.text), VOCABULARY), given.size)
        if given.only_checkpoint:
            return
        checkpoint = Checkpoint(folder, streamed=True if given.precision in STREAMED else None)
        report(name, export([checkpoint], given.out, PRESETS["outcome"], options), options.limit)


if __name__ == "__main__":
    main()

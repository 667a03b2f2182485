"""`python -m assay.export.bench_model OUT --text FILE…`: a model with random weights to measure speed with."""

from __future__ import annotations

import argparse
import gzip
import json
import math
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
    Qwen2Config,
)

from .__main__ import report
from .checkpoint import Checkpoint
from .export import STREAMED, TOLERANCES, Options, export
from .presets import PRESETS
from .progress import on_stderr
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
        "tie_word_embeddings": True,
    },
    "7b": {  # as Qwen2.5-7B
        "vocab_size": 152_064,
        "hidden_size": 3584,
        "intermediate_size": 18_944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
    },
}
SHARD_BYTES = 3_600_000_000
"""From which on a tensor goes into the next file: four files of 7 B parameters."""
BLOCK = 1 << 22


def texts(files: list[Path]) -> Iterator[str]:
    """Every text in the rows of JSON-lines files, plain or gzip."""
    for path in files:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from (value for value in json.loads(line).values() if isinstance(value, str))


def make(folder: Path, tokenizer: PreTrainedTokenizerFast, size: str, auto: Any) -> None:
    """Writes a checkpoint of random weights in bf16, no more than a tensor of it in memory."""
    config = Qwen2Config(
        **SIZES[size],
        max_position_embeddings=4096,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        num_labels=1,
    )
    with torch.device("meta"):
        model = auto.from_config(config, dtype=torch.bfloat16)
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    shapes = {name: list(tensor.shape) for name, tensor in model.named_parameters()}
    shards: list[list[str]] = [[]]
    filled = 0
    for name, shape in shapes.items():
        if filled > SHARD_BYTES:
            shards.append([])
            filled = 0
        shards[-1].append(name)
        filled += 2 * math.prod(shape)
    random = np.random.default_rng(0)
    files: dict[str, str] = {}
    for number, names in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        files |= dict.fromkeys(names, file)
        with (folder / file).open("wb") as out:
            _write_shard(out, {name: shapes[name] for name in names}, random)
    index = {"metadata": {}, "weight_map": files}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def _write_shard(out: BinaryIO, shapes: dict[str, list[int]], random: np.random.Generator) -> None:
    """One file of safetensors: the length of its header, the header, the values."""
    ends = list(accumulate((2 * math.prod(shape) for shape in shapes.values()), initial=0))
    header = {
        name: {"dtype": "BF16", "shape": shape, "data_offsets": [start, end]}
        for (name, shape), start, end in zip(shapes.items(), ends, ends[1:], strict=False)
    }
    text = json.dumps(header).encode()
    out.write(len(text).to_bytes(8, "little") + text)
    # Values of one block in another order a tensor: drawing all of them takes longer than writing them.
    block = random.normal(0.0, 0.02, BLOCK).astype(np.float32)
    for name, shape in shapes.items():
        if name.endswith("norm.weight"):
            values = np.ones(math.prod(shape), np.float32)
            out.write((values.view(np.uint32) >> 16).astype(np.uint16).tobytes())
            continue
        half = (np.roll(block, random.integers(BLOCK)).view(np.uint32) >> 16).astype(np.uint16)
        left = math.prod(shape)
        while left > 0:
            out.write(half[:left].tobytes())
            left -= BLOCK


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="assay.export.bench_model", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="JSON lines to train the tokenizer on")
    parser.add_argument("--size", choices=sorted(SIZES), default="25m", help="parameters; default: 25m")
    parser.add_argument("--preset", choices=sorted(PRESETS), default="outcome")
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
        auto = AutoModelForSequenceClassification if given.preset == "outcome" else AutoModelForCausalLM
        folder.mkdir(parents=True, exist_ok=True)
        make(folder, tokenizers.qwen(texts(given.text), VOCABULARY), given.size, auto)
        if given.only_checkpoint:
            return
        checkpoint = Checkpoint(folder, streamed=True if given.precision in STREAMED else None, tell=on_stderr())
        report(name, export([checkpoint], given.out, PRESETS[given.preset], options), options.limit)


if __name__ == "__main__":
    main()

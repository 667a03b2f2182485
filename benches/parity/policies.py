"""Writes tiny policies, and what transformers computes with them.

    python benches/parity/policies.py

Folders with random weights of each architecture that a policy may have: token ids of prompts, all logits
of one, its greedy continuation, and what the samplers leave of its next token. In single precision, on the
processor, in the environment of `requirements-trl.txt`. See `fixtures/policies/README.md`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    LogitsProcessorList,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

VERSION = "5.23.0"
FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "policies"
VOCABULARY = 128
PAD, END = "<|endoftext|>", "<|im_end|>"
SPECIALS = [PAD, "<|im_start|>", END]
PROMPTS = [
    "Sort: 3 1 2 ->",
    "12 + 34 = 46\n\tand \"so\" on",
    "<|im_start|>user\nReverse the word abc.<|im_end|>\n<|im_start|>assistant\n",
    "  the  sum of the digits",
    "What is the sum of 12 and 30? Think, then answer with the number.",
]
CORPUS = ["the sum of the digits of the number", "sort the words and answer", "then what is the answer?"]
TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}
"""
LOGIT_TOKENS = 24
GREEDY_TOKENS = 64
GAP = 2e-3
"""By how much the best token beats the second best at least, so that no rounding decides."""
SAMPLINGS = [(1.0, 0, 1.0), (0.7, 5, 1.0), (1.0, 0, 0.9), (1.3, 10, 0.8), (2.5, 40, 0.95), (0.2, 0, 0.01)]


@dataclass(frozen=True)
class Policy:
    """A tiny policy: its architecture, and how it is written."""

    model: type[PreTrainedModel]
    config: type[PreTrainedConfig]
    settings: dict[str, Any]
    stop: list[str] = field(default_factory=lambda: [END])
    template: bool = False
    before_v5: bool = False
    """Whether `config.json` names the rotation as transformers did before version 5."""
    dtype: torch.dtype = torch.float32
    shard: str = "1GB"


COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 56,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "initializer_range": 0.25,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
POLICIES = {
    "llama": Policy(LlamaForCausalLM, LlamaConfig, {"rms_norm_eps": 1e-6}, stop=[END, PAD]),
    "llama3": Policy(
        LlamaForCausalLM,
        LlamaConfig,
        {"rope_parameters": LLAMA3, "rms_norm_eps": 1e-5, "tie_word_embeddings": True},
        before_v5=True,
    ),
    "qwen2": Policy(
        Qwen2ForCausalLM,
        Qwen2Config,
        {"tie_word_embeddings": True, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}},
        template=True,
        before_v5=True,
    ),
    "qwen3": Policy(
        Qwen3ForCausalLM,
        Qwen3Config,
        {
            "head_dim": 12,
            "tie_word_embeddings": True,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e6},
        },
        stop=[END, PAD],
        template=True,
    ),
    "qwen3-sharded": Policy(
        Qwen3ForCausalLM,
        Qwen3Config,
        {"head_dim": 16, "num_key_value_heads": 1, "tie_word_embeddings": False},
        dtype=torch.bfloat16,
        shard="20KB",
    ),
}


def main() -> None:
    """Writes all of the folders, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(POLICIES))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    version = importlib.metadata.version("transformers")
    if version != VERSION:
        raise SystemExit(f"transformers {version} is installed, not {VERSION}")
    torch.set_num_threads(1)
    for name in arguments.names:
        write(POLICIES[name], arguments.folder / name)


def write(policy: Policy, folder: Path) -> None:
    """Writes one folder, with the first seed whose greedy continuation is clear."""
    tokenizer = make_tokenizer(policy)
    for seed in range(1000):
        model = make_model(policy, tokenizer, seed)
        expected = expect(model, tokenizer)
        if expected is not None:
            break
    else:
        raise SystemExit(f"{folder.name}: no seed gives a clear continuation")
    shutil.rmtree(folder, ignore_errors=True)
    model.to(policy.dtype).save_pretrained(folder, max_shard_size=policy.shard)
    tokenizer.save_pretrained(folder)
    if policy.before_v5:
        rewrite_rotation(folder / "config.json")
    lines = ",\n".join(f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in expected.items())
    (folder / "expected.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    print(f"{folder}: seed {seed}, {sum(path.stat().st_size for path in folder.iterdir())} bytes")


def make_tokenizer(policy: Policy) -> PreTrainedTokenizerFast:
    """Byte-level BPE whose only bytes are those of printable ASCII, tab and newline."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = [chr(code) for code in range(0x21, 0x7F)] + ["Ġ", "Ċ", "ĉ"]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIALS), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIALS])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, clean_up_tokenization_spaces=False
    )
    if policy.template:
        fast.chat_template = TEMPLATE
    return fast


def make_model(policy: Policy, tokenizer: PreTrainedTokenizerFast, seed: int) -> PreTrainedModel:
    """Random weights, of norms and biases too, as the file will hold them."""
    torch.manual_seed(seed)
    stop = tokenizer.convert_tokens_to_ids(policy.stop)
    config = policy.config(**{
        **COMMON,
        **policy.settings,
        "bos_token_id": None,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": stop[0] if len(stop) == 1 else stop,
    })
    model = policy.model(config).eval()
    with torch.no_grad():
        for name, values in model.named_parameters():
            if name.endswith(("norm.weight", "bias")):
                values.add_(0.3 * torch.randn_like(values))
            values.copy_(values.to(policy.dtype).float())
    return model


def expect(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> dict[str, Any] | None:
    """What the model computes; nothing where a token of its continuation is near another or ends it."""
    prompts = [{"text": text, "tokens": tokenizer(text)["input_ids"]} for text in PROMPTS]
    given = prompts[-1]["tokens"][:LOGIT_TOKENS]
    if len(given) < LOGIT_TOKENS:
        raise SystemExit("the last prompt is too short")
    with torch.no_grad():
        logits = model(torch.tensor([given])).logits[0]
        out = model.generate(
            torch.tensor([given]),
            attention_mask=torch.ones(1, len(given), dtype=torch.long),
            max_new_tokens=GREEDY_TOKENS,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
    best = torch.cat(out.logits).topk(2).values
    greedy = out.sequences[0, len(given) :].tolist()
    stop = model.generation_config.eos_token_id
    stop = stop if isinstance(stop, list) else [stop]
    if len(greedy) < GREEDY_TOKENS or greedy[-1] in stop or (best[:, 0] - best[:, 1]).min() < GAP:
        return None
    return {
        "transformers": VERSION,
        "prompts": prompts,
        "tokens": given,
        "greedy": greedy,
        "stop_tokens": sorted(stop),
        "sampling": [sampling(logits[-1:], *settings) for settings in SAMPLINGS],
        "logits": [[float(f"{value:.7g}") for value in row] for row in logits.tolist()],
    }


def sampling(logits: torch.Tensor, temperature: float, top_k: int, top_p: float) -> dict[str, Any]:
    """The tokens that are drawn from, and their probabilities."""
    warpers = LogitsProcessorList()
    if temperature != 1.0:
        warpers.append(TemperatureLogitsWarper(temperature))
    if top_k > 0:
        warpers.append(TopKLogitsWarper(top_k))
    if top_p < 1.0:
        warpers.append(TopPLogitsWarper(top_p))
    probabilities = warpers(torch.zeros(1, 1, dtype=torch.long), logits).softmax(-1)[0].tolist()
    kept = [[token, float(f"{value:.7g}")] for token, value in enumerate(probabilities) if value > 0]
    return {"temperature": temperature, "top_k": top_k, "top_p": top_p, "kept": kept}


def rewrite_rotation(path: Path) -> None:
    """Names the rotation of positions as the folders of Llama 3 and Qwen2.5 have it."""
    config = json.loads(path.read_text(encoding="utf-8"))
    rotation = config.pop("rope_parameters")
    config["rope_theta"] = rotation.pop("rope_theta")
    config["rope_scaling"] = rotation if rotation["rope_type"] != "default" else None
    path.write_text(json.dumps(dict(sorted(config.items())), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

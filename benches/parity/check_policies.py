"""Reads the policies that we saved with transformers, and compares what they compute.

    cargo test -p assay-trainer --features train --test it policies::
    python benches/parity/check_policies.py target/tmp/policies

The test leaves its folders there. Needs the environment of `requirements-trl.txt`; adapters are compared
where peft is installed too.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import Any

import torch
from policies import FOLDER, GREEDY_TOKENS
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

TOLERANCE = 1e-4


def main() -> None:
    """Checks every folder; raises at the first that differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saved", type=Path)
    saved = parser.parse_args().saved
    for folder in sorted(FOLDER.iterdir()):
        if folder.is_dir():
            check_policy(saved / folder.name, folder)
    check_adapter(saved / "qwen2-adapted", FOLDER / "qwen2")
    check_characters(saved / "characters")


def check_policy(saved: Path, fixture: Path) -> None:
    """Tokens, stop tokens, the chat template, logits and the greedy continuation."""
    expected = json.loads((fixture / "expected.json").read_text(encoding="utf-8"))
    tokenizer, original = AutoTokenizer.from_pretrained(saved), AutoTokenizer.from_pretrained(fixture)
    for prompt in expected["prompts"]:
        same(tokenizer(prompt["text"])["input_ids"], prompt["tokens"], saved)
        same(tokenizer.decode(prompt["tokens"]), prompt["text"], saved)
    same(tokenizer.chat_template, original.chat_template, saved)
    same((tokenizer.eos_token, tokenizer.pad_token), (original.eos_token, original.pad_token), saved)
    model = load(saved)
    stop = model.generation_config.eos_token_id
    same(sorted(stop) if isinstance(stop, list) else [stop], expected["stop_tokens"], saved)
    off = difference(logits(model, expected["tokens"]), torch.tensor(expected["logits"]), saved)
    out = model.generate(torch.tensor([expected["tokens"]]), max_new_tokens=GREEDY_TOKENS, do_sample=False)
    same(out[0, len(expected["tokens"]) :].tolist(), expected["greedy"], saved)
    print(f"{saved.name}: logits differ by {off:.1e} at most")


def check_adapter(saved: Path, base: Path) -> None:
    """The merged weights against the adapter over the weights that it was made for."""
    if importlib.util.find_spec("peft") is None:
        print("peft is not installed: adapters are not compared")
        return
    from peft import PeftModel

    tokens = json.loads((base / "expected.json").read_text(encoding="utf-8"))["tokens"]
    plain = logits(load(base), tokens)
    adapted = logits(PeftModel.from_pretrained(load(base), saved / "adapter").eval(), tokens)
    off = difference(logits(load(saved), tokens), adapted, saved)
    effect = (adapted - plain).abs().max().item()
    if effect < 100 * TOLERANCE:
        raise SystemExit(f"{saved}: the adapter changes next to nothing")
    print(f"{saved.name}: logits differ by {off:.1e} at most, of {effect:.1f} that the adapter makes")


def check_characters(saved: Path) -> None:
    """A token for each character, in the order of the alphabet, behind two special ones."""
    tokenizer = AutoTokenizer.from_pretrained(saved)
    alphabet = [tokenizer.convert_ids_to_tokens(at) for at in range(2, len(tokenizer))]
    text = "".join(alphabet)
    same(all(len(token) == 1 for token in alphabet), True, saved)
    same(tokenizer(text)["input_ids"], list(range(2, len(tokenizer))), saved)
    same(tokenizer.decode(tokenizer(text)["input_ids"]), text, saved)
    ids = tokenizer("1 + 1<|end|>")["input_ids"]
    same(tokenizer.decode(ids, skip_special_tokens=True), "1 + 1", saved)
    same((ids[-1], tokenizer.eos_token_id, tokenizer.pad_token_id), (1, 1, 0), saved)
    print(f"{saved.name}: {len(tokenizer)} tokens")


def load(folder: Path) -> PreTrainedModel:
    """The model of a folder, none of whose tensors is missing or unknown."""
    model, info = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    left = {key: value for key, value in info.items() if value}
    if left:
        raise SystemExit(f"{folder}: {left}")
    return model.eval()


def logits(model: Any, tokens: list[int]) -> torch.Tensor:
    """The logits of all positions."""
    with torch.no_grad():
        return model(torch.tensor([tokens])).logits[0]


def difference(found: torch.Tensor, expected: torch.Tensor, saved: Path) -> float:
    """The greatest difference, which has to be small."""
    off = (found - expected).abs().max().item()
    if not off < TOLERANCE:
        raise SystemExit(f"{saved}: logits differ by {off}")
    return off


def same(found: Any, expected: Any, saved: Path) -> None:
    """Raises where two values differ."""
    if found != expected:
        raise SystemExit(f"{saved}: {found!r}, expected {expected!r}")


if __name__ == "__main__":
    main()

"""Trains the process model of the demo: `python -m arithmetic_prm.train OUT`, forty minutes on two cores.

A Qwen2 of 0.3 M parameters reads bytes; a head as that of Qwen2.5-Math-PRM judges the tag behind
each step. `python -m assay.export OUT FOLDER --preset qwen2.5-math-prm` exports it.

One label a step teaches arithmetic slowly, so two more losses help, both read off the solution and gone
after training: a layer on the way tells the character that a right step has next, and a later one judges each
character of a step as the tag is judged (does the step still go right?). Short problems come first.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import string
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import pre_tokenizers
from torch import nn
from transformers import Qwen2Config, Qwen2Model, Qwen2Tokenizer

from .arithmetic import Solution, solution

TAG = "<extra_0>"
CHAT = "{% for m in messages %}{% if m.role != 'system' %}{{ m.content }}{{ '\\n' }}{% endif %}{% endfor %}"
BATCH, STEPS, RATE = 64, 6000, 1.5e-3
SHORT = 0.37
"""The share of the steps that short problems get."""
NEXT, JUDGED = 3, 5
"""The layers whose states tell the next character, and judge each character."""
POOL = 32
"""Batches that are cut from one sorting by length."""
NONE = -100
"""No label here."""


def tokenizer() -> Qwen2Tokenizer:
    """One token a byte: Qwen's tokenizer without merges."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Qwen2Tokenizer(vocab={byte: place for place, byte in enumerate(alphabet)}, merges=[])
    made.add_special_tokens({"additional_special_tokens": [TAG]})
    made.chat_template = CHAT
    return made


class ProcessModel(nn.Module):
    """The backbone and the head, named as in the checkpoints of Qwen2.5-Math-PRM."""

    def __init__(self, config: Qwen2Config) -> None:
        super().__init__()
        self.model = Qwen2Model(config)
        self.score = nn.Sequential(nn.Linear(config.hidden_size, config.hidden_size), nn.ReLU(),
                                   nn.Linear(config.hidden_size, 2))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Scores of each place."""
        return self.score(self.model(input_ids=ids, use_cache=False).last_hidden_state)


class Encoder:
    """A solution as ids, judgements and next characters."""

    def __init__(self, texts: Qwen2Tokenizer) -> None:
        self.size = len(texts)
        self.tag, self.pad = texts.convert_tokens_to_ids(TAG), texts.pad_token_id
        self.of = {character: texts.encode(character)[0] for character in string.printable}

    def __call__(self, made: Solution) -> tuple[list[int], list[int], list[int]]:
        """Equal lengths; nothing behind the first error is judged."""
        ids, _ = self.places(made)
        judged, following = [NONE] * len(ids), [NONE] * len(ids)
        start = len(made.problem) + 1
        for place, step in enumerate(made.steps[: made.first_error + 1] if made.first_error >= 0 else made.steps):
            wanted = made.mended if place == made.first_error else step
            right = [step[:end] == wanted[:end] for end in range(1, len(step) + 1)] + [step == wanted]
            wanted_ids = [*(self.of[character] for character in wanted), self.tag]
            following[start - 1] = wanted_ids[0]
            for at, fits in enumerate(right):
                judged[start + at] = int(fits)
                if fits and at < len(step):
                    following[start + at] = wanted_ids[at + 1]
            start += len(right)
        return ids, judged, following

    def places(self, made: Solution) -> tuple[list[int], list[int]]:
        """The ids of a whole solution, and the places of its tags."""
        ids, places = [self.of[character] for character in made.problem + "\n"], []
        for step in made.steps:
            ids += [*(self.of[character] for character in step), self.tag]
            places.append(len(ids) - 1)
        return ids, places


def batches(rng: random.Random, encode: Encoder, steps: int) -> Iterator[list[torch.Tensor]]:
    """Batches of rows of like lengths: short problems with many errors first, then those of the demo."""
    for pool in range(math.ceil(steps / POOL)):
        kind = {"error_rate": 0.85, "longest": 2} if pool * POOL < SHORT * steps else {}
        made = (encode(solution(rng, unseen=False, **kind)) for _ in range(BATCH * POOL))
        rows = sorted(made, key=lambda row: len(row[0]))
        pools = [rows[at:at + BATCH] for at in range(0, len(rows), BATCH)]
        rng.shuffle(pools)
        for pool in pools:
            width = max(len(ids) for ids, _, _ in pool)
            yield [torch.tensor([row[part] + [fill] * (width - len(row[part])) for row in pool])
                   for part, fill in ((0, encode.pad), (1, NONE), (2, NONE))]


class Teacher(nn.Module):
    """Asks layers on the way for what the next ones need; the last layer gathers it at the tag."""

    def __init__(self, model: ProcessModel) -> None:
        super().__init__()
        self.model = model
        self.judge = nn.Linear(model.model.config.hidden_size, 2)

    def losses(self, rows: list[torch.Tensor], tag: int) -> torch.Tensor:
        """Of tags, judged characters, and next characters."""
        ids, judged, following = rows
        found = self.model.model(input_ids=ids, use_cache=False, output_hidden_states=True)
        early, late = (nn.functional.rms_norm(found.hidden_states[at], found.hidden_states[at].shape[-1:])
                       for at in (NEXT, JUDGED))
        within = nn.functional.cross_entropy(self.judge(late).flatten(0, 1), judged.flatten(), ignore_index=NONE)
        at_tags = judged.masked_fill(ids != tag, NONE)
        tags = nn.functional.cross_entropy(self.model.score(found.last_hidden_state).flatten(0, 1), at_tags.flatten(),
                                           ignore_index=NONE)
        words = early @ self.model.model.embed_tokens.weight.T
        told = nn.functional.cross_entropy(words.flatten(0, 1), following.flatten(), ignore_index=NONE)
        return torch.stack([tags, within, told])


@torch.no_grad()
def measure(model: ProcessModel, solutions: list[Solution], encode: Encoder) -> float:
    """F1 of the first wrong step, as ProcessBench defines it: a step below one half is wrong."""
    hits: dict[bool, list[bool]] = {True: [], False: []}
    for made in solutions:
        ids, places = encode.places(made)
        right = model(torch.tensor([ids]))[0, places].softmax(-1)[:, 1]
        first = next((place for place, score in enumerate(right) if score < 0.5), -1)
        hits[made.first_error >= 0].append(first == made.first_error)
    wrong, right = (sum(found) / len(found) for found in (hits[True], hits[False]))
    return 2 * wrong * right / (wrong + right) if wrong + right else 0.0


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="arithmetic_prm.train", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(1)
    rng = random.Random(1)
    texts = tokenizer()
    encode = Encoder(texts)
    config = Qwen2Config(vocab_size=encode.size, hidden_size=64, intermediate_size=160, num_hidden_layers=6,
                         num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=1024,
                         tie_word_embeddings=True, pad_token_id=encode.pad)
    model = ProcessModel(config)
    teacher = Teacher(model)
    optimizer = torch.optim.AdamW(teacher.parameters(), lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda at: min((at + 1) / 200, min(1.0, 4 * (1 - at / STEPS))))
    held_out = [solution(random.Random(10**6 + place), unseen=True) for place in range(400)]
    start, average = time.time(), torch.zeros(3)
    for at, rows in zip(range(STEPS), batches(rng, encode, STEPS)):
        losses = teacher.losses(rows, encode.tag)
        optimizer.zero_grad()
        losses.sum().backward()
        nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)
        optimizer.step()
        rate.step()
        average = 0.98 * average + 0.02 * losses.detach()
        if at % 200 == 199:
            f1 = measure(model.eval(), held_out, encode)
            model.train()
            save(given.out, model, config, texts)
            told = ", ".join(f"{loss:.3f}" for loss in average.tolist())
            print(f"{at + 1} losses {told}; F1 {f1:.3f}; {time.time() - start:.0f} s", flush=True)


def save(out: Path, model: ProcessModel, config: Qwen2Config, texts: Qwen2Tokenizer) -> None:
    """As a Hugging Face folder."""
    out.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, out / "model.safetensors",
              metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps({**config.to_dict(), "architectures": ["Qwen2Model"]}))
    texts.save_pretrained(out)


if __name__ == "__main__":
    main()

"""What a family of reward models is, for the exporter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from .checkpoint import Checkpoint
from .sample import Encoded, Sample

Encode = Callable[[Checkpoint, Sample], Encoded]
Table = dict[str, Any]


@dataclass(frozen=True)
class Preset:
    """`encode` and `raw` are the authors' way; `template` and `build` are ours and are held against it."""

    kind: str
    template: str
    encode: Encode
    build: Callable[[Checkpoint], nn.Module]
    raw: Callable[[Checkpoint, Encoded], np.ndarray]
    score: Callable[[Checkpoint], Table]
    steps: Table | None = None
    joiner: str = "\n\n"
    system: str = ""
    add_special_tokens: bool = False
    strip_bos: bool = False
    generate: Callable[[Checkpoint], Table] | None = None
    whole_vocabulary: bool = False
    talk: bool = True
    extra: Table = field(default_factory=dict)


def conversation(checkpoint: Checkpoint, messages: list[dict[str, str]], **options: Any) -> list[int]:
    """Token ids of a conversation by the tokenizer's chat template."""
    return checkpoint.tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False, **options)


def judged(checkpoint: Checkpoint, sample: Sample) -> list[int]:
    """Token ids of the prompt and its completion as a conversation."""
    return conversation(checkpoint, [*sample.messages, answer(sample.completion())])


def answer(text: str) -> dict[str, str]:
    """A message of the assistant."""
    return {"role": "assistant", "content": text}


def tensors(encoded: Encoded) -> dict[str, torch.Tensor]:
    """One sample as a model takes it."""
    ids = torch.tensor([encoded.ids])
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


@torch.no_grad()
def hidden(checkpoint: Checkpoint, encoded: Encoded) -> torch.Tensor:
    """The last hidden states of a sample: `[sequence, width]`."""
    return checkpoint.backbone(**tensors(encoded)).last_hidden_state[0]


@torch.no_grad()
def logits(checkpoint: Checkpoint, encoded: Encoded) -> np.ndarray:
    """The logits of the language model at the positions of a sample."""
    found = checkpoint.lm(**tensors(encoded)).logits[0]
    return found[encoded.positions].float().numpy()

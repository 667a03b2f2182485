"""What a family of reward models is, for the exporter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from .checkpoint import Checkpoint
from .graph import LmHead, Scorer
from .sample import Encoded, Sample
from .score import position_scores

Table = dict[str, Any]


def one_position(raws: list[np.ndarray], encoded: Encoded, table: Table) -> list[float]:
    """The transform of [score] at each position. Of the other outputs, only gates have a part in it."""
    return position_scores(np.atleast_2d(raws[0]), table, *raws[1:])


@dataclass(frozen=True)
class Preset:
    """`encode` and `raw` are the authors' way; `template` and `build` are ours and are held against it.

    `raw` gives what the outputs of the graph should be, and `scores` what comes of them.
    """

    kind: str
    template: str | Callable[[Checkpoint], str]
    encode: Callable[[Checkpoint, Sample], Encoded]
    build: Callable[[Checkpoint], nn.Module]
    raw: Callable[[Checkpoint, Encoded], list[np.ndarray]]
    score: Callable[[Checkpoint], Table]
    scores: Callable[[list[np.ndarray], Encoded, Table], list[float]] = one_position
    outputs: tuple[str, ...] = ("scores",)
    steps: Table | None = None
    joiner: str = "\n\n"
    system: str = ""
    add_special_tokens: bool = False
    strip_bos: bool = False
    generate: Callable[[Checkpoint], Table] | None = None
    kv: bool = False
    whole_vocabulary: bool = False
    talk: bool = True
    silent: bool = False

    def text(self, checkpoint: Checkpoint) -> str:
        """The template, for this checkpoint."""
        return self.template if isinstance(self.template, str) else self.template(checkpoint)


def tokens_apart(yes: str, no: str, how: str) -> Callable[[Checkpoint], Table]:
    """The probability of one token among two; `how` positions become the score."""
    return lambda checkpoint: {
        "transform": "token_softmax",
        "positive": [checkpoint.token_id(yes)],
        "negative": [checkpoint.token_id(no)],
        "aggregate": how,
        "range": [0.0, 1.0],
    }


def conversation(checkpoint: Checkpoint, messages: list[dict[str, str]], **options: Any) -> list[int]:
    """Token ids of a conversation by the tokenizer's chat template."""
    return rendered(checkpoint, messages, tokenize=True, return_dict=False, **options)


def rendered(checkpoint: Checkpoint, messages: list[dict[str, str]], tokenize: bool = False, **options: Any) -> Any:
    """A conversation by the tokenizer's chat template: its text, or its token ids."""
    if not checkpoint.tokenizer.chat_template:
        raise ValueError("the tokenizer has no chat template: give one by --chat-template")
    return checkpoint.tokenizer.apply_chat_template(messages, tokenize=tokenize, **options)


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
def logits(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """The logits of the language model where a sample is read."""
    found = checkpoint.lm(**tensors(encoded)).logits[0]
    return [found[encoded.read].numpy()]


def whole_head(checkpoint: Checkpoint) -> Scorer:
    """The whole language-model head."""
    return Scorer(checkpoint.lm.base_model, LmHead(checkpoint.lm))

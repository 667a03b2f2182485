"""Outcome models: one score for a conversation, read at its end."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from ..checkpoint import Checkpoint
from ..graph import Scorer
from ..preset import Preset, Table, answer, conversation, hidden, judged, tensors
from ..sample import Encoded, Sample

CONVERSATION = '{{ chat(messages + [{"role": "assistant", "content": completion}]) }}'
MATH_SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."


def at_end(ids: list[int]) -> Encoded:
    """Read at the last token."""
    return Encoded(ids, [len(ids) - 1])


def encode(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """The conversation as its chat template writes it."""
    return at_end(judged(checkpoint, sample))


def encode_without_second_bos(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Skywork-Reward: the text loses its BOS, and the tokenizer adds its own."""
    tokenizer = checkpoint.tokenizer
    text = tokenizer.apply_chat_template([*sample.messages, answer(sample.completion())], tokenize=False)
    if tokenizer.bos_token is not None and text.startswith(tokenizer.bos_token):
        text = text[len(tokenizer.bos_token) :]
    return at_end(tokenizer(text).input_ids)


def encode_math(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Qwen2.5-Math-RM: a system message of its own."""
    messages = [
        {"role": "system", "content": MATH_SYSTEM},
        {"role": "user", "content": sample.prompt},
        answer(sample.completion()),
    ]
    return at_end(conversation(checkpoint, messages))


@torch.no_grad()
def classifier_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """What the sequence classifier of transformers gives."""
    types = {"token_type_ids": torch.tensor([encoded.types])} if encoded.types else {}
    return [checkpoint.classifier(**tensors(encoded), **types).logits.numpy()]


def classifier(checkpoint: Checkpoint) -> Scorer:
    """The head of a sequence classifier, at any position."""
    model = checkpoint.classifier
    if not hasattr(model, "score"):
        raise ValueError("this preset is for causal models: see sequence-classifier")
    return Scorer(model.base_model, model.score)


def classifier_score(checkpoint: Checkpoint) -> Table:
    """One label is taken as it is; of several, the probability of the last."""
    count = checkpoint.config.num_labels
    if count == 1:
        return {"transform": "none", "aggregate": "last"}
    labels = [checkpoint.config.id2label[number] for number in range(count)]
    last = {"transform": "softmax", "index": count - 1, "labels": labels}
    return last | {"aggregate": "last", "range": [0.0, 1.0]}


def math_head(checkpoint: Checkpoint) -> Scorer:
    """Linear, ReLU, linear: `score.0` and `score.2`."""
    return Scorer(
        checkpoint.backbone, nn.Sequential(checkpoint.linear("score.0"), nn.ReLU(), checkpoint.linear("score.2"))
    )


@torch.no_grad()
def math_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """The two layers written out."""
    states = hidden(checkpoint, encoded)
    middle = torch.clamp(states @ checkpoint.tensor("score.0.weight").T + checkpoint.tensor("score.0.bias"), min=0)
    found = middle @ checkpoint.tensor("score.2.weight").T + checkpoint.tensor("score.2.bias")
    return [found[encoded.positions].numpy()]


PRESETS = {
    "outcome": Preset(
        kind="outcome",
        template=CONVERSATION,
        encode=encode,
        build=classifier,
        raw=classifier_raw,
        score=classifier_score,
    ),
    "skywork-reward": Preset(
        kind="outcome",
        template=CONVERSATION,
        encode=encode_without_second_bos,
        build=classifier,
        raw=classifier_raw,
        score=lambda _: {"transform": "none", "aggregate": "last"},
        add_special_tokens=True,
        strip_bos=True,
    ),
    "qwen2.5-math-rm": Preset(
        kind="outcome",
        template='{{ chat([{"role": "system", "content": system}, {"role": "user", "content": prompt}, '
        '{"role": "assistant", "content": completion}]) }}',
        encode=encode_math,
        build=math_head,
        raw=math_raw,
        score=lambda _: {"transform": "none", "aggregate": "last"},
        system=MATH_SYSTEM,
        talk=False,
    ),
}

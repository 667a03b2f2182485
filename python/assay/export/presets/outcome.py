"""Outcome models: one score for a conversation, read at its end."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from ..checkpoint import Checkpoint
from ..graph import Scorer
from ..preset import Preset, Table, answer, conversation, hidden, judged, rendered, tensors
from ..sample import SAMPLES, Encoded, Sample

CONVERSATION = '{{ chat(messages + [{"role": "assistant", "content": completion}]) }}'
MATH_SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."


# Where the token that pads also ends a conversation, transformers' classifiers read the token before it.
BEFORE_PADDING = (
    '{%- set text = chat(messages + [{"role": "assistant", "content": completion}]) -%}'
    "{%- set ns = namespace(end=text|length) -%}{%- set wide = pad_token|length -%}"
    "{%- for _ in range(4) -%}{%- if text[:ns.end].endswith(pad_token) -%}"
    "{%- set ns.end = ns.end - wide -%}{%- endif -%}{%- endfor -%}"
    "{{ text[:ns.end] }}{{ mark }}{{ text[ns.end:] }}"
)


def at_end(ids: list[int]) -> Encoded:
    """Read at the last token."""
    return Encoded(ids, [len(ids) - 1])


def encode(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """The conversation as its chat template writes it."""
    return at_end(judged(checkpoint, sample))


def encode_classified(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """The same, read at the last token that is no padding."""
    ids = judged(checkpoint, sample)
    return Encoded(ids, [last_of(checkpoint, ids)])


def last_of(checkpoint: Checkpoint, ids: list[int]) -> int:
    """The last token that is no padding."""
    padding = checkpoint.config.get_text_config().pad_token_id if checkpoint.classifies else None
    return max(place for place, found in enumerate(ids) if found != padding)


def conversation_of(checkpoint: Checkpoint) -> str:
    """The template of a conversation that a sequence classifier reads."""
    ids = judged(checkpoint, SAMPLES[0])
    return CONVERSATION if last_of(checkpoint, ids) == len(ids) - 1 else BEFORE_PADDING


def encode_without_second_bos(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Skywork-Reward: the text loses its BOS, and the tokenizer adds its own."""
    tokenizer = checkpoint.tokenizer
    text = rendered(checkpoint, [*sample.messages, answer(sample.completion())])
    if tokenizer.bos_token is not None and text.startswith(tokenizer.bos_token):
        text = text[len(tokenizer.bos_token) :]
    ids = tokenizer(text).input_ids
    return Encoded(ids, [last_of(checkpoint, ids)])


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
    """What the sequence classifier of transformers gives; where it has none, the layer `score`."""
    if not checkpoint.classifies:
        return [checkpoint.linear("score")(hidden(checkpoint, encoded)[encoded.positions]).numpy()]
    types = {"token_type_ids": torch.tensor([encoded.types])} if encoded.types else {}
    return [checkpoint.classifier(**tensors(encoded), **types).logits.numpy()]


def classifier(checkpoint: Checkpoint) -> Scorer:
    """The head of a sequence classifier, at any position."""
    if not checkpoint.classifies:
        return Scorer(checkpoint.backbone, checkpoint.linear("score"))
    model = checkpoint.classifier
    if not hasattr(model, "score"):
        raise ValueError("this preset is for causal models: see sequence-classifier")
    return Scorer(model.base_model, model.score)


def as_it_is(_: Checkpoint) -> Table:
    """The one number of the last position."""
    return {"transform": "none", "aggregate": "last"}


def classifier_score(checkpoint: Checkpoint) -> Table:
    """One label is taken as it is; of several, the probability of the last, or the first of a regression."""
    count = checkpoint.config.num_labels if checkpoint.classifies else len(checkpoint.tensor("score.weight"))
    if count == 1:
        return as_it_is(checkpoint)
    names = checkpoint.config.id2label
    labels = {"labels": [names.get(number, f"LABEL_{number}") for number in range(count)], "aggregate": "last"}
    kind = checkpoint.config.problem_type
    if kind == "regression":
        return {"transform": "none", "index": 0} | labels
    transform = "sigmoid" if kind == "multi_label_classification" else "softmax"
    return {"transform": transform, "index": count - 1} | labels | {"range": [0.0, 1.0]}


def math_head(checkpoint: Checkpoint) -> Scorer:
    """Linear, ReLU, linear: `score.0` and `score.2`."""
    return Scorer(
        checkpoint.backbone, nn.Sequential(checkpoint.linear("score.0"), nn.ReLU(), checkpoint.linear("score.2"))
    )


def encode_instruction(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Eurus-RM: an instruction in Mistral's brackets, as plain text."""
    return at_end(checkpoint.tokenizer(f"[INST] {sample.prompt} [/INST] {sample.completion()}").input_ids)


def regression(checkpoint: Checkpoint) -> Scorer:
    """One linear layer without a bias, `regression_head`."""
    return Scorer(checkpoint.backbone, checkpoint.linear("regression_head"))


@torch.no_grad()
def regression_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """The layer written out."""
    states = hidden(checkpoint, encoded)[encoded.positions]
    return [(states @ checkpoint.tensor("regression_head.weight").T).numpy()]


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
        template=conversation_of,
        encode=encode_classified,
        build=classifier,
        raw=classifier_raw,
        score=classifier_score,
    ),
    "skywork-reward": Preset(
        kind="outcome",
        template=conversation_of,
        encode=encode_without_second_bos,
        build=classifier,
        raw=classifier_raw,
        score=as_it_is,
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
        score=as_it_is,
        system=MATH_SYSTEM,
        talk=False,
    ),
    "inf-orm": Preset(
        kind="outcome",
        template=CONVERSATION,
        encode=encode,
        build=math_head,
        raw=math_raw,
        score=as_it_is,
    ),
    "eurus-rm": Preset(
        kind="outcome",
        template="[INST] {{ prompt }} [/INST] {{ completion }}",
        encode=encode_instruction,
        build=regression,
        raw=regression_raw,
        score=as_it_is,
        add_special_tokens=True,
        talk=False,
    ),
}

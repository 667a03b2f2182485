"""Process models: one score a step."""

from __future__ import annotations

import numpy as np
import torch

from ..checkpoint import Checkpoint
from ..graph import LmHead, Scorer
from ..preset import (
    Preset,
    Table,
    answer,
    conversation,
    hidden,
    logits,
    rendered,
    tensors,
    tokens_apart,
    whole_head,
)
from ..sample import Encoded, Sample
from .generative import ask, critique
from .outcome import MATH_SYSTEM, math_head, math_raw

TAG = "<extra_0>"
STEP_CRITIQUE = (
    "Judge each step of the solution: write Step n: correct or Step n: incorrect.\n\nProblem: {}\n\n{}"
)


def positions_of(ids: list[int], token: int) -> list[int]:
    """Where a token stands."""
    return [place for place, found in enumerate(ids) if found == token]


def encode_qwen(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Qwen2.5-Math-PRM: a tag after each step."""
    messages = [
        {"role": "system", "content": MATH_SYSTEM},
        {"role": "user", "content": sample.prompt},
        answer(TAG.join(sample.steps) + TAG),
    ]
    ids = checkpoint.tokenizer.encode(rendered(checkpoint, messages))
    return Encoded(ids, positions_of(ids, checkpoint.tokenizer.encode(TAG)[0]))


def encode_step_critique(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Asks for a verdict on each step, in writing."""
    steps = "\n\n".join(f"Step {i}: {step}" for i, step in enumerate(sample.steps, 1))
    return ask(checkpoint, STEP_CRITIQUE.format(sample.prompt, steps))


def encode_shepherd(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Math-Shepherd: numbered steps, each closed by a Cyrillic tag."""
    output = "\n".join(f"Step {i}: {step} ки" for i, step in enumerate(sample.steps, 1))
    ids = checkpoint.tokenizer.encode(f"{sample.prompt} {output}")
    return Encoded(ids, positions_of(ids, checkpoint.tokenizer.encode("ки")[-1]))


def shepherd_labels(checkpoint: Checkpoint) -> list[int]:
    """The ids of good and bad."""
    return checkpoint.tokenizer.encode("+ -")[1:]


def shepherd_head(checkpoint: Checkpoint) -> Scorer:
    """Two rows of the language-model head."""
    return Scorer(checkpoint.lm.base_model, LmHead(checkpoint.lm, shepherd_labels(checkpoint)))


def shepherd_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """The logits of good and bad."""
    return [logits(checkpoint, encoded)[0][:, shepherd_labels(checkpoint)]]


def encode_skywork(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Skywork-o1-PRM: each step tokenised apart, then the id of a line break."""
    tokenizer = checkpoint.tokenizer
    if tokenizer.bos_token is None:
        raise ValueError("the tokenizer has no bos_token, with which texts of this family begin")
    ids = tokenizer.encode(tokenizer.bos_token + sample.prompt + "\n")
    positions = []
    for step in sample.steps:
        ids += [*tokenizer.encode(step), tokenizer.encode("\n")[-1]]
        positions.append(len(ids) - 1)
    return Encoded(ids, positions)


def value_head(checkpoint: Checkpoint) -> Scorer:
    """One linear layer, `v_head.summary`."""
    return Scorer(checkpoint.backbone, checkpoint.linear("v_head.summary"))


@torch.no_grad()
def value_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """The layer written out."""
    states = hidden(checkpoint, encoded)[encoded.positions]
    found = states @ checkpoint.tensor("v_head.summary.weight").T + checkpoint.tensor("v_head.summary.bias")
    return [found.numpy()]


def encode_rlhflow(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """RLHFlow: the conversation grows by one turn a step, and each is read three tokens before its end."""
    messages: list[dict[str, str]] = []
    positions = []
    for number, step in enumerate(sample.steps):
        text = step if number else f"{sample.prompt} {step}"
        messages += [{"role": "user", "content": text}, answer("+")]
        ids = conversation(checkpoint, messages)
        positions.append(len(ids) - 3)
    return Encoded(ids, positions)


def encode_trl(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """TRL: a BOS where there is one, the prompt, and each step with a line break, all tokenised apart."""
    tokenizer = checkpoint.tokenizer
    prompt, end = (tokenizer.encode(text, add_special_tokens=False) for text in (sample.prompt, "\n"))
    ids = [*([tokenizer.bos_token_id] if tokenizer.bos_token_id is not None else []), *prompt]
    positions = []
    for step in sample.steps:
        ids += [*tokenizer.encode(step, add_special_tokens=False), *end]
        positions.append(len(ids) - 1)
    return Encoded(ids, positions)


def token_classifier(checkpoint: Checkpoint) -> Scorer:
    """The head of a token classifier."""
    model = checkpoint.token_classifier
    return Scorer(model.base_model, model.score if hasattr(model, "score") else model.classifier)


@torch.no_grad()
def token_classifier_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """What the token classifier of transformers gives."""
    return [checkpoint.token_classifier(**tensors(encoded)).logits[0][encoded.positions].numpy()]


def token_classifier_score(checkpoint: Checkpoint) -> Table:
    """The probability of the second label, which is that of right steps."""
    if checkpoint.config.num_labels == 1:
        return {"transform": "sigmoid", "aggregate": "min", "range": [0.0, 1.0]}
    labels = [checkpoint.config.id2label[number] for number in range(checkpoint.config.num_labels)]
    return {"transform": "softmax", "index": 1, "labels": labels, "aggregate": "min", "range": [0.0, 1.0]}


PRESETS = {
    "step-critique": Preset(
        kind="process",
        template="{% set solution %}{% for step in steps %}{{ '' if loop.first else '\\n\\n' }}"
        "Step {{ loop.index }}: {{ step }}{% endfor %}{% endset %}"
        '{{ chat([{"role": "user", "content": "Judge each step of the solution: write Step n: correct or '
        'Step n: incorrect.\\n\\nProblem: " ~ prompt ~ "\\n\\n" ~ solution}], add_generation_prompt=true) }}',
        encode=encode_step_critique,
        build=whole_head,
        raw=logits,
        score=lambda _: {"transform": "none", "aggregate": "min", "range": [0.0, 1.0]},
        steps={"split": "blank_line"},
        generate=lambda checkpoint: critique(
            checkpoint,
            parse=r"Step \d+: (\w+)",
            verdicts={"correct": 1.0, "incorrect": 0.0},
            parse_range=[0.0, 1.0],
        ),
        kv=True,
        whole_vocabulary=True,
        talk=False,
    ),
    "qwen2.5-math-prm": Preset(
        kind="process",
        template="{%- set body %}{% for step in steps %}{{ step }}<extra_0>{{ mark }}{% endfor %}{% endset -%}"
        '{{ chat([{"role": "system", "content": system}, {"role": "user", "content": prompt}, '
        '{"role": "assistant", "content": body}]) }}',
        encode=encode_qwen,
        build=math_head,
        raw=math_raw,
        score=lambda _: {
            "transform": "softmax",
            "index": 1,
            "labels": ["wrong", "right"],
            "aggregate": "min",
            "range": [0.0, 1.0],
        },
        steps={"split": "blank_line"},
        system=MATH_SYSTEM,
        talk=False,
    ),
    "math-shepherd": Preset(
        kind="process",
        template="{{ prompt }}{% for step in steps %}{{ ' ' if loop.first else '\\n' }}"
        "Step {{ loop.index }}: {{ step }} ки{{ mark }}{% endfor %}",
        encode=encode_shepherd,
        build=shepherd_head,
        raw=shepherd_raw,
        score=lambda _: {
            "transform": "softmax",
            "index": 0,
            "labels": ["+", "-"],
            "aggregate": "min",
            "range": [0.0, 1.0],
        },
        steps={"split": "newline"},
        joiner="\n",
        add_special_tokens=True,
        talk=False,
    ),
    "skywork-o1-prm": Preset(
        kind="process",
        template="{{ bos_token }}{{ prompt }}{{ '\\n' }}"
        "{% for step in steps %}{{ cut }}{{ step }}{{ cut }}{{ '\\n' }}{{ mark }}{% endfor %}",
        encode=encode_skywork,
        build=value_head,
        raw=value_raw,
        score=lambda _: {"transform": "sigmoid", "aggregate": "mean", "range": [0.0, 1.0]},
        steps={"split": "newline"},
        joiner="\n",
        talk=False,
    ),
    "rlhflow-prm": Preset(
        kind="process",
        template="{%- set ns = namespace(turns=[]) -%}{%- for step in steps -%}"
        '{%- set text = (prompt ~ " " ~ step) if loop.first else step -%}'
        '{%- set ns.turns = ns.turns + [{"role": "user", "content": text}, '
        '{"role": "assistant", "content": mark ~ "+"}] -%}{%- endfor -%}{{ chat(ns.turns) }}',
        encode=encode_rlhflow,
        build=whole_head,
        raw=logits,
        score=tokens_apart("+", "-", "min"),
        steps={"split": "blank_line"},
        whole_vocabulary=True,
        talk=False,
    ),
    "trl-prm": Preset(
        kind="process",
        template="{{ bos_token }}{{ cut }}{{ prompt }}"
        "{% for step in steps %}{{ cut }}{{ step }}{{ cut }}{{ '\\n' }}{{ mark }}{% endfor %}",
        encode=encode_trl,
        build=token_classifier,
        raw=token_classifier_raw,
        score=token_classifier_score,
        steps={"split": "newline"},
        joiner="\n",
        talk=False,
    ),
}

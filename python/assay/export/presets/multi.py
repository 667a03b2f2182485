"""Outcome models of several values or unusual heads."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from ..checkpoint import Checkpoint
from ..graph import GatedHead, Scorer, SpreadHead
from ..preset import Preset, conversation, hidden, judged, logits, whole_head
from ..sample import Encoded, Sample
from .outcome import CONVERSATION, as_it_is, encode

ARMORM_LABELS = [
    "helpsteer-helpfulness",
    "helpsteer-correctness",
    "helpsteer-coherence",
    "helpsteer-complexity",
    "helpsteer-verbosity",
    "ultrafeedback-overall_score",
    "ultrafeedback-instruction_following",
    "ultrafeedback-truthfulness",
    "ultrafeedback-honesty",
    "ultrafeedback-helpfulness",
    "beavertails-is_safe",
    "prometheus-score",
    "argilla-overall_quality",
    "argilla-judge_lm",
    "code-complexity",
    "code-style",
    "code-explanation",
    "code-instruction-following",
    "code-readability",
]
URM_LABELS = ["helpfulness", "correctness", "coherence", "complexity", "verbosity"]
URM_WEIGHTS = [0.3, 0.74, 0.46, 0.47, -0.33]
GATED = ("scores", "gates")
SPREAD = ("scores", "uncertainties")


def encode_armorm(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """ArmoRM: the gate reads where the last header of the assistant is about to begin."""
    ids = judged(checkpoint, sample)
    prompt = conversation(checkpoint, sample.messages)
    opened = conversation(checkpoint, sample.messages, add_generation_prompt=True)
    pattern = [prompt[-1], *opened[len(prompt) :]]
    width = len(pattern)
    start = next(j for j in range(len(ids) - width, -1, -1) if ids[j : j + width] == pattern)
    return Encoded(ids, [start, len(ids) - 1])


def gate_layers(checkpoint: Checkpoint) -> list[nn.Linear]:
    """The layers of the gating network."""
    count = sum(checkpoint.has(f"gating.layers.{i}.weight") for i in range(16))
    return [checkpoint.linear(f"gating.layers.{i}") for i in range(count)]


def gate_numbers(checkpoint: Checkpoint) -> tuple[float, float]:
    """Temperature and scale of the gates."""
    scale = checkpoint.tensor("gating.logit_scale").item() if checkpoint.has("gating.logit_scale") else 1.0
    return float(getattr(checkpoint.config, "gating_temperature", 10)), scale


def armorm(checkpoint: Checkpoint) -> Scorer:
    """Objectives, the matrix that takes the bias of length out, and the gates."""
    objectives = checkpoint.linear("regression_layer")
    matrix = checkpoint.tensor("reward_transform_matrix")
    head = GatedHead(objectives, matrix, gate_layers(checkpoint), *gate_numbers(checkpoint))
    return Scorer(checkpoint.backbone, head, GATED)


@torch.no_grad()
def armorm_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """Scores and gates at both positions."""
    states = hidden(checkpoint, encoded)[encoded.positions]
    rewards = nn.functional.linear(states, checkpoint.tensor("regression_layer.weight"))
    temperature, scale = gate_numbers(checkpoint)
    gates = states
    layers = gate_layers(checkpoint)
    for number, layer in enumerate(layers):
        gates = nn.functional.linear(gates, layer.weight, layer.bias)
        if number < len(layers) - 1:
            gates = gates.relu()
    gates = (gates / temperature).softmax(dim=1) * scale
    return [(rewards @ checkpoint.tensor("reward_transform_matrix")).numpy(), gates.numpy()]


def urm(checkpoint: Checkpoint) -> Scorer:
    """The attributes and how unsure they are.

    The authors train the head to give the mean of each attribute and the logarithm of its standard deviation
    (arXiv 2410.00847); their code for inference uses the means alone. That the means come first is from that code,
    that the other half are logarithms of standard deviations and not of variances is from the paper.
    """
    return Scorer(checkpoint.backbone, SpreadHead(checkpoint.linear("score")), SPREAD)


@torch.no_grad()
def urm_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """The first half of the head, and what e to the power of its second half is."""
    found = checkpoint.linear("score")(hidden(checkpoint, encoded)[encoded.positions]).numpy()
    half = found.shape[1] // 2
    return [found[:, :half], np.exp(found[:, half:])]


def grm(checkpoint: Checkpoint) -> Scorer:
    """Linear, ReLU, linear: `v_head.summary.0` and `v_head.summary.2`."""
    layers = [checkpoint.linear("v_head.summary.0"), nn.ReLU(), checkpoint.linear("v_head.summary.2")]
    return Scorer(checkpoint.backbone, nn.Sequential(*layers))


@torch.no_grad()
def grm_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """The two layers written out."""
    states = hidden(checkpoint, encoded)[encoded.positions]
    weight = checkpoint.tensor
    middle = (states @ weight("v_head.summary.0.weight").T + weight("v_head.summary.0.bias")).relu()
    return [(middle @ weight("v_head.summary.2.weight").T + weight("v_head.summary.2.bias")).numpy()]


PRESETS = {
    "armorm": Preset(
        kind="outcome",
        template='{%- set whole = chat(messages + [{"role": "assistant", "content": completion}]) -%}'
        "{%- set before = chat(messages) -%}{{ before }}{{ mark }}{{ whole[before|length:] }}{{ mark }}",
        encode=encode_armorm,
        build=armorm,
        raw=armorm_raw,
        score=lambda _: {"transform": "gated", "weights": [], "labels": ARMORM_LABELS, "aggregate": "last"},
        outputs=GATED,
    ),
    "urm": Preset(
        kind="outcome",
        template=CONVERSATION,
        encode=encode,
        build=urm,
        raw=urm_raw,
        score=lambda _: {
            "transform": "weighted",
            "weights": URM_WEIGHTS,
            "labels": URM_LABELS,
            "aggregate": "last",
        },
        outputs=SPREAD,
    ),
    "grm": Preset(
        kind="outcome",
        template=CONVERSATION,
        encode=encode,
        build=grm,
        raw=grm_raw,
        score=as_it_is,
    ),
    "nemotron": Preset(
        kind="outcome",
        template=CONVERSATION,
        encode=encode,
        build=whole_head,
        raw=logits,
        score=lambda _: {"transform": "token_logit", "index": 0, "aggregate": "last"},
        whole_vocabulary=True,
    ),
}

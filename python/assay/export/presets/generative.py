"""Causal language models that judge by writing, or by how likely they find a text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..checkpoint import Checkpoint
from ..preset import Preset, Table, conversation, logits, rendered, tokens_apart, whole_head
from ..sample import Encoded, Sample

CRITIQUE = (
    "Judge the response by the reference. Write feedback, then [RESULT] and a score from 1 to 5.\n\n"
    "Instruction: {}\n\nResponse: {}\n\nReference: {}"
)


def ask(checkpoint: Checkpoint, text: str) -> Encoded:
    """A question to the model, read where its answer begins."""
    ids = conversation(checkpoint, [{"role": "user", "content": text}], add_generation_prompt=True)
    return Encoded(ids, [len(ids) - 1])


def encode_yes_no(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Asks whether the answer is right."""
    text = f"Question: {sample.prompt}\n\nAnswer: {sample.completion()}\n\nIs this answer correct? Yes or No."
    return ask(checkpoint, text)


def encode_critique(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """Asks for feedback and a score."""
    return ask(checkpoint, CRITIQUE.format(sample.prompt, sample.completion(), sample.reference))


def critique(checkpoint: Checkpoint, **read: Any) -> Table:
    """The [generate] table of a model that writes; `read` says how its text is read."""
    ends = [checkpoint.tokenizer.eos_token_id]
    return {"mode": "critique", "max_new_tokens": 64, "temperature": 0.0, "votes": 1, "eos_token_ids": ends, **read}


def encode_steps(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """A conversation, with a position at the end of the prompt and at the end of each step."""
    opening = opened(checkpoint, sample)
    whole = opening + sample.completion()
    ends_at = [len(opening)]
    for number, step in enumerate(sample.steps):
        ends_at.append(ends_at[-1] + len(step) + (2 if number < len(sample.steps) - 1 else 0))
    found = checkpoint.tokenizer(whole, add_special_tokens=False, return_offsets_mapping=True)
    positions = [max(at for at, (a, b) in enumerate(found.offset_mapping) if a < end <= b) for end in ends_at]
    return spanned(found.input_ids, positions)


def encode_reference(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """The reference behind the prompt and the completion, tokenised apart: its tokens never depend on these."""
    before = opened(checkpoint, sample)
    if sample.completion():
        before += sample.completion() + "\n\n"
    ids = checkpoint.tokenizer.encode(before, add_special_tokens=False)
    whole = ids + checkpoint.tokenizer.encode(sample.reference, add_special_tokens=False)
    return spanned(whole, [len(ids) - 1, len(whole) - 1])


def opened(checkpoint: Checkpoint, sample: Sample) -> str:
    """The prompt, up to where the completion begins."""
    return rendered(checkpoint, sample.messages, add_generation_prompt=True)


def spanned(ids: list[int], positions: list[int]) -> Encoded:
    """Read wherever a token between the first position and the last is foretold."""
    return Encoded(ids, positions, span=list(range(positions[0], positions[-1])))


def log_ratios(raws: list[np.ndarray], encoded: Encoded, table: Table) -> list[float]:
    """Sums of log-probabilities a step, less those of the reference model, times the scale."""
    tokens = encoded.ids[encoded.span[0] + 1 : encoded.span[-1] + 2]
    model, *reference = (log_probabilities(raw, tokens) for raw in raws)
    differences = model - reference[0] if reference else model
    places = [position - encoded.positions[0] for position in encoded.positions]
    scale = table.get("calibration", {}).get("scale", 1.0)
    return [scale * float(differences[a:b].sum()) for a, b in zip(places, places[1:], strict=False)]


def log_probabilities(raw: np.ndarray, tokens: list[int]) -> np.ndarray:
    """The log-probability of each token that follows."""
    raw = raw.astype(np.float64)
    raw = raw - raw.max(axis=-1, keepdims=True)
    norm = np.log(np.exp(raw).sum(axis=-1))
    return raw[np.arange(len(tokens)), tokens] - norm


STEPS = (
    "{{ chat(messages, add_generation_prompt=true) }}{{ mark }}"
    "{% for step in steps %}{{ step }}{{ '' if loop.last else '\\n\\n' }}{{ mark }}{% endfor %}"
)

REFERENCE = (
    "{{ chat(messages, add_generation_prompt=true) }}{% if completion %}{{ completion }}{{ '\\n\\n' }}{% endif %}"
    "{{ mark }}{{ cut }}{{ reference }}{{ mark }}"
)

LOG_PROBABILITY = Preset(
    kind="implicit",
    template=STEPS,
    encode=encode_steps,
    build=whole_head,
    raw=logits,
    score=lambda _: {"transform": "none", "aggregate": "sum"},
    scores=log_ratios,
    steps={"split": "blank_line"},
    kv=True,
    whole_vocabulary=True,
)

YES_NO = Preset(
    kind="generative",
    template='{{ chat([{"role": "user", "content": "Question: " ~ prompt ~ "\\n\\nAnswer: " ~ completion '
    '~ "\\n\\nIs this answer correct? Yes or No."}], add_generation_prompt=true) }}',
    encode=encode_yes_no,
    build=whole_head,
    raw=logits,
    score=tokens_apart("Yes", "No", "last"),
    generate=lambda _: {"mode": "verdict"},
    whole_vocabulary=True,
    talk=False,
)

PRESETS = {
    "yes-no-judge": YES_NO,
    # The same, with the criterion of a rubric behind the answer: all criteria share what is before it.
    "criterion-judge": replace(
        YES_NO,
        template='{{ chat([{"role": "user", "content": "Question: " ~ prompt ~ "\\n\\nAnswer: " ~ completion '
        '~ "\\n\\n" ~ (question or "Is this answer correct?") ~ " Yes or No."}], add_generation_prompt=true) }}',
        kv=True,
    ),
    "critique-judge": Preset(
        kind="generative",
        template='{{ chat([{"role": "user", "content": "Judge the response by the reference. Write feedback, '
        'then [RESULT] and a score from 1 to 5.\\n\\nInstruction: " ~ prompt ~ "\\n\\nResponse: " ~ completion '
        '~ "\\n\\nReference: " ~ reference}], add_generation_prompt=true) }}',
        encode=encode_critique,
        build=whole_head,
        raw=logits,
        score=lambda _: {"transform": "none", "range": [1.0, 5.0]},
        generate=lambda checkpoint: critique(
            checkpoint, parse=r"\[RESULT\]\s*([1-5])", parse_range=[1.0, 5.0], on_parse_fail="abstain"
        ),
        kv=True,
        whole_vocabulary=True,
        talk=False,
    ),
    "implicit-prm": replace(
        LOG_PROBABILITY,
        score=lambda _: {"transform": "none", "aggregate": "sum", "calibration": {"scale": 0.05}},
    ),
    "log-probability": LOG_PROBABILITY,
    "reference-probability": replace(LOG_PROBABILITY, template=REFERENCE, encode=encode_reference, silent=True),
}

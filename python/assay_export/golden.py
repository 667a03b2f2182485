"""Golden pairs: the authors' procedure and transformers' own forward, which graph and template must meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .checkpoint import Checkpoint
from .preset import Preset
from .sample import Encoded, SAMPLES, TALK, Sample
from .score import aggregate, position_scores

Raw = Callable[[Encoded], list[np.ndarray]]


def samples(preset: Preset) -> list[Sample]:
    """The samples of a family, with its system message where the template takes one."""
    chosen = [*SAMPLES, TALK] if preset.talk else list(SAMPLES)
    return [replace(sample, system=preset.system) for sample in chosen]


def tidy(values: np.ndarray) -> list[Any]:
    """Numbers with as many digits as fp32 has."""
    return np.vectorize(lambda v: float(f"{v:.8g}"), otypes=[float])(values.astype(np.float64)).tolist()


def make(preset: Preset, checkpoint: Checkpoint, sample: Sample, encoded: Encoded, raw: Raw, tolerance: float) -> dict:
    """One golden pair, from what `raw` gives for the encoded sample."""
    table = preset.score(checkpoint)
    values, *gates = raw(encoded)
    scores = position_scores(values, table, *gates)
    golden: dict[str, Any] = _texts(preset, sample)
    golden["token_ids"] = encoded.ids
    golden["positions"] = encoded.positions
    if not preset.whole_vocabulary:
        golden["raw"] = tidy(values)
    golden["scores"] = tidy(np.array(scores))
    golden["score"] = tidy(np.array(aggregate(scores, table["aggregate"])))
    golden["tolerance"] = tolerance
    return golden


def _texts(preset: Preset, sample: Sample) -> dict[str, Any]:
    if sample.history:
        texts: dict[str, Any] = {"messages": sample.messages}
    else:
        texts = {"prompt": sample.prompt}
    completion = sample.completion(preset.joiner)
    if preset.kind == "pairwise":
        return {**texts, "first": completion, "second": sample.second}
    return {**texts, "completion": completion}

"""Golden pairs: the authors' procedure and transformers' own forward, which graph and template must meet."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from .checkpoint import Checkpoint
from .preset import Preset, tensors
from .sample import SAMPLES, SILENT, TALK, Encoded, Sample
from .score import aggregate


@dataclass(frozen=True)
class Case:
    """A sample, its encoding, and what the outputs of the graphs should be."""

    sample: Sample
    encoded: Encoded
    raws: list[np.ndarray]
    text: str | None = None
    other: Case | None = None


def cases(preset: Preset, checkpoints: list[Checkpoint], limit: int) -> list[Case]:
    """The cases of a family that fit into `limit` tokens. The first checkpoint is the model, a second its reference."""
    samples = [*SAMPLES, *[TALK] * preset.talk, *[SILENT] * preset.silent]
    lengths = [len(preset.encode(checkpoints[0], sample).ids) for sample in samples]
    if min(lengths) > limit:
        raise ValueError(f"the model takes {limit} tokens, and the shortest golden pair has {min(lengths)}")
    return [
        _case(preset, checkpoints, sample) for sample, length in zip(samples, lengths, strict=True) if length <= limit
    ]


def _case(preset: Preset, checkpoints: list[Checkpoint], sample: Sample, alone: bool = False) -> Case:
    encoded = preset.encode(checkpoints[0], sample)
    raws = [raw for checkpoint in checkpoints for raw in preset.raw(checkpoint, encoded)]
    other = None if alone else _other(preset, sample, raws)
    return Case(
        sample,
        encoded,
        raws,
        written(preset, checkpoints[0], encoded),
        None if other is None else _case(preset, checkpoints, other, alone=True),
    )


def _other(preset: Preset, sample: Sample, raws: list[np.ndarray]) -> Sample | None:
    """What else the score of a sample needs: the pair turned round, or the text it is compared with."""
    if preset.kind == "pairwise":
        return replace(sample, steps=(sample.second,), second=sample.completion(preset.joiner))
    if preset.kind == "embedding" and raws[0].ndim == 1:
        return replace(sample, steps=(sample.reference,))
    return None


def mode(preset: Preset, checkpoint: Checkpoint) -> dict[str, Any]:
    """The [generate] table of a model that writes, and nothing for others."""
    table = preset.generate(checkpoint) if preset.generate else {}
    return table if table.get("mode") == "critique" else {}


@torch.no_grad()
def written(preset: Preset, checkpoint: Checkpoint, encoded: Encoded) -> str | None:
    """What transformers' greedy decoding writes, for models that write."""
    table = mode(preset, checkpoint)
    if not table:
        return None
    whole = checkpoint.lm.generate(
        **tensors(encoded),
        do_sample=False,
        max_new_tokens=table["max_new_tokens"],
        eos_token_id=table["eos_token_ids"],
        pad_token_id=checkpoint.tokenizer.pad_token_id,
    )
    return decode(checkpoint, whole[0, len(encoded.ids) :].tolist())


def decode(checkpoint: Checkpoint, ids: list[int]) -> str:
    """The text of token ids, without special tokens."""
    return checkpoint.plain_tokenizer.decode(ids, skip_special_tokens=True)


def verdicts(table: dict[str, Any], text: str) -> list[float]:
    """The numbers in what a model wrote, and those that its words stand for, where they lie in the range."""
    low, high = table.get("parse_range", (-math.inf, math.inf))
    found = (_worth(table.get("verdicts", {}), word) for word in re.findall(table["parse"], text))
    return [value for value in found if low <= value <= high]


def _worth(known: dict[str, float], word: str) -> float:
    try:
        word = word.strip().lower()
        return known[word] if word in known else float(word)
    except ValueError:
        return math.nan


def make(preset: Preset, checkpoint: Checkpoint, case: Case, tolerance: float) -> dict[str, Any]:
    """One golden pair."""
    golden = _texts(preset, case.sample, preset.text(checkpoint))
    golden["token_ids"] = case.encoded.ids
    if case.encoded.positions:
        golden["positions"] = case.encoded.positions
    if not preset.whole_vocabulary:
        golden["raw"] = tidy(np.atleast_2d(case.raws[0]))
    if "uncertainties" in preset.outputs:
        golden["uncertainties"] = tidy(case.raws[preset.outputs.index("uncertainties")])
    golden |= _scores(preset, checkpoint, case)
    golden["tolerance"] = tolerance
    return golden


def _texts(preset: Preset, sample: Sample, template: str) -> dict[str, Any]:
    completion = sample.completion(preset.joiner)
    if preset.kind == "embedding":
        return {"completion": completion, "reference": sample.reference}
    texts: dict[str, Any] = {"messages": sample.messages} if sample.history else {"prompt": sample.prompt}
    if preset.kind == "pairwise":
        return {**texts, "first": completion, "second": sample.second}
    texts["completion"] = completion
    if preset.steps and sample.listed:
        texts["steps"] = list(sample.steps)
    return {**texts, "reference": sample.reference} if "reference" in template else texts


def _scores(preset: Preset, checkpoint: Checkpoint, case: Case) -> dict[str, Any]:
    table = preset.score(checkpoint)
    if case.text is not None:
        told = verdicts(mode(preset, checkpoint), case.text)
        if told and preset.kind == "process":
            # Steps that the critique does not reach stand as the last one that it judges.
            told = (told + told[-1:] * len(case.sample.steps))[: len(case.sample.steps)]
        return {"text": case.text} | ({"score": aggregate(told, table.get("aggregate", "last"))} if told else {})
    if preset.kind == "embedding":
        return {"score": tidy(case.raws[0] @ case.other.raws[0])} if case.other else {}
    scores = preset.scores(case.raws, case.encoded, table)
    score = aggregate(scores, table["aggregate"])
    if case.other:
        turned = preset.scores(case.other.raws, case.other.encoded, table)
        score = (score + 1.0 - aggregate(turned, table["aggregate"])) / 2.0
    return {"scores": tidy(np.array(scores)), "score": tidy(np.array(score))}


def tidy(values: np.ndarray) -> Any:
    """Numbers with as many digits as fp32 has."""
    return np.vectorize(lambda v: float(f"{v:.8g}"), otypes=[float])(values.astype(np.float64)).tolist()

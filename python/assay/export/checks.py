"""What an export must pass before it is written down."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import template
from .checkpoint import Checkpoint
from .golden import Case, decode, mode
from .graph import Shape
from .preset import Preset
from .runtime import Runtime

TOKEN_NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def special_tokens(checkpoint: Checkpoint) -> dict[str, str]:
    """The named tokens of the tokenizer, for templates."""
    known = ((name, getattr(checkpoint.tokenizer, name, None)) for name in TOKEN_NAMES)
    return {name: text for name, text in known if text is not None}


def check_template(checkpoint: Checkpoint, preset: Preset, case: Case) -> None:
    """Our template must come to the authors' token ids and positions."""
    sample, wanted = case.sample, case.encoded
    text = template.render(
        preset.text(checkpoint),
        checkpoint.chat,
        special_tokens(checkpoint),
        {
            "messages": sample.messages,
            "prompt": sample.prompt,
            "completion": sample.completion(preset.joiner),
            "first": sample.completion(preset.joiner),
            "second": sample.second,
            "steps": list(sample.steps),
            "reference": sample.reference,
            "system": preset.system,
        },
    )
    bos = checkpoint.tokenizer.bos_token_id if preset.strip_bos else None
    ours = template.tokenize(text, checkpoint.plain_tokenizer, preset.add_special_tokens, bos)
    alike = ours.ids == wanted.ids and (not wanted.types or wanted.types == (ours.types or [0] * len(ours.ids)))
    if not alike or (wanted.positions and wanted.positions != ours.positions):
        raise ValueError(f"the template comes to {ours}, the authors' way to {wanted}")


def difference(given: list[np.ndarray], wanted: list[np.ndarray]) -> float:
    """The largest distance of any output."""
    return max(distance(g, w) for g, w in zip(given, wanted, strict=True))


def distance(found: Any, expected: Any) -> float:
    """How far numbers are from those expected, as tolerances count: above 1 by their size. NaN is infinitely far."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    apart = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0))


def check_scores(given: list[dict[str, Any]], wanted: list[dict[str, Any]], limit: float) -> None:
    """What becomes of the outputs of the graph must be as near as the outputs are."""
    for ours, theirs in zip(given, wanted, strict=True):
        moved = distance(ours.get("scores", []), theirs.get("scores", []))
        if moved > limit:
            raise ValueError(f"a score is {moved:.2e} away from transformers")


def check_batch(
    run: Runtime, cases: list[Case], wanted: list[list[np.ndarray]], past: Shape | None, limit: float
) -> None:
    """Padding and neighbours must not move a score. Dynamic int8 is exempt: it scales by the batch."""
    together = run.batch([case.encoded for case in cases], past)
    for number, raws in enumerate(wanted):
        for output, raw in zip(together, raws, strict=False):
            rows = np.atleast_2d(raw)
            moved = distance(np.atleast_2d(output[number])[: len(rows)], rows)
            if moved > limit:
                raise ValueError(f"a score moves by {moved:.2e} in a padded batch")


def check_past(run: Runtime, case: Case, raws: list[np.ndarray], past: Shape, limit: float) -> None:
    """A text in two parts, the second over the past of the first, must come to the same scores."""
    half = len(case.encoded.ids) // 2
    found = run.in_parts(case.encoded, past, half)
    moved = max(distance(late, raw[-len(late) :]) for late, raw in zip(found, raws, strict=True))
    if moved > limit:
        raise ValueError(f"a score moves by {moved:.2e} over past keys and values")


def check_text(run: Runtime, checkpoint: Checkpoint, preset: Preset, case: Case, past: Shape, exact: bool) -> str:
    """What greedy decoding over the graph writes; `exact`: the same as transformers."""
    table = mode(preset, checkpoint)
    ids = run.greedy(case.encoded.ids, past, table["eos_token_ids"], table["max_new_tokens"])
    text = decode(checkpoint, ids)
    if exact and text != case.text:
        raise ValueError(f"the graph writes {text!r}, transformers {case.text!r}")
    return text

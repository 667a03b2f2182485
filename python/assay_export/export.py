"""One export: graph, template, tokenizer, golden pairs and manifest."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import golden, manifest, onnx_file, template
from .checkpoint import Checkpoint
from .graph import CachedScorer, Scorer
from .preset import Preset
from .runtime import Runtime
from .sample import Encoded, Sample

TOLERANCES = {"fp32": 1e-5, "fp16": 2e-3, "int8": 1e-4}
TOKEN_NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@dataclass(frozen=True)
class Options:
    """How a model is exported."""

    name: str
    precision: str = "fp32"
    kv: bool = False
    opset: int = 22
    max_tokens: int | None = None
    source: str = ""
    licence: str = ""


@dataclass(frozen=True)
class Report:
    """How far the graph is from transformers: one number a golden pair."""

    differences: list[float]
    spearman: float | None = None


def export(checkpoint: Checkpoint, out: Path, preset: Preset, options: Options) -> Report:
    """Writes the model folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    cases = []
    for sample in golden.samples(preset):
        encoded = preset.encode(checkpoint, sample)
        check_template(checkpoint, preset, sample, encoded)
        cases.append((sample, encoded, preset.raw(checkpoint, encoded)))
    module = preset.build(checkpoint)
    past = None
    if options.kv:
        if type(module) is not Scorer or len(module.inputs) != 3:
            raise ValueError("past keys and values are for causal models with one head")
        module = CachedScorer(module.backbone, module.head)
        past = onnx_file.past_shape(checkpoint.config)
    onnx_file.write(module, out / "model.onnx", options.opset, options.precision)
    run = Runtime(out / "model.onnx")
    goldens, differences, found, wanted = [], [], [], []
    for sample, encoded, reference in cases:
        given = run.run(encoded, past)[0]
        differences.append(float(np.abs(given - reference).max()))
        found += given.ravel().tolist()
        wanted += reference.ravel().tolist()
        raw = given if options.precision == "int8" else reference
        tolerance = TOLERANCES[options.precision]
        goldens.append(golden.make(preset, checkpoint, sample, encoded, lambda _: [raw], tolerance))
    if options.precision != "int8":
        check_batch(run, cases, past, TOLERANCES[options.precision])
    write_texts(checkpoint, out, preset)
    graph = graph_table(out / "model.onnx", options.precision, past)
    manifest.write(describe(checkpoint, out, preset, options, [graph], goldens), out / "model.toml")
    return Report(differences, spearman(found, wanted) if options.precision == "int8" else None)


def check_batch(run: Runtime, cases: list[tuple[Sample, Encoded, np.ndarray]], past: onnx_file.Shape | None, tolerance: float) -> None:
    """Padding and neighbours must not move a score. Dynamic int8 is exempt: it scales by the batch."""
    together = run.batch([encoded for _, encoded, _ in cases], past)[0]
    for row, (_, _, reference) in zip(together, cases, strict=True):
        moved = float(np.abs(row[: len(reference)] - reference).max())
        if moved > tolerance:
            raise ValueError(f"a score moves by {moved:.2e} in a padded batch")


def check_template(checkpoint: Checkpoint, preset: Preset, sample: Sample, encoded: Encoded) -> None:
    """Our template must come to the authors' token ids and positions."""
    text = template.render(
        preset.template,
        checkpoint.tokenizer.chat_template or "",
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
    if (ours.ids, ours.positions) != (encoded.ids, encoded.positions):
        raise ValueError(f"the template comes to {ours}, the authors' way to {encoded}")
    if encoded.types and ours.types != encoded.types:
        raise ValueError(f"the template comes to the types {ours.types}, the authors' way to {encoded.types}")


def special_tokens(checkpoint: Checkpoint) -> dict[str, str]:
    """The named tokens of the tokenizer, for templates."""
    known = ((name, getattr(checkpoint.tokenizer, name, None)) for name in TOKEN_NAMES)
    return {name: text for name, text in known if text is not None}


def write_texts(checkpoint: Checkpoint, out: Path, preset: Preset) -> None:
    """The tokenizer and the templates."""
    shutil.copyfile(checkpoint.folder / "tokenizer.json", out / "tokenizer.json")
    (out / "template.jinja").write_text(preset.template + "\n", encoding="utf-8")
    if "chat(" in preset.template:
        (out / "chat.jinja").write_text(checkpoint.tokenizer.chat_template, encoding="utf-8")


def graph_table(path: Path, precision: str, past: onnx_file.Shape | None, role: str = "model") -> dict[str, Any]:
    """The [[graph]] table of a file."""
    table: dict[str, Any] = {"file": path.name, "sha256": manifest.sha256(path)}
    data = path.with_name(path.name + ".data")
    if data.exists():
        table["data"] = [{"file": data.name, "sha256": manifest.sha256(data)}]
    table |= {"role": role, "precision": precision}
    if past is not None:
        table["past"] = {"layers": past.layers, "heads": past.heads, "head_dim": past.head_dim}
    return table


def describe(
    checkpoint: Checkpoint,
    out: Path,
    preset: Preset,
    options: Options,
    graphs: list[dict[str, Any]],
    goldens: list[dict[str, Any]],
) -> dict[str, Any]:
    """The manifest of a model folder."""
    about: dict[str, Any] = {"version": 1, "name": options.name, "kind": preset.kind}
    about |= {key: text for key, text in (("source", options.source), ("licence", options.licence)) if text}
    tokenizer = {
        "file": "tokenizer.json",
        "sha256": manifest.sha256(out / "tokenizer.json"),
        "add_special_tokens": preset.add_special_tokens,
        "strip_bos": preset.strip_bos,
        "tokens": special_tokens(checkpoint),
        "pad_token_id": checkpoint.tokenizer.pad_token_id or 0,
    }
    texts: dict[str, Any] = {"file": "template.jinja"}
    if (out / "chat.jinja").exists():
        texts["chat"] = "chat.jinja"
    if preset.system:
        texts["system"] = preset.system
    result = about | {"graph": graphs, "tokenizer": tokenizer, "template": texts}
    if preset.steps:
        result["steps"] = preset.steps
    result["score"] = preset.score(checkpoint)
    limit = options.max_tokens or getattr(checkpoint.config, "max_position_embeddings", 512)
    result["limits"] = {"max_tokens": limit, "on_overflow": "error"}
    if preset.generate:
        result["generate"] = preset.generate(checkpoint)
    return result | {"golden": goldens}


def spearman(left: list[float], right: list[float]) -> float:
    """Rank correlation."""
    ranks = [np.argsort(np.argsort(values)) for values in (left, right)]
    return float(np.corrcoef(*ranks)[0, 1])

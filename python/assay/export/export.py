"""One export: graph, template, tokenizer, golden pairs and manifest."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from . import checks, golden, manifest, memory, onnx_file, weights
from .checkpoint import Checkpoint
from .golden import Case
from .graph import CachedScorer, Scorer, Shape
from .preset import Preset
from .progress import Bar, Tell, silent
from .runtime import Runtime

TOLERANCES = {"fp32": 1e-5, "fp16": 2e-3, "bf16": 1e-5, "int8": 1e-4, "int8_blocks": 1e-4, "int4_blocks": 1e-4}
BEARABLE = {"fp32": 1e-3, "fp16": 2e-2, "bf16": 2e-2, "int8": 1e-4, "int8_blocks": 1e-4, "int4_blocks": 1e-4}
"""Rounding of large models is more than the tolerance that small ones keep; beyond this it is an error."""
WRITTEN = (".onnx", ".data", ".json", ".jinja", ".toml")
MANIFEST = "model.toml"
KEY = "key"
"""Of a folder that an export fills: what that export is, and nothing where it cannot be gone on with."""
DISK_BYTES = {"fp32": 4, "fp16": 2, "int8": 5}
"""A parameter on disk, with the graph in fp32 that the quantiser reads."""
LAYERS = {"fp32": 1e-4, "fp16": 0.02, "bf16": 0.03, "int8_blocks": 0.05, "int4_blocks": 0.5}
"""How far the first layer may be from that of transformers, by the root of the mean square.

Roundings of layers are independent, so that the n-th may be sqrt(n) times as far. Random weights of Qwen2.5-7B's
widths in int8_blocks: 1.7e-2 at the first layer, 4.4e-2 at the eighth.
"""
STREAMED = ("bf16", *weights.BITS)
"""Written weight by weight, whatever the size of the model."""
INTEGERS = ("int8", "int8_blocks", "int4_blocks")
"""Golden pairs hold what the graph itself gives: it is another model than that of the checkpoint."""


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
    tolerance: float | None = None

    @property
    def is_integer(self) -> bool:
        """Whether weights are integers."""
        return self.precision in INTEGERS

    @property
    def limit(self) -> float:
        """How far scores may be from the golden ones."""
        return self.tolerance or TOLERANCES[self.precision]

    @property
    def bearable(self) -> float:
        """How far scores may be before the export is refused."""
        return self.tolerance or BEARABLE[self.precision]

    def widened(self, far: float) -> Options:
        """With a tolerance that bears rounding of this size: twice as much, to two digits."""
        return self if far <= self.limit else replace(self, tolerance=float(f"{2 * far:.1e}"))


@dataclass(frozen=True)
class Report:
    """How far the graph is from transformers: one number a golden pair, and a layer; and how far weights are."""

    differences: list[float]
    tolerance: float
    spearman: float | None = None
    layers: dict[str, float] = field(default_factory=dict)
    rounding: dict[str, float] = field(default_factory=dict)


def export(
    checkpoints: list[Checkpoint], out: Path, preset: Preset, options: Options, tell: Tell = silent
) -> Report:
    """Writes the model folder `out`. A second checkpoint is the reference model of kind `implicit`.

    Files lie in `OUT.part` until then. An export that streams weights and was stopped goes on with them.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is not a folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    streamed = checkpoints[0].streamed
    for checkpoint in checkpoints:
        checkpoint.streamed = streamed
    if options.precision in STREAMED and not streamed:
        raise ValueError(f"{options.precision} is written weight by weight: leave out --in-memory")
    if options.precision == "int8" and streamed:
        raise ValueError("int8 with ranges found at run time holds the graph in memory: int8_blocks, or --in-memory")
    key = " ".join(_key(checkpoint, preset, options) for checkpoint in checkpoints) if streamed else ""
    with _filled(part_of(out), key) as part:
        report = _export(checkpoints, part, preset, options, tell)
        out.mkdir(exist_ok=True)
        # A folder without a manifest is not a model, and no folder holds the files of two.
        (out / MANIFEST).unlink(missing_ok=True)
        files = (path for path in part.iterdir() if path.name.endswith(WRITTEN))
        for path in sorted(files, key=lambda path: (path.name == MANIFEST, path.name)):
            path.replace(out / path.name)
    return report


def part_of(out: Path) -> Path:
    """The folder that is filled before it becomes `out`."""
    return out.with_name(f"{out.name}.part")


@contextmanager
def _filled(part: Path, key: str) -> Iterator[Path]:
    """A folder to fill, which is gone after. Where the export has a key, it is kept on an error, and taken up again."""
    mark = part / KEY
    if part.exists() and not mark.exists() and any(part.iterdir()):
        raise ValueError(f"{part} is in the way, and no export left it: move it, or remove it")
    if not key or not mark.exists() or mark.read_text(encoding="utf-8") != key:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        mark.write_text(key, encoding="utf-8")
    try:
        yield part
    except BaseException:
        if not key:
            shutil.rmtree(part)
        raise
    shutil.rmtree(part)


def _has_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        sizes = f"{memory.shown(needed)} are to be written there, and {memory.shown(free)} are free"
        raise OSError(errno.ENOSPC, sizes, str(folder))


def _export(checkpoints: list[Checkpoint], out: Path, preset: Preset, options: Options, tell: Tell) -> Report:
    checkpoint = checkpoints[0]
    score = preset.score(checkpoint)  # first: a tokenizer without its tokens is refused before hours of work
    limit = min(options.max_tokens or checkpoint.tokens_max, checkpoint.tokens_max)
    tell("asking transformers for the golden pairs")
    cases = golden.cases(preset, checkpoints, limit)
    for case in cases:
        checks.check_template(checkpoint, preset, case)
    files = [out / name for name in ("model.onnx", "reference.onnx")[: len(checkpoints)]]
    write = write_streamed if checkpoint.streamed else write_graphs
    written = write(checkpoints, files, preset, options, tell)
    tell("comparing the graph with transformers on ONNX Runtime")
    others = [case.other for case in cases if case.other]
    given = _run(files, [*cases, *others], written.past, checkpoint, options)
    differences = [checks.difference(found, case.raws) for found, case in zip(given, [*cases, *others], strict=True)]
    layers = _layers(files, checkpoints, cases[0], written, options)
    if not options.is_integer:
        if max(differences) > options.bearable:
            far = f"the graph is {max(differences):.2e} away from transformers"
            raise ValueError(f"{far}, more than {options.bearable:.0e}: where that is rounding, give a --tolerance")
        options = options.widened(max(differences))
    rank = spearman(given[: len(cases)], cases) if options.is_integer else None
    if golden.mode(preset, checkpoint):
        if written.past is None:
            raise ValueError("a model that writes takes past keys and values")
        run = Runtime(files[0])
        exact, past = not options.is_integer, written.past
        cases = [replace(case, text=checks.check_text(run, checkpoint, preset, case, past, exact)) for case in cases]
    goldens = [golden.make(preset, checkpoint, case, options.limit) for case in cases]
    turned = iter(given[len(cases) :])
    own = [
        replace(case, raws=found, other=case.other and replace(case.other, raws=next(turned)))
        for found, case in zip(given, cases, strict=False)
    ]
    found = [golden.make(preset, checkpoint, case, options.limit) for case in own]
    if options.is_integer:
        goldens = found
    checks.check_scores(found, goldens, options.limit)
    tell("writing tokenizer, templates and manifest")
    write_texts(checkpoint, out, preset)
    graphs = [
        graph_table(path, options.precision, written.past, role)
        for path, role in zip(files, ("model", "reference"), strict=False)
    ]
    manifest.write(describe(checkpoint, out, preset, options, limit, graphs, score, goldens), out / MANIFEST)
    return Report(differences[: len(cases)], options.limit, rank, layers, written.rounding)


@dataclass(frozen=True)
class Written:
    """What is known of graphs that were written: the shape of the past, and of streamed ones more.

    `layers`: a graph each, the name of what a layer gives; `rounding`: how far weights are, by how they are stored.
    """

    past: Shape | None
    layers: tuple[dict[str, str], ...] = ()
    rounding: dict[str, float] = field(default_factory=dict)


def write_streamed(
    checkpoints: list[Checkpoint], files: list[Path], preset: Preset, options: Options, tell: Tell
) -> Written:
    """Writes a graph for each checkpoint, weight by weight, and goes on where that was stopped."""
    written = Written(None)
    for checkpoint, path in zip(checkpoints, files, strict=True):
        folder = path.parent / f"{path.stem}.part"
        folder.mkdir(exist_ok=True)
        if (plan := weights.load_plan(folder)) is None or not path.exists():
            shutil.rmtree(folder)
            folder.mkdir()
            module = _module(preset, checkpoint, options.kv or preset.kv)
            past = getattr(module, "past", None)
            tell(f"tracing {path.name}")
            large, layers = onnx_file.write_streamed(module, path, options.opset, options.precision)
            checkpoint.release()
            plan = (large, {"layers": layers, "past": past and asdict(past)})
            weights.save_plan(folder, *plan)
        else:
            tell(f"going on with {path.name}")
        large, about = plan
        sizes = [weights.size(weight) for weight in large]
        bar = Bar(f"writing {path.name}.data", sizes, tell)
        data = path.with_name(f"{path.name}.data")
        _has_room(folder, sum(sizes) - (512 * data.stat().st_blocks if data.exists() else 0))
        rounding = weights.write(large, checkpoint, data, folder / "written", bar)
        past = about["past"] and Shape(**about["past"])
        written = Written(past, (*written.layers, about["layers"]), written.rounding | rounding)
    return written


def _key(checkpoint: Checkpoint, preset: Preset, options: Options) -> str:
    """What an export must have in common with one that was stopped, to go on with it."""
    files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in checkpoint.files]
    config = (checkpoint.folder / "config.json").read_bytes()
    parts = (preset.kind, preset.text(checkpoint), options.precision, options.kv, options.opset, files, config)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _layers(
    files: list[Path], checkpoints: list[Checkpoint], case: Case, written: Written, options: Options
) -> dict[str, float]:
    """How far each layer is from that of transformers, for one text: those before it included."""
    found = {}
    for path, checkpoint, layers in zip(files, checkpoints, written.layers, strict=False):
        wanted = checkpoint.record.outputs if checkpoint.record else {}
        names = {layer: name for layer, name in layers.items() if layer in wanted}
        if not names:
            continue  # the golden pairs come of another way through the model
        run = Runtime(path, checkpoint.padding, pieces=True)
        values = run.values([*names.values()], [case.encoded], written.past)[0]
        for number, (layer, value) in enumerate(zip(names, values, strict=True), 1):
            if value.shape != wanted[layer].shape:
                continue
            apart = np.linalg.norm(value.astype(np.float64) - wanted[layer]) / np.linalg.norm(wanted[layer])
            found[f"{path.stem} {layer}"] = float(apart)
            limit = LAYERS[options.precision] * number**0.5
            if not apart <= limit:
                most = f"more than {limit:.0e} that {options.precision} may be"
                raise ValueError(f"{layer} is {apart:.1e} away from that of transformers, {most}")
    return found


def write_graphs(
    checkpoints: list[Checkpoint], files: list[Path], preset: Preset, options: Options, tell: Tell
) -> Written:
    """Writes a graph for each checkpoint, whose weights are then dropped."""
    full = [path.parent / "fp32" / path.name if options.precision == "int8" else path for path in files]
    parameters = sum(checkpoint.parameters for checkpoint in checkpoints)
    _has_room(files[0].parent, DISK_BYTES[options.precision] * parameters)
    past = None
    for checkpoint, path in zip(checkpoints, full, strict=True):
        module = _module(preset, checkpoint, options.kv or preset.kv)
        past = getattr(module, "past", None)
        tell(f"tracing and writing {path.name}")
        path.parent.mkdir(exist_ok=True)
        onnx_file.write(module, path, options.opset, options.precision == "fp16")
        onnx_file.drop(module)
        checkpoint.release()
    for source, path in zip(full, files, strict=True):
        if source != path:
            tell(f"writing {path.name} in int8")
            onnx_file.quantize(source, path)
    if options.precision == "int8":
        shutil.rmtree(full[0].parent)
    return Written(past)


def _module(preset: Preset, checkpoint: Checkpoint, cached: bool) -> nn.Module:
    module = preset.build(checkpoint)
    if not cached:
        return module
    if not isinstance(module, Scorer):
        raise ValueError("past keys and values are for causal models")
    return CachedScorer(module)


def _run(
    files: list[Path], cases: list[Case], past: Shape | None, checkpoint: Checkpoint, options: Options
) -> list[list[np.ndarray]]:
    """What the graphs give for each case, after the checks of batches and of the past."""
    given: list[list[np.ndarray]] = [[] for _ in cases]
    for path in files:
        run = Runtime(path, checkpoint.padding, checkpoint.streamed)
        alone = run.each([case.encoded for case in cases], past)
        if options.precision != "int8":
            # The graph is held to itself here.
            limit = BEARABLE["fp32"] if options.is_integer else options.bearable
            checks.check_batch(run, cases, alone, past, limit)
            for case, outputs in zip(cases, alone, strict=True):
                if past is not None:
                    checks.check_past(run, case, outputs, past, limit)
        for found, outputs in zip(given, alone, strict=True):
            found += outputs
    return given


def write_texts(checkpoint: Checkpoint, out: Path, preset: Preset) -> None:
    """The tokenizer and the templates."""
    template = preset.text(checkpoint)
    (out / "tokenizer.json").write_text(checkpoint.tokenizer_json, encoding="utf-8")
    (out / "template.jinja").write_text(template + "\n", encoding="utf-8")
    if "chat(" in template:
        (out / "chat.jinja").write_text(checkpoint.chat, encoding="utf-8")


def graph_table(path: Path, precision: str, past: Shape | None, role: str) -> dict[str, Any]:
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
    max_tokens: int,
    graphs: list[dict[str, Any]],
    score: dict[str, Any],
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
        "tokens": checks.special_tokens(checkpoint),
        "pad_token_id": checkpoint.padding,
    }
    texts: dict[str, Any] = {"file": "template.jinja"}
    if (out / "chat.jinja").exists():
        texts["chat"] = "chat.jinja"
    if preset.system:
        texts["system"] = preset.system
    result = about | {"graph": graphs, "tokenizer": tokenizer, "template": texts}
    if preset.steps:
        result["steps"] = preset.steps
    result["score"] = score
    result["limits"] = {"max_tokens": max_tokens, "on_overflow": "error"}
    if preset.generate:
        result["generate"] = preset.generate(checkpoint)
    return result | {"golden": goldens}


def spearman(given: list[list[np.ndarray]], cases: list[Case]) -> float:
    """Rank correlation of what a graph gives with fp32."""
    found = np.concatenate([outputs[0].ravel() for outputs in given])
    wanted = np.concatenate([case.raws[0].ravel() for case in cases])
    ranks = [np.argsort(np.argsort(values)) for values in (found, wanted)]
    return float(np.corrcoef(*ranks)[0, 1])

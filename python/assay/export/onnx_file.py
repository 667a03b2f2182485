"""Writes a graph as an ONNX file: export, precision, and nothing in it that changes from run to run."""

from __future__ import annotations

import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from . import tracing
from .graph import CachedScorer

DYNAMIC = torch.export.Dim.DYNAMIC
PRODUCER = "assay_export"
"""Stays what it is, whatever this package is called: the digests of graphs depend on it."""
EXTERNAL_ABOVE = 16_000_000
"""Bytes of weights from which on they lie in a file of their own, which backends map instead of copying."""
DIMENSIONS = {
    "input_ids": ("batch", "sequence"),
    "attention_mask": ("batch", "total"),
    "token_type_ids": ("batch", "sequence"),
    "position_ids": ("batch", "sequence"),
    "score_positions": ("batch", "positions"),
    "scores": ("batch", "positions"),
    "gates": ("batch", "positions"),
    "uncertainties": ("batch", "positions"),
    "embeddings": ("batch", "sequence"),
}


def write(module: nn.Module, path: Path, opset: int, half: bool) -> None:
    """Exports `module` to `path`, in fp32 or fp16."""
    if opset == 23:
        raise ValueError("opset 23 is refused: its RotaryEmbedding fails at run time")
    module = module.eval()
    if half:
        module = module.half()
    tracing.prepare(module)
    kwargs, shapes, inputs, outputs = _example(module)
    large = sum(p.numel() * p.element_size() for p in module.parameters()) > EXTERNAL_ABOVE
    with warnings.catch_warnings(), torch.no_grad(), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        try:
            program = torch.onnx.export(
                module,
                kwargs=kwargs,
                dynamo=True,
                opset_version=opset,
                dynamic_shapes=shapes,
                input_names=inputs,
                output_names=outputs,
                verbose=False,
            )
        except torch.onnx.OnnxExporterError as error:
            raise ValueError(f"this architecture does not become a graph: {tracing.reason(error)}") from error
    program.save(str(path), external_data=large)
    for value in program.model.graph.initializers.values():
        value.const_value = None  # PyTorch keeps the graph, and the weights with it
    _strip(path)


def drop(module: nn.Module) -> None:
    """Takes the weights from a module that was written: PyTorch keeps parts of what it traced."""
    for parameter in module.parameters():
        parameter.data = torch.empty(0, dtype=parameter.dtype)


def quantize(full: Path, path: Path) -> None:
    """Writes the graph `full` in dynamic int8 to `path`.

    Seven bits a weight: eight overflow on processors without VNNI, and scores would differ there.

    Stacked weights, as those of experts, stay: ONNX Runtime has no scales for them.
    """
    graph = onnx.load(str(full), load_external_data=False).graph
    stacked = {weight.name for weight in graph.initializer if len(weight.dims) > 2}
    quantize_dynamic(
        full,
        path,
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        use_external_data_format=full.with_name(full.name + ".data").exists(),
        nodes_to_exclude=[node.name for node in graph.node if stacked.intersection(node.input)],
    )
    _strip(path)


def _example(module: nn.Module) -> tuple[dict[str, Any], dict[str, Any], list[str], list[str]]:
    """Inputs to trace with: no two dimensions alike, none 0 or 1, one row padded."""
    past = 3 if isinstance(module, CachedScorer) else 0
    batch, length = 2, 7
    mask = torch.ones(batch, past + length, dtype=torch.int64)
    mask[1, -2:] = 0
    known = {
        "input_ids": torch.arange(batch * length).reshape(batch, length) % 5 + 5,
        "attention_mask": mask,
        "token_type_ids": torch.zeros(batch, length, dtype=torch.int64),
        "position_ids": torch.arange(past, past + length).repeat(batch, 1),
        "score_positions": torch.tensor([[1, 3, 6], [0, 2, 4]]),
    }
    inputs = list(module.inputs)
    outputs = list(module.outputs)
    kwargs: dict[str, Any] = {name: known[name] for name in inputs}
    shapes: dict[str, Any] = {name: {0: DYNAMIC, 1: DYNAMIC} for name in inputs}
    if past:
        shape = module.past
        dtype = next(module.parameters()).dtype
        size = (batch, shape.heads, past, shape.head_dim)
        kwargs["past_key_values"] = [
            (torch.zeros(size, dtype=dtype), torch.zeros(size, dtype=dtype)) for _ in range(shape.layers)
        ]
        shapes["past_key_values"] = [({0: DYNAMIC, 2: DYNAMIC},) * 2] * shape.layers
        for layer in range(shape.layers):
            inputs += [f"past_key_values.{layer}.{part}" for part in ("key", "value")]
            outputs += [f"present.{layer}.{part}" for part in ("key", "value")]
    return kwargs, shapes, inputs, outputs


def _strip(path: Path) -> None:
    """Takes out doc strings, stack traces, inner shapes and names of this machine."""
    model = onnx.load(str(path), load_external_data=False)
    model.doc_string = ""
    model.producer_name, model.producer_version = PRODUCER, ""
    del model.metadata_props[:]
    graph = model.graph
    graph.name, graph.doc_string = "model", ""
    del graph.value_info[:]
    del graph.metadata_props[:]
    _name_dimensions(model)
    for item in (*graph.node, *graph.initializer, *graph.input, *graph.output):
        item.doc_string = ""
        del item.metadata_props[:]
    for function in model.functions:
        function.doc_string = ""
        del function.metadata_props[:]
        for node in function.node:
            node.doc_string = ""
            del node.metadata_props[:]
    onnx.save(model, str(path))


def _name_dimensions(model: onnx.ModelProto) -> None:
    """Names the dimensions that vary, the same in every graph."""
    for item in (*model.graph.input, *model.graph.output):
        past = ("batch", "", "total" if item.name.startswith("present.") else "past")
        names = DIMENSIONS.get(item.name, past)
        for dimension, name in zip(item.type.tensor_type.shape.dim, names, strict=False):
            if dimension.HasField("dim_param"):
                dimension.dim_param = name

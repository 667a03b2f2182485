"""Writes a graph as an ONNX file: export, precision, and nothing in it that changes from run to run."""

from __future__ import annotations

import ast
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from . import stream, tracing
from .graph import CachedScorer
from .weights import Surgeon, Weight

DYNAMIC = torch.export.Dim.DYNAMIC
PRODUCER = "assay_export"
"""Stays what it is, whatever this package is called: the digests of graphs depend on it."""
SCOPES = "pkg.torch.onnx.name_scopes"
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
    large = sum(p.numel() * p.element_size() for p in module.parameters()) > EXTERNAL_ABOVE
    program = _trace(module, opset, half)
    program.save(str(path), external_data=large)
    for value in program.model.graph.initializers.values():
        value.const_value = None  # PyTorch keeps the graph, and the weights with it
    model = onnx.load(str(path), load_external_data=False)
    _strip(model)
    onnx.save(model, str(path))


def write_streamed(module: nn.Module, path: Path, opset: int, precision: str) -> tuple[list[Weight], dict[str, str]]:
    """Writes the graph of a module whose weights stay in the checkpoint: the places of the large ones are empty.

    Returns the weights that belong there, and the name of what each layer gives.
    """
    if precision == "fp16":
        module.half()  # before there are placeholders, which would be written out
    with stream.placeholders(module) as kept:
        program = _trace(module, opset, half=False)
        places = {}
        for name, value in program.model.graph.initializers.items():
            array = value.const_value.numpy() if value.const_value is not None else np.empty(0)
            if array.size > stream.SMALL and (mark := stream.marked(array)):
                places[name] = mark
                outside = ir.ExternalTensor("-", 0, 0, value.const_value.dtype, shape=value.const_value.shape, name=name)
                value.const_value = outside
        if lost := set(range(len(kept))) - {number for number, _ in places.values()}:
            names = ", ".join(kept[number].origin for number in sorted(lost)[:3])
            raise ValueError(f"the graph does not take {names} as the checkpoint holds them: try --in-memory")
        model = ir.to_proto(program.model)
    layers = _layer_ends(model)
    _strip(model)
    surgeon = Surgeon(model, f"{path.name}.data", precision)
    for tensor in list(model.graph.initializer):
        if tensor.name in places:
            number, turned = places[tensor.name]
            surgeon.place(tensor, kept[number].origin, turned)
    onnx.save(model, str(path))
    return surgeon.weights, layers


def _trace(module: nn.Module, opset: int, half: bool) -> Any:
    if opset == 23:
        raise ValueError("opset 23 is refused: its RotaryEmbedding fails at run time")
    module = module.eval()
    if half:
        module = module.half()
    tracing.prepare(module)
    kwargs, shapes, inputs, outputs = _example(module)
    with warnings.catch_warnings(), torch.no_grad(), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        try:
            return torch.onnx.export(
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


def _layer_ends(model: onnx.ModelProto) -> dict[str, str]:
    """The last value that the exporter made for each layer, by the end of its name."""
    found = {}
    for node in model.graph.node:
        scopes = next((item.value for item in node.metadata_props if item.key == SCOPES), "[]")
        for scope in ast.literal_eval(scopes):
            if layer := stream.LAYER.search(scope):
                found[layer[1]] = node.output[0]
    return found


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
    model = onnx.load(str(path), load_external_data=False)
    _strip(model)
    onnx.save(model, str(path))


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


def _strip(model: onnx.ModelProto) -> None:
    """Takes out doc strings, stack traces, inner shapes and names of this machine."""
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


def _name_dimensions(model: onnx.ModelProto) -> None:
    """Names the dimensions that vary, the same in every graph."""
    for item in (*model.graph.input, *model.graph.output):
        past = ("batch", "", "total" if item.name.startswith("present.") else "past")
        names = DIMENSIONS.get(item.name, past)
        for dimension, name in zip(item.type.tensor_type.shape.dim, names, strict=False):
            if dimension.HasField("dim_param"):
                dimension.dim_param = name

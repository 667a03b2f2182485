"""A session that loads a graph piece by piece, so that no more than a few weights are in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import NodeProto, helper

PIECE_BYTES = 1 << 29
"""Bytes of weights of a piece, as they are computed; a single weight may be larger."""


@dataclass
class Piece:
    """Nodes that run together, and what they take and give."""

    nodes: list[NodeProto] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


class Segments:
    """Runs several feeds through each piece before the next is loaded. The interface is that of a session."""

    def __init__(self, path: Path, options: ort.SessionOptions) -> None:
        self.path, self.options = path, options
        self.model = onnx.load(str(path), load_external_data=False)
        self.initializers = {tensor.name: tensor for tensor in self.model.graph.initializer}
        if any(node.op_type == "MatMulNBits" for node in self.model.graph.node):
            # Blocks that are not packed are widened in each product: 70 seconds a text of 7 B parameters.
            options.add_session_config_entry("session.disable_prepacking", "0")
        whole = ort.InferenceSession(_without_nodes(self.model), options, providers=["CPUExecutionProvider"])
        self.inputs = whole.get_inputs()
        self.outputs = [output.name for output in self.model.graph.output]
        self.cut = self._cut()

    def get_inputs(self) -> list[Any]:
        """The inputs of the graph."""
        return self.inputs

    def get_outputs(self) -> list[Any]:
        """The outputs of the graph, which have a name."""
        return list(self.model.graph.output)

    def run(self, names: list[str] | None, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        """The outputs for one feed."""
        return self.run_all(names, [feed])[0]

    def run_all(self, names: list[str] | None, feeds: list[dict[str, np.ndarray]]) -> list[list[np.ndarray]]:
        """The values of these names, which need be no outputs, for each feed."""
        names = self.outputs if names is None else names
        held = [dict(feed) for feed in feeds]
        for number, piece in enumerate(self.cut):
            wanted = {name for later in self.cut[number + 1 :] for name in later.inputs} | {*names}
            made = {name for node in piece.nodes for name in node.output}
            outputs = sorted(made & wanted)
            if not outputs:
                continue
            session = self._session(piece, outputs, held[0])
            for values in held:
                found = session.run(outputs, {name: values[name] for name in piece.inputs})
                values.update(zip(outputs, found, strict=True))
                for name in set(values) - wanted:
                    del values[name]
            del session
        return [[values[name] for name in names] for values in held]

    def _cut(self) -> list[Piece]:
        pieces = [Piece()]
        size = 0
        for node in self.model.graph.node:
            own = sum(self._bytes(name) for name in set(_reads(node)) if name in self.initializers)
            if own and size and size + own > PIECE_BYTES:
                pieces.append(Piece())
                size = 0
            pieces[-1].nodes.append(node)
            size += own
        for piece in pieces:
            made: set[str] = set()
            for node in piece.nodes:
                for name in _reads(node):
                    if name and name not in made and name not in self.initializers and name not in piece.inputs:
                        piece.inputs.append(name)
                made |= set(node.output)
        return pieces

    def _bytes(self, name: str) -> int:
        tensor = self.initializers[name]
        is_float = tensor.data_type in (onnx.TensorProto.BFLOAT16, onnx.TensorProto.FLOAT16)
        width = 4 if is_float else helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        return width * int(np.prod(tensor.dims))

    def _session(self, piece: Piece, outputs: list[str], values: dict[str, np.ndarray]) -> ort.InferenceSession:
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(values[name].dtype), None)
            for name in piece.inputs
        ]
        read = {name for node in piece.nodes for name in _reads(node)}
        weights = [tensor for name, tensor in self.initializers.items() if name in read]
        given = [onnx.ValueInfoProto(name=name) for name in outputs]
        graph = helper.make_graph(piece.nodes, "piece", inputs, given, weights)
        model = helper.make_model(
            graph,
            opset_imports=self.model.opset_import,
            functions=self.model.functions,
            ir_version=self.model.ir_version,
        )
        path = self.path.with_name("piece.onnx")  # external data are looked for beside it
        onnx.save(model, str(path))
        try:
            return ort.InferenceSession(str(path), self.options, providers=["CPUExecutionProvider"])
        finally:
            path.unlink()


def _without_nodes(model: onnx.ModelProto) -> bytes:
    """A graph of the same inputs that ONNX Runtime can describe without any weights."""
    inputs = list(model.graph.input)
    node = helper.make_node("Identity", [inputs[0].name], ["same"])
    output = onnx.ValueInfoProto(name="same")
    made = helper.make_model(
        helper.make_graph([node], "inputs", inputs, [output]),
        opset_imports=model.opset_import,
        ir_version=model.ir_version,
    )
    return made.SerializeToString()


def _reads(node: NodeProto) -> Iterator[str]:
    """What a node reads of its graph, also within its inner graphs."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            own = {item.name for item in (*graph.input, *graph.initializer)}
            own |= {output for inner in graph.node for output in inner.output}
            own_reads = (name for inner in graph.node for name in _reads(inner))
            yield from (name for name in own_reads if name not in own)

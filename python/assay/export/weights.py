"""The large weights of a graph, written one by one into its file of external data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx
import torch
from onnx import NodeProto, TensorProto, helper

from .progress import Bar

ALIGNMENT = 4096
CHUNK = 1 << 24
"""Elements that are converted at a time."""
BLOCK = 32
"""Weights that share a scale."""
BITS = {"int8_blocks": 8, "int4_blocks": 4}
STORED = {
    "fp32": (TensorProto.FLOAT, torch.float32),
    "fp16": (TensorProto.FLOAT16, torch.float16),
    "bf16": (TensorProto.BFLOAT16, torch.bfloat16),
}
ROUNDING = {"fp32": 1e-7, "fp16": 1e-3, "bf16": 4e-3, "int8_blocks": 0.01, "int4_blocks": 0.2}
"""How far a stored matrix may be from that of the checkpoint, by the root of the mean square."""
PLAN = "plan.json"


@dataclass(frozen=True)
class Weight:
    """A tensor of the checkpoint, and where it lies in the file: `offsets` of its values and of its scales."""

    origin: str
    stored: str
    turned: bool
    shape: tuple[int, ...]
    offsets: tuple[int, ...]


class Surgeon:
    """Gives the large initializers of a graph their places, and the nodes that read them what their type needs."""

    def __init__(self, model: onnx.ModelProto, data: str, precision: str) -> None:
        self.graph, self.data, self.precision = model.graph, data, precision
        self.model = model
        self.end = 0
        self.weights: list[Weight] = []

    def place(self, tensor: TensorProto, origin: str, turned: bool) -> None:
        """Decides how a weight is stored. `turned`: as the transpose of what the checkpoint holds."""
        readers = [node for node in self.graph.node if tensor.name in node.input]
        tables = [node for node in readers if node.op_type == "Gather" and node.input[0] == tensor.name]
        if tables and len(tables) < len(readers) and self.precision in BITS:
            table = self.graph.initializer.add()
            table.CopyFrom(tensor)
            table.name = f"{tensor.name}/table"
            for node in tables:
                node.input[0] = table.name
            self.place(table, origin, turned)
            self.place(tensor, origin, turned)
            return
        if self.precision in BITS and len(tensor.dims) == 2 and self._quantised(tensor, readers, origin, turned):
            return
        stored = "bf16" if self.precision in BITS else self.precision
        if stored == "bf16":
            self._cast(tensor, tables, is_table=True)
            self._cast(tensor, [node for node in readers if node not in tables], is_table=False)
        kind, dtype = STORED[stored]
        size = dtype.itemsize * int(np.prod(tensor.dims))
        self._outside(tensor, kind, size)
        self.weights.append(Weight(origin, stored, turned, tuple(tensor.dims), (self.end,)))
        self._advance(size)

    def _outside(self, tensor: TensorProto, kind: int, size: int) -> None:
        tensor.ClearField("raw_data")
        tensor.data_type = kind
        tensor.data_location = TensorProto.EXTERNAL
        del tensor.external_data[:]
        for key, value in (("location", self.data), ("offset", str(self.end)), ("length", str(size))):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, value

    def _advance(self, size: int) -> None:
        self.end += -(-size // ALIGNMENT) * ALIGNMENT

    def _cast(self, tensor: TensorProto, readers: list[NodeProto], is_table: bool) -> None:
        """Computes in fp32: rows of a table are widened after they are read, other weights before."""
        name = tensor.name
        if is_table:
            for node in readers:
                output = node.output[0]
                node.output[0] = f"{output}/bf16"
                self._insert(node, 1, "Cast", [node.output[0]], output, to=TensorProto.FLOAT)
            return
        if not readers:
            return
        for node in readers:
            node.input[:] = [f"{name}/fp32" if found == name else found for found in node.input]
        self._insert(readers[0], 0, "Cast", [name], f"{name}/fp32", to=TensorProto.FLOAT)

    def _insert(self, beside: NodeProto, after: int, kind: str, inputs: list[str], output: str, **more: Any) -> None:
        node = helper.make_node(kind, inputs, [output], name=f"{output}/{kind}", **more)
        at = next(at for at, found in enumerate(self.graph.node) if found.name == beside.name)
        self.graph.node.insert(at + after, node)

    def _quantised(self, tensor: TensorProto, readers: list[NodeProto], origin: str, turned: bool) -> bool:
        """Has every reader multiply with blocks of integers, if it is a product with this matrix."""
        products: list[tuple[NodeProto, NodeProto | None]] = []
        for node in readers:
            if node.op_type == "Transpose":
                behind = [one for one in self.graph.node if node.output[0] in one.input]
                products += [(one, node) for one in behind]
            else:
                products.append((node, None))
        shapes = {_multiplies(node, (turn.output[0] if turn else tensor.name)) for node, turn in products}
        if len(shapes) != 1 or None in shapes or len({turn is None for _, turn in products}) != 1:
            return False
        # Rows of the result are those of the matrix as a product takes it, [K, N], or of its transpose.
        rows_first = (shapes.pop() == "transposed") != (products[0][1] is not None)
        columns, rows = tensor.dims if not rows_first else reversed(tensor.dims)
        bits = BITS[self.precision]
        blocks = -(-columns // BLOCK)
        name = tensor.name
        self._outside(tensor, TensorProto.UINT8, rows * blocks * BLOCK * bits // 8)
        place = self.end
        self._advance(rows * blocks * BLOCK * bits // 8)
        scales = self.graph.initializer.add()
        scales.name = f"{name}/scales"
        scales.dims[:] = [rows * blocks]
        self._outside(scales, TensorProto.FLOAT, 4 * rows * blocks)
        self.weights.append(
            Weight(origin, self.precision, turned == rows_first, (rows, columns), (place, self.end))
        )
        self._advance(4 * rows * blocks)
        tensor.dims[:] = [rows, blocks, BLOCK * bits // 8]
        for node, turn in products:
            self._multiply(node, turn, name, {"K": columns, "N": rows, "bits": bits, "block_size": BLOCK})
        if not any(one.domain == "com.microsoft" for one in self.model.opset_import):
            self.model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        return True

    def _multiply(self, node: NodeProto, turn: NodeProto | None, name: str, sizes: dict[str, int]) -> None:
        bias = node.input[2] if node.op_type == "Gemm" and len(node.input) > 2 else ""
        output = node.output[0]
        product = f"{output}/product" if bias else output
        inputs = [node.input[0], name, f"{name}/scales"]
        made = helper.make_node("MatMulNBits", inputs, [product], name=node.name, domain="com.microsoft", **sizes)
        node.CopyFrom(made)
        if bias:
            self._insert(node, 1, "Add", [product, bias], output)
        if turn is not None and turn in self.graph.node:
            self.graph.node.remove(turn)


def _multiplies(node: NodeProto, matrix: str) -> str | None:
    """How a node multiplies with a matrix on its right: as it is, or transposed; `None` if it does not."""
    if len(node.input) < 2 or node.input[1] != matrix or list(node.input).count(matrix) != 1:
        return None
    if node.op_type == "MatMul":
        return "plain"
    given = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    is_plain = given.get("alpha", 1.0) == given.get("beta", 1.0) == 1.0 and not given.get("transA", 0)
    if node.op_type == "Gemm" and is_plain:
        return "transposed" if given.get("transB", 0) else "plain"
    return None


def size(weight: Weight) -> int:
    """Bytes of a weight as it is stored, with its scales."""
    if weight.stored in BITS:
        rows, columns = weight.shape
        return rows * -(-columns // BLOCK) * (BLOCK * BITS[weight.stored] // 8 + 4)
    return int(np.prod(weight.shape)) * STORED[weight.stored][1].itemsize


def write(
    weights: list[Weight], checkpoint: Pieces, path: Path, journal: Path, bar: Bar
) -> dict[str, float]:
    """Writes what is not in the journal yet. Returns the largest rounding of each way to store."""
    is_begun = journal.exists() and path.exists()
    done = journal.read_text(encoding="utf-8").split("\n")[:-1] if is_begun else []
    journal.write_text("".join(f"{line}\n" for line in done), encoding="utf-8")
    worst = {weight.stored: 0.0 for weight in weights}
    path.touch()
    with path.open("r+b") as data, journal.open("a", encoding="utf-8") as log:
        for number, weight in enumerate(weights):
            bar.show(number, weight.origin)
            if number >= len(done):
                rounding = _store(weight, checkpoint, data)
                if not rounding <= ROUNDING[weight.stored]:
                    most = f"more than {ROUNDING[weight.stored]:.0e} that {weight.stored} may be"
                    raise ValueError(f"{weight.origin} is {rounding:.1e} off as it is stored, {most}")
                data.flush()
                os.fsync(data.fileno())
                log.write(f"{rounding!r}\n")
                log.flush()
            else:
                rounding = float(done[number])
            worst[weight.stored] = max(worst[weight.stored], rounding)
    bar.show(len(weights), "")
    return worst


class Pieces(Protocol):
    """What hands out the tensors of a checkpoint in rows."""

    def pieces(self, name: str, turned: bool, shape: tuple[int, ...], limit: int) -> Iterator[Any]:
        """A tensor, or its transpose, in rows that hold some `limit` elements together."""
        ...


def _store(weight: Weight, checkpoint: Pieces, data: Any) -> float:
    """Writes a weight. Returns how far it is from that of the checkpoint, by the root of the mean square."""
    wrong = total = 0.0
    places = list(weight.offsets)
    for piece in checkpoint.pieces(weight.origin, weight.turned, weight.shape, CHUNK):
        exact = piece.float()
        if weight.stored in BITS:
            values, scales, back = blocks(exact, BITS[weight.stored])
            parts = [values, scales]
        else:
            kept = piece.to(STORED[weight.stored][1])
            back, parts = kept.float(), [kept.contiguous().view(torch.uint8).numpy()]
        wrong += float(((back - exact) ** 2).sum(dtype=torch.float64))
        total += float((exact**2).sum(dtype=torch.float64))
        for number, part in enumerate(parts):
            data.seek(places[number])
            data.write(memoryview(np.ascontiguousarray(part)).cast("B"))
            places[number] += part.nbytes
    return float(np.sqrt(wrong / total)) if total else wrong


def blocks(matrix: torch.Tensor, bits: int) -> tuple[np.ndarray, np.ndarray, torch.Tensor]:
    """Rows in blocks of integers of so many bits: their bytes, their scales, and what they stand for."""
    rows, columns = matrix.shape
    wide = -(-columns // BLOCK)
    padded = torch.nn.functional.pad(matrix, (0, wide * BLOCK - columns)).view(rows, wide, BLOCK)
    middle = 1 << (bits - 1)
    largest = padded.gather(2, padded.abs().argmax(dim=2, keepdim=True))
    scales = largest / -middle
    inverse = torch.where(scales == 0, torch.zeros_like(scales), 1.0 / scales)
    found = (padded * inverse).round().add(middle).clamp(0, 2 * middle - 1)
    back = ((found - middle) * scales).view(rows, -1)[:, :columns]
    found = found.to(torch.uint8)
    if bits == 4:
        found = found[..., 0::2] | (found[..., 1::2] << 4)
    return found.numpy(), scales.view(rows, wide).numpy(), back


def save_plan(folder: Path, weights: list[Weight], more: dict[str, Any]) -> None:
    """Keeps what is to be written, so that an export goes on where it was stopped."""
    text = json.dumps({"weights": [asdict(weight) for weight in weights], **more})
    part = folder / f"{PLAN}.part"
    part.write_text(text, encoding="utf-8")
    part.replace(folder / PLAN)


def load_plan(folder: Path) -> tuple[list[Weight], dict[str, Any]] | None:
    """What was to be written."""
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    found = [
        Weight(**weight | {"shape": tuple(weight["shape"]), "offsets": tuple(weight["offsets"])})
        for weight in plan.pop("weights")
    ]
    return found, plan


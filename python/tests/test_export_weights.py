"""Weights that are written one by one; needs what `assay.export` needs (`make test-export`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
onnxruntime = pytest.importorskip("onnxruntime")
TensorProto, helper = onnx.TensorProto, onnx.helper

from assay.export import export as exporting
from assay.export import weights
from assay.export.export import Options, Written, export
from assay.export.progress import Bar, silent
from assay.export.weights import Surgeon, Weight


class Tensors:
    """A checkpoint that fails at its `fails`th tensor."""

    def __init__(self, fails: int = -1) -> None:
        self.left = fails
        torch.manual_seed(0)
        self.tensors = {f"t{number}": torch.randn(12, 70).bfloat16() for number in range(4)}

    def pieces(self, name: str, turned: bool, shape: tuple[int, ...], limit: int) -> Iterator[Any]:
        tensor = self.tensors[name].T if turned else self.tensors[name]
        assert tuple(tensor.shape) == shape
        yield from tensor.split(5)
        self.left -= 1
        if self.left == 0:
            raise OSError("killed")


PLAN = [
    Weight("t0", "fp32", False, (12, 70), (0,)),
    Weight("t1", "bf16", True, (70, 12), (4096,)),
    Weight("t2", "int8_blocks", False, (12, 70), (8192, 12288)),
    Weight("t3", "int4_blocks", True, (70, 12), (16384, 20480)),
]


def _write(folder: Path, checkpoint: Tensors) -> dict[str, float]:
    bar = Bar("writing", [weights.size(weight) for weight in PLAN], silent)
    return weights.write(PLAN, checkpoint, folder / "data", folder / "written", bar)


def test_an_export_that_was_stopped_goes_on(tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    whole.mkdir()
    stopped.mkdir()
    rounding = _write(whole, Tensors())
    with pytest.raises(OSError, match="killed"):
        _write(stopped, Tensors(fails=3))
    assert len((stopped / "written").read_text(encoding="utf-8").splitlines()) == 2
    with (stopped / "written").open("a", encoding="utf-8") as journal:
        journal.write("0.00")  # a line that was cut
    again = Tensors()
    del again.tensors["t0"], again.tensors["t1"]
    assert _write(stopped, again) == rounding
    assert (stopped / "data").read_bytes() == (whole / "data").read_bytes()
    assert rounding["fp32"] == rounding["bf16"] == 0.0
    assert 0.0 < rounding["int8_blocks"] < 0.01 < rounding["int4_blocks"] < 0.2


def test_blocks_of_four_bits_are_two_a_byte(tmp_path: Path) -> None:
    matrix = torch.zeros(1, 32)
    matrix[0, :3] = torch.tensor([-8.0, 7.0, 1.0])
    values, scales, back = weights.blocks(matrix, 4)
    assert scales.tolist() == [[1.0]]
    assert values[0, 0, :2].tolist() == [0 | 15 << 4, 9 | 8 << 4]
    assert torch.equal(back, matrix)


def test_a_matrix_beyond_the_rounding_of_its_type_is_refused(tmp_path: Path) -> None:
    checkpoint = Tensors()
    checkpoint.tensors["t2"] = torch.full((12, 70), 1e-3)
    checkpoint.tensors["t2"][:, ::32] = 1e3
    checkpoint.tensors["t2"][0] = float("nan")
    with pytest.raises(ValueError, match="t2 is nan off"):
        _write(tmp_path, checkpoint)


def test_a_matrix_that_two_nodes_share_is_written_once(tmp_path: Path) -> None:
    table = helper.make_tensor("table", TensorProto.FLOAT, [64, 32], bytes(4 * 64 * 32), raw=True)
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["found"], name="gather"),
        helper.make_node("Transpose", ["table"], ["turned"], name="turn"),
        helper.make_node("MatMul", ["found", "turned"], ["scores"], name="product"),
    ]
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["length"])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["length", 64])
    graph = helper.make_graph(nodes, "tied", [ids], [scores], [table])
    kept = torch.randn(64, 32).bfloat16()
    wanted = (kept[:3].double() @ kept.double().T).numpy()
    for precision, stored, near in [
        ("fp32", ["fp32"], 1e-6),
        ("bf16", ["bf16"], 1e-6),
        ("int8_blocks", ["bf16", "int8_blocks"], 0.1),
    ]:
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
        surgeon = Surgeon(model, "data", precision)
        surgeon.place(model.graph.initializer[0], "origin", turned=False)
        assert [weight.stored for weight in surgeon.weights] == stored
        checkpoint = Tensors()
        checkpoint.tensors["origin"] = kept
        bar = Bar("writing", [weights.size(weight) for weight in surgeon.weights], silent)
        journal = tmp_path / precision
        weights.write(surgeon.weights, checkpoint, tmp_path / "data", journal, bar)
        onnx.save(model, str(tmp_path / "model.onnx"))
        session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
        found = session.run(None, {"ids": np.arange(3)})[0]
        assert np.abs(found - wanted).max() <= near * np.abs(wanted).max(), precision


def test_roundings_of_layers_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = {f"layers.{number}": np.ones((1, 8)) for number in range(28)}

    def apart(first: float) -> dict[str, float]:
        given = [np.full((1, 8), 1.0 + first * number**0.5) for number in range(1, 29)]
        run: Any = lambda *_, **__: SimpleNamespace(values=lambda *_: [given])
        monkeypatch.setattr(exporting, "Runtime", run)
        checkpoint: Any = SimpleNamespace(record=SimpleNamespace(outputs=layers), padding=0)
        case: Any = SimpleNamespace(encoded=None)
        written = Written(None, ({layer: layer for layer in layers},))
        return exporting._layers([Path("model.onnx")], [checkpoint], case, written, Options("m", "int8_blocks"))

    # As it was measured with random weights of 7 B parameters.
    assert max(apart(0.0155).values()) > 0.08
    with pytest.raises(ValueError, match=r"layers\.0 is 6\.0e-02 away"):
        apart(0.06)


def test_tokens_of_the_score_are_looked_for_before_any_work(tmp_path: Path) -> None:
    def score(_: Any) -> Any:
        raise ValueError("'Yes' is 2 tokens and should be one")

    checkpoint: Any = SimpleNamespace(streamed=False)  # there is nothing to compute with
    preset: Any = SimpleNamespace(score=score)
    with pytest.raises(ValueError, match="should be one"):
        export([checkpoint], tmp_path / "out", preset, Options("judge"))
    assert not (tmp_path / "out").exists()

"""Runs a written graph with ONNX Runtime, one sample at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort

from .onnx_file import Shape
from .sample import Encoded

NUMPY_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


class Runtime:
    """A session of one thread, with fixed order of operations."""

    def __init__(self, path: Path) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self.session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.inputs = {item.name: item for item in self.session.get_inputs()}

    def run(self, encoded: Encoded, past: Shape | None = None) -> list[np.ndarray]:
        """The outputs for a sample alone, without the batch dimension; with an empty past."""
        return [output[0] for output in self.batch([encoded], past)]

    def batch(self, rows: list[Encoded], past: Shape | None = None) -> list[np.ndarray]:
        """The outputs for samples together, padded on the right."""
        columns = {
            "input_ids": [row.ids for row in rows],
            "attention_mask": [[1] * len(row.ids) for row in rows],
            "token_type_ids": [row.types for row in rows],
            "position_ids": [list(range(len(row.ids))) for row in rows],
        }
        width = max(len(row.ids) for row in rows)
        places = max(len(row.positions) for row in rows)
        feed = {name: _pad(column, width, 0) for name, column in columns.items() if name in self.inputs}
        if "score_positions" in self.inputs:
            feed["score_positions"] = _pad([row.positions for row in rows], places, -1)
        for name, item in self.inputs.items():
            if past is not None and name.startswith("past_key_values."):
                feed[name] = np.zeros((len(rows), past.heads, 0, past.head_dim), NUMPY_TYPES[item.type])
        return self.session.run(None, feed)


def _pad(rows: list[list[int]], width: int, filler: int) -> np.ndarray:
    return np.array([row + [filler] * (width - len(row)) for row in rows], dtype=np.int64)

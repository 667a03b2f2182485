"""Runs a written graph with ONNX Runtime, one sample at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort

from .graph import Shape
from .sample import Encoded
from .segments import Segments

NUMPY_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


class Runtime:
    """A session of one thread, with fixed order of operations; `pieces`: with a part of the graph in memory."""

    def __init__(self, path: Path, padding: int = 0, pieces: bool = False) -> None:
        self.padding = padding
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        if path.with_name(path.name + ".data").exists():
            # Weights of large graphs stay mapped from their file, not copied into another order.
            options.add_session_config_entry("session.disable_prepacking", "1")
        try:
            self.session = Segments(path, options) if pieces else _session(path, options)
        except Exception as error:  # ONNX Runtime's own have no common class
            raise ValueError(f"ONNX Runtime refuses the graph: {error}") from error
        self.inputs = {item.name: item for item in self.session.get_inputs()}
        self.past = [name for name in self.inputs if name.startswith("past_key_values.")]
        outputs = [item.name for item in self.session.get_outputs()]
        self.plain = [name for name in outputs if not name.startswith("present.")]

    def each(self, samples: list[Encoded], past: Shape | None = None) -> list[list[np.ndarray]]:
        """The outputs for samples alone, without the batch dimension and the present; with an empty past."""
        found = self.values(self.plain, samples, past)
        return [[output[0] for output in outputs] for outputs in found]

    def values(self, names: list[str], samples: list[Encoded], past: Shape | None = None) -> list[list[np.ndarray]]:
        """The outputs of these names for samples alone; where the graph runs in pieces, any of its values."""
        feeds = [self._batch([sample], past) for sample in samples]
        if isinstance(self.session, Segments):
            return self.session.run_all(names, feeds)
        return [self.session.run(names, feed) for feed in feeds]

    def batch(self, rows: list[Encoded], past: Shape | None = None) -> list[np.ndarray]:
        """The outputs for samples together, padded on the right."""
        return self.session.run(self.plain, self._batch(rows, past))

    def _batch(self, rows: list[Encoded], past: Shape | None) -> dict[str, np.ndarray]:
        columns = {
            "input_ids": [row.ids for row in rows],
            "attention_mask": [[1] * len(row.ids) for row in rows],
            "token_type_ids": [row.types for row in rows],
            "position_ids": [list(range(len(row.ids))) for row in rows],
        }
        width = max(len(row.ids) for row in rows)
        places = max(len(row.read) for row in rows)
        feed = {
            name: _pad(column, width, self.padding if name == "input_ids" else 0)
            for name, column in columns.items()
            if name in self.inputs
        }
        if "score_positions" in self.inputs:
            feed["score_positions"] = _pad([row.read for row in rows], places, -1)
        return feed | self._empty(past, len(rows))

    def in_parts(self, encoded: Encoded, past: Shape, half: int) -> list[np.ndarray]:
        """The outputs for the second part of a sample, over the past of the first."""
        first = self._feed(encoded.ids[:half], 0, [half - 1]) | self._empty(past, 1)
        present = self.session.run(None, first)[len(self.plain) :]
        places = [place - half for place in encoded.read if place >= half]
        second = self._feed(encoded.ids[half:], half, places) | dict(zip(self.past, present, strict=True))
        return [output[0] for output in self.session.run(self.plain, second)]

    def greedy(self, ids: list[int], past: Shape, ends: list[int], limit: int) -> list[int]:
        """The token ids that greedy decoding writes, over the past that the graph gives."""
        written: list[int] = []
        feed = self._feed(ids, 0, [len(ids) - 1]) | self._empty(past, 1)
        while True:
            scores, *present = self.session.run(None, feed)
            written.append(int(scores[0, 0].argmax()))
            if len(written) == limit or written[-1] in ends:
                return written
            feed = self._feed(written[-1:], len(ids) + len(written) - 1, [0])
            feed |= dict(zip(self.past, present, strict=True))

    def _feed(self, ids: list[int], before: int, places: list[int]) -> dict[str, np.ndarray]:
        """One sample after `before` tokens of past."""
        total = before + len(ids)
        rows = {
            "input_ids": ids,
            "attention_mask": [1] * total,
            "position_ids": list(range(before, total)),
            "score_positions": places,
        }
        return {name: np.array([row], dtype=np.int64) for name, row in rows.items()}

    def _empty(self, past: Shape | None, rows: int) -> dict[str, np.ndarray]:
        if past is None:
            return {}
        size = (rows, past.heads, 0, past.head_dim)
        return {name: np.zeros(size, NUMPY_TYPES[self.inputs[name].type]) for name in self.past}


def _session(path: Path, options: ort.SessionOptions) -> ort.InferenceSession:
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _pad(rows: list[list[int]], width: int, filler: int) -> np.ndarray:
    return np.array([row + [filler] * (width - len(row)) for row in rows], dtype=np.int64)

"""What an export needs of memory: told before, and measured after."""

from __future__ import annotations

import resource
import sys

BASE_BYTES = 700_000_000
"""The libraries, and the graph without its weights."""
WEIGHT_BYTES = {"fp32": 4, "fp16": 4, "int8": 12}
"""A parameter. The quantiser of ONNX Runtime holds the graph in fp32 two times more."""


def needed(parameters: int, precision: str) -> int:
    """Bytes that the export of so many parameters takes at its peak, where they are in memory together.

    The weights lie in memory in fp32, whatever the checkpoint holds: as the model of transformers, which is
    dropped when the graph is written. ONNX Runtime maps them from the file.
    """
    return WEIGHT_BYTES[precision] * parameters + BASE_BYTES


def needed_streamed(largest: int) -> int:
    """The same where weights are streamed: the largest tensor as its file has it and in fp32, and a piece of the graph."""
    return BASE_BYTES + max(8 * largest, 2_000_000_000)


def peak() -> int:
    """Bytes that this process had in memory at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def shown(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1e9:.1f} GB"

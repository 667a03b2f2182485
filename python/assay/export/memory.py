"""What an export needs of memory: told before, and measured after."""

from __future__ import annotations

import resource
import sys

BASE_BYTES = 700_000_000
"""The libraries, and the graph without its weights."""
WEIGHT_BYTES = {"fp32": 4, "fp16": 4, "int8": 12}
"""A parameter. The quantiser of ONNX Runtime holds the graph in fp32 two times more."""

COMPUTED_BYTES = {"fp32": 4, "fp16": 6, "bf16": 6, "int8_blocks": 2, "int4_blocks": 1}
"""A parameter where the graph runs in pieces: as it is stored, and widened where that is not what is computed."""
PIECE_BYTES = 2_000_000_000
"""Of the graph and of what it computes, beside its libraries: a model of 7 B took 1.2 GB of it unpacked."""


def needed(parameters: int, precision: str) -> int:
    """Bytes that the export of so many parameters takes at its peak, where they are in memory together.

    The weights lie in memory in fp32, whatever the checkpoint holds: as the model of transformers, which is
    dropped when the graph is written. ONNX Runtime maps them from the file.
    """
    return WEIGHT_BYTES[precision] * parameters + BASE_BYTES


def needed_streamed(largest: int, precision: str) -> int:
    """The same where weights are streamed: a piece of the graph, which may be one large matrix as it is computed with."""
    return BASE_BYTES + max(COMPUTED_BYTES[precision] * largest, PIECE_BYTES)


def peak() -> int:
    """Bytes that this process had in memory at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def shown(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1e9:.1f} GB"

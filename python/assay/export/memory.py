"""What an export needs of memory: told before, and measured after."""

from __future__ import annotations

import resource
import sys

BASE_BYTES = 700_000_000
"""The libraries, and the graph without its weights."""
FLOAT_BYTES = 4


def needed(parameters: int) -> int:
    """Bytes that the export of so many parameters takes at its peak.

    The weights lie in memory once, in fp32 whatever the checkpoint holds: as the model of transformers,
    and, when that is dropped, as ONNX Runtime arranges them.
    """
    return FLOAT_BYTES * parameters + BASE_BYTES


def peak() -> int:
    """Bytes that this process had in memory at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def shown(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1e9:.1f} GB"

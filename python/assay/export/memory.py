"""What an export needs of memory: told before, and measured after."""

from __future__ import annotations

import resource
import sys

from torch import nn

BASE_BYTES = 700_000_000
"""The libraries, and the graph without its weights."""
FLOAT_BYTES = 4


def needed(parameters: int) -> int:
    """Bytes that the export of so many parameters takes at its peak.

    The weights lie in memory once, in fp32 whatever the checkpoint holds: as the model of transformers,
    and, when that is dropped, as ONNX Runtime arranges them.
    """
    return FLOAT_BYTES * parameters + BASE_BYTES


def drop(module: nn.Module) -> None:
    """Takes the memory from the weights of a module, which PyTorch keeps when it has traced them."""
    for parameter in module.parameters():
        storage = parameter.untyped_storage()
        if storage.resizable():  # what is mapped from a file is not, and takes no memory
            storage.resize_(0)


def peak() -> int:
    """Bytes that this process had in memory at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def shown(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1e9:.1f} GB"

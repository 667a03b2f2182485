"""Where the parts of the installed package lie: guests of the sandbox, the library of ONNX Runtime."""

from __future__ import annotations

import os
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def assets() -> list[str]:
    """Folders that may hold the guests of the sandbox: ``share/assay`` above the package.

    An environment has it beside ``lib``, ``pip install --target`` beside the package.
    """
    found = (os.path.join(folder, "share", "assay") for folder in [*_above(), sys.prefix, sys.base_prefix])
    return list(dict.fromkeys(folder for folder in found if os.path.isdir(folder)))


def onnxruntime() -> str | None:
    """The folder with the library of the package ``onnxruntime``, which is not imported."""
    from importlib.util import find_spec

    spec = find_spec("onnxruntime")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return os.path.join(places[0], "capi") if places else None


def _above() -> list[str]:
    """The folders above the package, the nearest first."""
    above = [os.path.dirname(PACKAGE)]
    for _ in range(4):
        above.append(os.path.dirname(above[-1]))
    return above

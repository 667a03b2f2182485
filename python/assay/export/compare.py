"""Holds model folders that were just made against those of the repository."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from .checks import distance

NUMBERS = ("raw", "uncertainties", "scores", "score")


def compare(made: Path, kept: Path) -> list[str]:
    """What differs between two folders: manifests but for digests, numbers beyond their tolerance."""
    new, old = (tomllib.loads((folder / "model.toml").read_text(encoding="utf-8")) for folder in (made, kept))
    found = [] if _bare(new) == _bare(old) else [f"{kept.name}: the manifests differ"]
    for number, (fresh, golden) in enumerate(zip(new["golden"], old["golden"], strict=False), 1):
        for key in NUMBERS:
            if not _near(fresh.get(key), golden.get(key), golden["tolerance"]):
                found.append(f"{kept.name}: {key} of golden {number} differs")
    for path in sorted(kept.iterdir()):
        if path.suffix in (".jinja", ".json") and path.read_bytes() != (made / path.name).read_bytes():
            found.append(f"{kept.name}: {path.name} differs")
    return found


def _bare(manifest: dict[str, Any]) -> dict[str, Any]:
    graphs = [{key: value for key, value in graph.items() if key != "sha256"} for graph in manifest["graph"]]
    goldens = [{k: v for k, v in golden.items() if k not in NUMBERS} for golden in manifest["golden"]]
    return manifest | {"graph": graphs, "golden": goldens}


def _near(new: Any, old: Any, tolerance: float) -> bool:
    if isinstance(new, list) and isinstance(old, list):
        return len(new) == len(old) and all(_near(n, o, tolerance) for n, o in zip(new, old, strict=True))
    if isinstance(new, float) and isinstance(old, float):
        return distance(new, old) <= tolerance
    return new == old

"""Files that are the same bytes in every run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


def write(path: Path, value: Any) -> None:
    """Writes a value as compressed JSON, without a time in the header."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0))
    print(f"{path}: {path.stat().st_size} bytes")

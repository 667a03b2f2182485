"""What tests of trainers share."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

# Ray starts no dashboard and reports nothing; one thread is enough for a model of this size.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with the check ``math`` alone, whose path is in ``ASSAY_CONFIG``."""
    path = tmp_path / "assay.json"
    path.write_text(json.dumps({"version": 1, "reward": [{"name": "correct", "verifier": "math"}]}))
    monkeypatch.setenv("ASSAY_CONFIG", str(path))
    return path

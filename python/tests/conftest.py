"""What tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import assay
import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"


def config(*rewards: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """A configuration of these rewards."""
    return {"version": 1, "reward": list(rewards), **sections}


MATH = config({"name": "correct", "verifier": "math"})


@pytest.fixture
def math() -> assay.Engine:
    """An engine with the check ``math`` alone."""
    return assay.Engine(MATH)


@pytest.fixture
def sigint() -> Iterator[None]:
    """Ctrl-C raises, also where the tests were started in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

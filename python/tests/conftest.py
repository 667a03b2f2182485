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


class Tensor:
    """What a tensor of PyTorch has that is asked for: one that needs a gradient has no `__array__`."""

    def __init__(self, numpy: Any, *, grad: bool = True) -> None:
        self.numpy = numpy
        self.grad = grad

    def detach(self) -> Tensor:
        return Tensor(self.numpy, grad=False)

    def cpu(self) -> Tensor:
        return self

    def double(self) -> Tensor:
        return Tensor(self.numpy.astype("float64"), grad=self.grad)

    def long(self) -> Tensor:
        return Tensor(self.numpy.astype("int64"), grad=self.grad)

    def is_floating_point(self) -> bool:
        return bool(self.numpy.dtype.kind == "f")

    def new_tensor(self, numpy: Any) -> Tensor:
        return Tensor(numpy.astype(self.numpy.dtype), grad=False)

    def __array__(self, *_: Any) -> Any:
        if self.grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        return self.numpy

    def __len__(self) -> int:
        return len(self.numpy)

    @property
    def ndim(self) -> int:
        return int(self.numpy.ndim)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numpy)

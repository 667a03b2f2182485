"""Tensors from cases, and records from what a library gives."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from cases import Case, Ragged

Record = dict[str, Any]
Output = Any

DIGITS = 10
"""Significant digits of a number in a file."""
PAD = -1.0
"""Log-probability of the padding; every mask is 0 there."""


AS_IS = (torch.float32, torch.Tensor.float, np.float32)
LIFTED = (torch.float64, torch.Tensor.double, np.float64)


@contextlib.contextmanager
def precision(casts: tuple[Any, Any, Any]) -> Iterator[None]:
    """What a library's casts to single precision give: `LIFTED` to double precision, or `AS_IS`."""
    kept = torch.float32, torch.Tensor.float, np.float32
    torch.float32, torch.Tensor.float, np.float32 = casts  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.float32, torch.Tensor.float, np.float32 = kept  # type: ignore[method-assign]


def padded(rows: Ragged, fill: float = PAD) -> torch.Tensor:
    """Ragged rows as a matrix, padded on the right."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], dtype=torch.float64)


def padded_mask(rows: list[list[int]]) -> torch.Tensor:
    """A ragged mask as a matrix of whole numbers, 0 in the padding."""
    return padded([[float(value) for value in row] for row in rows], 0.0).long()


def ragged(matrix: torch.Tensor, lengths: Iterable[int]) -> list[list[float | None]]:
    """The rows of a matrix without their padding."""
    rows = matrix.detach().tolist()
    return [[number(value) for value in row[:length]] for row, length in zip(rows, lengths, strict=True)]


def number(value: float) -> float | None:
    """A number with as many digits as files keep, nothing if it isn't finite."""
    value = float(value)
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{DIGITS - 1}e}")
    return 0.0 if rounded == 0.0 else rounded


def numbers(values: Iterable[float]) -> list[float | None]:
    """Numbers with as many digits as files keep."""
    return [number(value) for value in values]


class Tensors:
    """The tensors of a loss case; `logp` collects the gradient."""

    def __init__(self, case: Case) -> None:
        """Pads what is ragged."""
        self.lengths = [len(row) for row in case["logp"]]
        self.logp = padded(case["logp"]).requires_grad_()
        self.old = padded(case["old"])
        self.reference = padded(case["reference"])
        self.rollout = padded(case["rollout"])
        self.proximal = padded(case["proximal"])
        self.entropy = padded(case["entropy"], 0.0).requires_grad_()
        self.mask = padded_mask(case["mask"])
        self.rollout_advantages = torch.tensor(case["advantages"], dtype=torch.float64)
        self.token_advantages = padded(case["token_advantages"], 0.0)

    @property
    def advantages(self) -> torch.Tensor:
        """The advantages of the rollouts, on each of their tokens."""
        return self.rollout_advantages.unsqueeze(1).expand_as(self.old) * torch.ones_like(self.old)

    def gradient(self, loss: torch.Tensor) -> list[list[float | None]]:
        """The gradient of a loss in the new log-probabilities."""
        loss.backward()
        found = self.logp.grad
        return ragged(torch.zeros_like(self.logp) if found is None else found, self.lengths)


Loss = Callable[[Tensors], tuple[torch.Tensor, dict[str, float]]]


def loss_record(name: str, function: str, ours: dict[str, Any], cases: list[Case], loss: Loss) -> Record:
    """A record of a loss: its value, its gradient and the library's metrics, case by case."""

    def run(case: Case) -> Output:
        tensors = Tensors(case)
        value, metrics = loss(tensors)
        gradient = tensors.gradient(value)
        found = number(value.item())
        if found is None:
            return None
        output: dict[str, Any] = {"loss": found, "grad": gradient}
        if metrics:
            output["metrics"] = {key: number(metric) for key, metric in metrics.items()}
        return output

    return record(name, function, "losses", ours, cases, run)


def record(
    name: str,
    function: str,
    room: str,
    ours: dict[str, Any],
    cases: list[Case],
    run: Callable[[Case], Output],
    places: Iterable[int] | None = None,
) -> Record:
    """A record of any kind: what a function gives on every case, nothing where it raises."""
    chosen = list(range(len(cases)) if places is None else places)
    outputs: list[Output] = []
    for place in chosen:
        try:
            with precision(LIFTED):
                outputs.append(run(cases[place]))
        except (ValueError, AssertionError, ZeroDivisionError) as error:
            print(f"{name}: case {place}: {error}")
            outputs.append(None)
    found: Record = {"name": name, "function": function, "room": room, "ours": ours, "outputs": outputs}
    if places is not None:
        found["cases"] = chosen
    empty = sum(output is None for output in outputs)
    if 4 * empty > len(outputs):
        raise SystemExit(f"{name}: {empty} of {len(outputs)} cases without output")
    print(f"{name}: {len(outputs)} cases" + (f", {empty} without output" if empty else ""))
    return found


def steady(made: Record, again: Callable[[], Record]) -> Record:
    """A record of a function that draws at random: the cases where four more draws change nothing."""
    same = [True] * len(made["outputs"])
    for seed in range(4):
        torch.manual_seed(seed)
        outputs = again()["outputs"]
        same = [kept and one == other for kept, one, other in zip(same, made["outputs"], outputs, strict=True)]
    places = made.get("cases", list(range(len(same))))
    return {
        **made,
        "cases": [place for place, kept in zip(places, same, strict=True) if kept],
        "outputs": [output for output, kept in zip(made["outputs"], same, strict=True) if kept],
    }

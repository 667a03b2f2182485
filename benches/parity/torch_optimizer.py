"""Writes what PyTorch's AdamW gives under transformers' learning rate schedules.

    python benches/parity/torch_optimizer.py

Two tensors of single precision, a matrix with weight decay and a bias without, are updated with given
gradients: `clip_grad_norm_`, `AdamW.step`, then a step of the schedule, as a trainer does it.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import get_scheduler

FILE = Path(__file__).resolve().parents[2] / "fixtures" / "parity" / "optimizer.json"
UPDATES = 8
SHAPE = (3, 5)
SCHEDULES = {"constant": "constant_with_warmup", "linear": "linear", "cosine": "cosine"}


def main() -> None:
    """Writes the file."""
    torch.set_num_threads(1)
    drawn = random.Random(20)
    cases = [case(drawn, name, warmup) for name in SCHEDULES for warmup in (0, 3)]
    value = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__, "cases": cases}
    FILE.write_text(json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n")
    print(f"{FILE}: {FILE.stat().st_size} bytes")


def case(drawn: random.Random, schedule: str, warmup: int) -> dict[str, Any]:
    """One run of updates."""
    settings = {
        "learning_rate": 0.01,
        "lr_scheduler_type": schedule,
        "warmup_steps": warmup,
        "adam_beta1": 0.9,
        "adam_beta2": drawn.choice([0.95, 0.999]),
        "adam_epsilon": drawn.choice([1e-8, 1e-3]),
        "weight_decay": drawn.choice([0.0, 0.1]),
        "max_grad_norm": 1.0,
    }
    tensors = [torch.nn.Parameter(drawn_tensor(drawn, 1.0, shape)) for shape in (SHAPE, SHAPE[1:])]
    return {"settings": settings, "total_updates": UPDATES, **train(drawn, settings, tensors)}


def train(drawn: random.Random, settings: dict[str, Any], tensors: list[torch.nn.Parameter]) -> dict[str, Any]:
    """Updates the tensors."""
    groups = [{"params": tensors[:1]}, {"params": tensors[1:], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(
        groups,
        lr=settings["learning_rate"],
        betas=(settings["adam_beta1"], settings["adam_beta2"]),
        eps=settings["adam_epsilon"],
        weight_decay=settings["weight_decay"],
        foreach=False,
        fused=False,
    )
    name = SCHEDULES[settings["lr_scheduler_type"]]
    scheduler = get_scheduler(name, optimizer, settings["warmup_steps"], UPDATES)
    start, updates = flat(tensors), []
    for update in range(UPDATES):
        for tensor in tensors:
            size = 0.05 if update % 3 else 1.0
            tensor.grad = drawn_tensor(drawn, size, tensor.shape)
        gradient = flat([tensor.grad for tensor in tensors])
        norm = torch.nn.utils.clip_grad_norm_(tensors, settings["max_grad_norm"]).item()
        rate = scheduler.get_last_lr()[0]
        optimizer.step()
        scheduler.step()
        updates.append({"gradient": gradient, "norm": norm, "learning_rate": rate, "weights": flat(tensors)})
    first = flat([optimizer.state[tensor]["exp_avg"] for tensor in tensors])
    second = flat([optimizer.state[tensor]["exp_avg_sq"] for tensor in tensors])
    return {"start": start, "updates": updates, "first": first, "second": second}


def drawn_tensor(drawn: random.Random, size: float, shape: Any) -> torch.Tensor:
    """Numbers up to `size`."""
    values = [drawn.uniform(-size, size) for _ in range(torch.Size(shape).numel())]
    return torch.tensor(values).reshape(shape)


def flat(tensors: list[Any]) -> list[float]:
    """The values of tensors, one after the other, in as many digits as single precision has."""
    return [float(f"{value:.9g}") for tensor in tensors for value in tensor.detach().flatten().tolist()]


if __name__ == "__main__":
    main()

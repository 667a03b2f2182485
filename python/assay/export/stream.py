"""Models whose weights stay in their checkpoint: a module holds them only while it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

SMALL = 1 << 11
"""Elements up to which a parameter is in memory, beside all vectors: the exporter folds such into others."""
PART = 1 << 24
"""Elements of a matrix that are in memory at a time where a linear layer runs."""
MARKS_MAX = 2048
"""Integers that fp16 tells apart."""
LAYER = re.compile(r"(?:^|\.)((?:layers|layer|h|blocks|block)\.\d+)$")
META = torch.device("meta")


@contextmanager
def weightless() -> Iterator[None]:
    """Parameters of modules that are made here have shapes alone; buffers are what they are."""
    register = nn.Module.register_parameter

    def empty(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        register(module, name, parameter)
        if parameter is not None and parameter.device != META:
            module._parameters[name] = nn.Parameter(parameter.detach().to(META), requires_grad=False)

    nn.Module.register_parameter = empty
    try:
        yield
    finally:
        nn.Module.register_parameter = register


def is_large(parameter: Tensor) -> bool:
    """Whether a parameter stays in the checkpoint."""
    return parameter.dim() > 1 and parameter.numel() > SMALL and min(parameter.shape[-2:]) > 1


def attach(model: nn.Module, prefix: str, has: Callable[[str], bool], read: Callable[..., Tensor]) -> list[str]:
    """Gives each parameter the tensor of the checkpoint that it is, and returns the names of those without one.

    Small ones are read now. Large ones get the attribute `origin`, and are read whenever their module runs.
    """
    names: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    missing = []
    for name, parameter in list(model.named_parameters()):
        origin = next((found for one in names[id(parameter)] if (found := _found(one, prefix, has))), None)
        if origin is None:
            missing.append(name)
        elif not is_large(parameter):
            for alias in names[id(parameter)]:
                _place(model, alias, nn.Parameter(_fitting(read(origin), parameter, origin), requires_grad=False))
        else:
            parameter.origin, parameter.read = origin, partial(read, origin)
    for module in model.modules():
        if any(hasattr(parameter, "origin") for parameter in module.parameters(recurse=False)):
            is_split = isinstance(module, nn.Linear) and module.weight.numel() > PART
            (_split if is_split else _lend)(module)
    return missing


def whole(parameter: Tensor) -> Tensor:
    """A parameter with its values."""
    return parameter.read() if parameter.device == META else parameter


def _found(name: str, prefix: str, has: Callable[[str], bool]) -> str | None:
    """The name in the checkpoint: with the prefix of the base model or without, as transformers reads them."""
    names = (name, f"{prefix}.{name}", name.removeprefix(f"{prefix}."))
    return next((one for one in names if has(one)), None)


def _place(model: nn.Module, name: str, parameter: nn.Parameter) -> None:
    path, _, last = name.rpartition(".")
    model.get_submodule(path)._parameters[last] = parameter


def _fitting(tensor: Tensor, parameter: Tensor, origin: str) -> Tensor:
    if tensor.shape != parameter.shape:
        sizes = f"{origin} of {list(tensor.shape)}, not {list(parameter.shape)}"
        raise ValueError(f"the checkpoint does not fit its config.json: {sizes}")
    return tensor


def _lend(module: nn.Module) -> None:
    """Reads the large parameters of a module before it runs, and drops them after. What a tracer put there stays.

    Of a table it reads the rows that are looked up, and has them looked up by their place among these.
    """
    own = {name: p for name, p in module._parameters.items() if p is not None and hasattr(p, "origin")}
    lent: list[str] = []
    padding = getattr(module, "padding_idx", None)

    def before(_: nn.Module, given: Any) -> Any:
        for name, parameter in own.items():
            if module._parameters[name] is not parameter:
                continue
            lent.append(name)
            if isinstance(module, nn.Embedding):
                rows, places = given[0].unique(return_inverse=True)
                module._parameters[name] = nn.Parameter(parameter.read(rows), requires_grad=False)
                module.padding_idx = None
                return (places, *given[1:])
            loaded = _fitting(parameter.read(), parameter, parameter.origin)
            module._parameters[name] = nn.Parameter(loaded, requires_grad=False)
        return None

    def after(_: nn.Module, __: Any, ___: Any) -> None:
        module._parameters.update((name, own[name]) for name in lent)
        if isinstance(module, nn.Embedding):
            module.padding_idx = padding
        lent.clear()

    module.register_forward_pre_hook(before)
    module.register_forward_hook(after, always_call=True)


def _split(module: nn.Module) -> None:
    """Multiplies with a large matrix in parts of its rows, which are read one by one."""
    own, plain = module.weight, module.forward
    rows = max(1, PART // own.shape[1])

    def forward(states: Tensor) -> Tensor:
        if module.weight is not own:
            return plain(states)
        starts = range(0, own.shape[0], rows)
        parts = [nn.functional.linear(states, own.read(slice(start, start + rows))) for start in starts]
        found = torch.cat(parts, dim=-1)
        return found if module.bias is None else found + module.bias

    module.forward = forward


class Record:
    """What each layer of a model gave for the first text that it ran on, by the end of its name: `layers.3`."""

    def __init__(self, model: nn.Module) -> None:
        self.outputs: dict[str, np.ndarray] = {}
        for name, part in model.named_modules():
            if layer := LAYER.search(name):
                part.register_forward_hook(lambda _, __, found, key=layer[1]: self._keep(key, found))

    def _keep(self, key: str, found: Any) -> None:
        hidden = found[0] if isinstance(found, tuple) else found
        if isinstance(hidden, Tensor) and hidden.device != META and not torch.compiler.is_exporting():
            self.outputs.setdefault(key, hidden.detach().float().numpy())


@contextmanager
def placeholders(module: nn.Module) -> Iterator[list[nn.Parameter]]:
    """Parameters with an origin have a few elements of memory here, and values that tell them apart: see `marked`."""
    kept: list[nn.Parameter] = []
    made: dict[int, nn.Parameter] = {}
    places = []
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is None or not hasattr(parameter, "origin"):
                continue
            if id(parameter) not in made:
                kept.append(parameter)
                row = torch.full((parameter.shape[-1],), float(len(kept)))
                row[0] = -row[0]
                value = row.to(parameter.dtype).expand(parameter.shape)
                made[id(parameter)] = nn.Parameter(value, requires_grad=False)
            places.append((part, name, parameter))
            part._parameters[name] = made[id(parameter)]
    if len(kept) > MARKS_MAX:
        raise ValueError(f"the model has {len(kept)} large tensors; at most {MARKS_MAX} can be told apart")
    try:
        yield kept
    finally:
        for part, name, parameter in places:
            part._parameters[name] = parameter


def marked(values: np.ndarray) -> tuple[int, bool] | None:
    """Which placeholder a tensor of a graph is, from 0, and whether its last two dimensions were turned."""
    if values.ndim < 2 or min(values.shape[-2:]) < 2 or values.dtype.kind != "f":
        return None
    corner = values[(0,) * (values.ndim - 2)][:2, :2].astype(np.float64)
    mark = -corner[0, 0]
    if mark < 1 or mark != round(mark) or corner[1, 1] != mark or corner[0, 1] != -corner[1, 0]:
        return None
    return int(mark) - 1, bool(corner[0, 1] < 0)

"""Classes of a trainer's own kind, made when they are first asked for: no import needs the trainer."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def made(module: str, **classes: tuple[type, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a module.

    Args:
        module: The name of the module.
        classes: For each attribute a class of ours, and the name of the trainer's class to complete.

    >>> from assay.adapters._made import made
    >>> class Counted:
    ...     "Counts."
    >>> ordered = made("a.module", Ordered=(Counted, "collections.OrderedDict"))("Ordered")
    >>> ordered.__module__, ordered.__doc__, len(ordered(a=1))
    ('a.module', 'Counts.', 1)
    """

    @functools.cache
    def attribute(name: str) -> Any:
        if name not in classes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        own, path = classes[name]
        home, _, base = path.rpartition(".")
        bases = (own, getattr(importlib.import_module(home), base))
        return type(name, bases, {"__module__": module, "__doc__": own.__doc__})

    return attribute

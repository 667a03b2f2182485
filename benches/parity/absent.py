"""Stands in for packages that a library imports at once, and that no function called here uses."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from unittest.mock import MagicMock


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module that has every name, wherever a missing one of the packages is asked for."""

    def __init__(self, *packages: str) -> None:
        """The packages; one that is installed is found before this is asked."""
        self.packages = packages

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Names of the packages, and of what is inside them, are found."""
        if name.partition(".")[0] not in self.packages:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """A module that has every name."""
        module = MagicMock(name=spec.name)
        module.__spec__, module.__path__, module.__name__ = spec, [], spec.name
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is executed."""


def stand_in(*packages: str) -> None:
    """Makes missing packages importable. What looks for them in earnest is to be imported before."""
    sys.meta_path.append(Absent(*packages))

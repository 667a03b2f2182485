"""Names of Python and of its library. They belong to the tests, whatever a candidate defines."""

import builtins
import importlib
import sys
import types

STDLIB = frozenset(sys.stdlib_module_names)

_MODULES = ("typing", "math", "itertools", "functools", "collections", "copy", "decimal",
            "fractions", "datetime")


def _members():
    found = {}
    for module in _MODULES:
        module = importlib.import_module(module)
        names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
        for name in names:
            value = getattr(module, name)
            if type(value) is not types.ModuleType:
                found.setdefault(name, value)
    return found


MEMBERS = _members()
"""What tests use of the library without an import of their own."""

BUILTINS = frozenset(vars(builtins))


def reached(names):
    """Modules of these names, and those that they name themselves."""
    found = set()
    for name in names:
        module = sys.modules.get(name)
        if module is not None and name.partition(".")[0] in STDLIB:
            found.add(name)
            found |= {value.__name__ for value in vars(module).values()
                      if type(value) is types.ModuleType}
    return found


def has(name):
    """Whether a name means the library's, unless the tests say otherwise."""
    return name in BUILTINS or name in STDLIB or name in MEMBERS

"""What of the library a program replaced: modules, their classes, and the objects that they hold."""

import builtins
import sys
import types

_FUNCTION = types.FunctionType
_MISSING = object()
_CONSTANTS = frozenset((int, float, complex, str, bytes, tuple, frozenset))
# The interpreter, `unittest.main` and the abstract classes set these themselves.
_UNHELD = frozenset(("_", "__warningregistry__", "main", "TextTestRunner", "TestResult",
                     "TextTestResult", "_abc_impl", "__abstractmethods__", "excepthook",
                     "displayhook", "__doc__"))
_HEAP_TYPE = 1 << 9


class Held:
    """The state of some modules, to which they are compared later."""

    def __init__(self, names):
        self.owners = {}
        for name in names:
            module = sys.modules.get(name)
            if type(module) is types.ModuleType:
                self._module(name, module)

    def _module(self, name, module):
        self.add(name, module)
        for key, value in [*vars(module).items()]:
            kind = type(value)
            if isinstance(value, type):
                if value.__flags__ & _HEAP_TYPE:
                    self.add(f"{value.__module__}.{value.__qualname__}", value)
            elif kind.__flags__ & _HEAP_TYPE and hasattr(value, "__dict__") \
                    and type(vars(value)) is dict:
                self.add(f"{name}.{key}", value)

    def add(self, label, owner):
        """Holds a class or an object as well."""
        if id(owner) not in self.owners:
            names = vars(owner)
            held = {key: value for key, value in names.items() if _is_held(key, value)}
            self.owners[id(owner)] = label, owner, held, frozenset(names)

    def replaced(self, but):
        """The first name that stands for something else than it did, but for those in `but`."""
        for label, owner, held, names in self.owners.values():
            now = vars(owner)
            for key, value in held.items():
                if now.get(key, _MISSING) is not value and key not in but:
                    return f"{label}.{key}"
            for key in now.keys() - names - but:
                if _hides(owner, key):
                    return f"{label}.{key}"
        return None


def _is_held(key, value):
    """Whether an attribute is code, or a constant, rather than state that the library keeps."""
    if key in _UNHELD:
        return False
    kind = type(value)
    return kind is _FUNCTION or callable(value) or hasattr(kind, "__get__") \
        or kind in _CONSTANTS and type(key) is str and not key.startswith("_")


def _hides(owner, key):
    """Whether a new name stands before one that was found elsewhere."""
    if key in _UNHELD:
        return False
    if isinstance(owner, type):
        return any(key in vars(base) for base in owner.__mro__[1:])
    if isinstance(owner, types.ModuleType):
        return key in vars(builtins)
    return callable(getattr(type(owner), key, None))

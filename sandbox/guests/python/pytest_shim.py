"""A module `pytest` for tests that import it: what suites use of it, without plugins."""

import math
import re
import types
import unittest
import warnings as library_warnings
from contextlib import contextmanager
from decimal import Decimal



class Failed(AssertionError):
    """`pytest.fail`"""


class Skipped(unittest.SkipTest):
    """`pytest.skip`"""


def fail(reason="", pytrace=True, msg=None):
    raise Failed(reason or msg or "")


def skip(reason="", *, allow_module_level=False, msg=None):
    raise Skipped(reason or msg or "")


def xfail(reason=""):
    raise Skipped(reason)


fail.Exception, skip.Exception, xfail.Exception = Failed, Skipped, Skipped


def importorskip(name, *_, **__):
    import importlib
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Skipped(f"could not import {name}") from None


class ExceptionInfo:
    """What `pytest.raises` caught."""

    value = None

    @property
    def type(self):
        return type(self.value)

    @property
    def typename(self):
        return type(self.value).__name__

    @property
    def tb(self):
        return self.value.__traceback__

    def match(self, pattern):
        if re.search(pattern, str(self.value)) is None:
            raise AssertionError(f"{pattern!r} does not match {str(self.value)!r}")
        return True

    def errisinstance(self, kinds):
        return isinstance(self.value, kinds)

    def exconly(self, tryshort=False):
        return f"{self.typename}: {self.value}"

    def __str__(self):
        return repr(self)

    def __repr__(self):
        return f"<ExceptionInfo {self.value!r}>"


class _Raises:
    def __init__(self, expected, match=None, check=None):
        self.expected, self.pattern, self.check = expected, match, check
        self.info = ExceptionInfo()

    def __enter__(self):
        return self.info

    def __exit__(self, kind, error, trace):
        if kind is None:
            raise Failed(f"DID NOT RAISE {self.expected!r}")
        if not issubclass(kind, self.expected):
            return False
        self.info.value = error
        if self.pattern is not None:
            self.info.match(self.pattern)
        if self.check is not None and not self.check(error):
            raise AssertionError("the check of the exception fails")
        return True


def raises(expected_exception=BaseException, *args, match=None, check=None, **kwargs):
    context = _Raises(expected_exception, match, check)
    if not args:
        return context
    with context as info:
        args[0](*args[1:], **kwargs)
    return info


@contextmanager
def warns(expected_warning=Warning, *, match=None):
    with library_warnings.catch_warnings(record=True) as seen:
        library_warnings.simplefilter("always")
        yield seen
    kinds = expected_warning
    if not any(issubclass(w.category, kinds) and (match is None or re.search(match, str(w.message)))
               for w in seen):
        raise Failed(f"DID NOT WARN {expected_warning!r}")


def deprecated_call(*, match=None):
    return warns((DeprecationWarning, PendingDeprecationWarning, FutureWarning), match=match)


class approx:
    """Equal within a tolerance: numbers, and sequences and mappings of them."""

    __hash__ = None
    __array_ufunc__ = None

    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, actual):
        return self._same(actual, self.expected)

    def __ne__(self, actual):
        return not self == actual

    def _same(self, actual, expected):
        if isinstance(expected, dict):
            return isinstance(actual, dict) and actual.keys() == expected.keys() and all(
                self._same(actual[key], value) for key, value in expected.items())
        if isinstance(expected, (list, tuple)):
            return isinstance(actual, (list, tuple)) and len(actual) == len(expected) and all(
                map(self._same, actual, expected))
        if expected is None or isinstance(expected, (str, bytes, bool)):
            return type(actual) is type(expected) and actual == expected
        return self._near(actual, expected)

    def _near(self, actual, expected):
        if actual is None or isinstance(actual, (str, bytes, list, tuple, dict, set)):
            return False
        if actual == expected:
            return True
        try:
            gap = abs_(expected - actual)
            size = abs_(expected)
        except TypeError:
            return False
        if gap != gap:
            return self.nan_ok and expected != expected and actual != actual
        if math.isinf(size):
            return False
        kind = Decimal if isinstance(expected, Decimal) else float
        least = kind(str(self.abs)) if self.abs is not None else kind("1e-12")
        share = self.rel if self.rel is not None else (0 if self.abs is not None else 1e-6)
        return gap <= max(least, kind(str(share)) * size)

    def __repr__(self):
        return f"approx({self.expected!r})"


abs_ = abs


class Param:
    def __init__(self, values, marks=(), id=None):
        self.values, self.id = values, id
        self.marks = [marks] if isinstance(marks, _Mark) else [*marks]


def param(*values, marks=(), id=None):
    return Param(values, marks, id)


class _Mark:
    """`pytest.mark.NAME`, bare or with arguments."""

    def __init__(self, name, args=(), kwargs=None):
        self.name, self.args, self.kwargs = name, args, kwargs or {}

    def __call__(self, *args, **kwargs):
        is_bare = not kwargs and len(args) == 1 and (
            isinstance(args[0], type) or type(args[0]) is types.FunctionType)
        if is_bare and self.name not in ("parametrize", "usefixtures"):
            return _marked(args[0], self)
        return _Applied(self.name, args, kwargs)


class _Applied(_Mark):
    def __call__(self, target):
        return _marked(target, self)


def _marked(target, mark):
    target.pytestmark = [*getattr(target, "pytestmark", ()), mark]
    return target


class _Marks:
    __slots__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Mark(name)


mark = _Marks()


class Fixture:
    def __init__(self, function, scope, params, autouse, name, ids=None):
        self.function, self.scope, self.params, self.ids = function, scope, params, ids
        self.autouse, self.name = autouse, name or function.__name__
        self.__wrapped__ = function

    def __get__(self, instance, owner):
        return self


def fixture(function=None, *, scope="function", params=None, autouse=False, ids=None, name=None):
    def decorate(function):
        return Fixture(function, scope, params, autouse, name, ids)
    return decorate if function is None else decorate(function)


def module(main, **more):
    """The module; `main` runs what is defined, in the place of `pytest.main`."""
    made = types.ModuleType("pytest")
    public = ("approx", "deprecated_call", "fail", "fixture", "importorskip", "mark", "param",
              "raises", "skip", "warns", "xfail", "ExceptionInfo")
    for name in public:
        setattr(made, name, globals()[name])
    made.main = main
    vars(made).update(more)
    made.ExitCode = types.SimpleNamespace(OK=0, TESTS_FAILED=1)
    made.__version__ = "8.0.0"
    return made

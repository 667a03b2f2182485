"""Runs tests as pytest does: their fixtures, their parameters, and the marks that skip them."""

import asyncio
import inspect
import io
import itertools
import sys
from contextlib import contextmanager

from plain import cut
from pytest_shim import Fixture, Param
from results import is_skip


class _Request:
    def __init__(self, fixtures, node, param=None):
        self.fixtures, self.param, self.finalizers = fixtures, param, []
        self.function = self.node = node

    def addfinalizer(self, function):
        self.finalizers.append(function)

    def getfixturevalue(self, name):
        return self.fixtures.value(name, None, self, {})


_BUILTIN_FIXTURES = ("request", "capsys", "capfd", "monkeypatch", "tmp_path", "tmpdir", "caplog",
                     "recwarn", "mocker")


class _Captured:
    """`capsys`"""

    __slots__ = ("before",)

    def __init__(self):
        self.before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()

    def readouterr(self):
        out, err = sys.stdout.getvalue(), sys.stderr.getvalue()
        for stream in (sys.stdout, sys.stderr):
            stream.seek(0)
            stream.truncate()
        return _Output(out, err)

    @contextmanager
    def disabled(self):
        yield

    def close(self):
        sys.stdout, sys.stderr = self.before


class _Output(tuple):
    def __new__(cls, out, err):
        return super().__new__(cls, (out, err))

    out = property(lambda self: self[0])
    err = property(lambda self: self[1])


class MonkeyPatch:
    """`monkeypatch`"""

    _NOTHING = object()

    def __init__(self):
        self.undone = []

    def setattr(self, target, name, value=_NOTHING, raising=True):
        if value is self._NOTHING:
            value = name
            path, _, name = target.rpartition(".")
            target = _resolved(path)
        old = vars(target).get(name, self._NOTHING) if isinstance(target, type) \
            else getattr(target, name, self._NOTHING)
        if raising and old is self._NOTHING and not hasattr(target, name):
            raise AttributeError(f"{target!r} has no attribute {name!r}")
        self.undone.append(lambda: delattr(target, name) if old is self._NOTHING
                           else setattr(target, name, old))
        setattr(target, name, value)

    def delattr(self, target, name, raising=True):
        old = getattr(target, name, self._NOTHING)
        if old is self._NOTHING:
            if raising:
                raise AttributeError(name)
            return
        self.undone.append(lambda: setattr(target, name, old))
        delattr(target, name)

    def setitem(self, mapping, key, value):
        old = mapping.get(key, self._NOTHING)
        self.undone.append(lambda: mapping.pop(key, None) if old is self._NOTHING
                           else mapping.__setitem__(key, old))
        mapping[key] = value

    def delitem(self, mapping, key, raising=True):
        if key not in mapping and not raising:
            return
        old = mapping.pop(key)
        self.undone.append(lambda: mapping.__setitem__(key, old))

    def setenv(self, name, value, prepend=None):
        import os
        self.setitem(os.environ, name, str(value))

    def delenv(self, name, raising=True):
        import os
        self.delitem(os.environ, name, raising)

    def syspath_prepend(self, path):
        pass

    def chdir(self, path):
        pass

    @contextmanager
    def context(self):
        inner = MonkeyPatch()
        try:
            yield inner
        finally:
            inner.undo()

    def undo(self):
        while self.undone:
            self.undone.pop()()


def _resolved(path):
    import importlib
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ImportError(path)


class Fixtures:
    """The fixtures of a suite, and those values of them that last longer than a test."""

    def __init__(self, namespace):
        self.known = {value.name: value for value in namespace.values()
                      if isinstance(value, Fixture)}
        self.lasting = {}
        self.finalizers = []

    def of_class(self, case):
        """The same, with the fixtures that a class defines."""
        inner = object.__new__(Fixtures)
        inner.known = {**self.known, **{
            value.name: value for kind in reversed(case.__mro__) for value in vars(kind).values()
            if isinstance(value, Fixture)}}
        inner.lasting, inner.finalizers = self.lasting, self.finalizers
        return inner

    def has(self, name):
        """Whether a parameter of a test is a fixture."""
        return name in self.known or name in _BUILTIN_FIXTURES

    def close(self, results):
        while self.finalizers:
            try:
                self.finalizers.pop()()
            except Exception as error:
                results.failed("fixtures", error)

    def value(self, name, instance, request, made):
        """The value of a fixture for one test."""
        if name == "request":
            return request
        if name in made:
            return made[name]
        known = self.known.get(name)
        if known is None:
            made[name] = self._builtin(name, request)
            return made[name]
        key = (name, repr(request.param) if known.params else None)
        if known.scope != "function" and key in self.lasting:
            made[name] = self.lasting[key]
            return made[name]
        value, ends = self._made(known, instance, request, made)
        made[name] = value
        if known.scope != "function":
            self.lasting[key] = value
            self.finalizers += ends
        else:
            request.finalizers += ends
        return value

    def _made(self, known, instance, request, made):
        arguments = [self.value(name, instance, request, made)
                     for name in _parameters(known.function, instance)]
        bound = [instance] if _is_method(known.function) else []
        value = known.function(*bound, *arguments)
        if inspect.isgenerator(value):
            generator = value
            return next(generator), [lambda: next(generator, None)]
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        return value, []

    def _builtin(self, name, request):
        if name in ("capsys", "capfd"):
            captured = _Captured()
            request.finalizers.append(captured.close)
            return captured
        if name == "monkeypatch":
            patch = MonkeyPatch()
            request.finalizers.append(patch.undo)
            return patch
        raise LookupError(f"fixture {name!r} is not there")

    def params(self, names):
        """The values of the parametrized fixtures that are asked for, each with its name."""
        for name in names:
            known = self.known.get(name)
            if known is not None and known.params:
                return [part.values[0] if isinstance(part, Param) else part
                        for part in known.params]
        return [None]

    def wanted(self, names):
        """The names of fixtures that a test needs, those of others among them."""
        found, waiting = [], [*names, *(n for n, known in self.known.items() if known.autouse)]
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found.append(name)
                known = self.known.get(name)
                if known is not None:
                    waiting += _parameters(known.function, None)
        return found


def _is_method(function):
    return next(iter(inspect.signature(function).parameters), "") == "self"


def _parameters(function, instance):
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.default is p.empty
             and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _marks(function, owner):
    return [*getattr(owner, "pytestmark", ()), *getattr(function, "pytestmark", ())]


def _is_skipped(marks):
    for given in marks:
        if given.name == "skip":
            return True
        if given.name == "skipif" and given.args and given.args[0] \
                and not isinstance(given.args[0], str):
            return True
    return False


def _sets(marks):
    """The arguments that `parametrize` gives: a dict, and marks of its own, for each run."""
    sets = [({}, [])]
    for given in marks:
        if given.name != "parametrize":
            continue
        arguments = dict(zip(("argnames", "argvalues"), given.args)) | given.kwargs
        names = arguments["argnames"]
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",") if name.strip()]
        rows = []
        for values in arguments["argvalues"]:
            own = []
            if isinstance(values, Param):
                values, own = values.values, values.marks
                values = values if len(names) > 1 else values[:1]
            elif len(names) == 1:
                values = (values,)
            rows.append((dict(zip(names, values, strict=True)), own))
        sets = [({**a, **b}, [*x, *y]) for (b, y), (a, x) in itertools.product(rows, sets)]
    return sets


def run_function(results, fixtures, function, name, case):
    """Runs a test as often as it is parametrized."""
    marks = _marks(function, case)
    if _is_skipped(marks) or getattr(function, "__unittest_skip__", False):
        return
    if not any(part.name == "parametrize" for part in marks) \
            and not all(map(fixtures.has, _parameters(function, case))):
        # A helper that other tests call.
        return
    for given, own in _sets(marks):
        if _is_skipped(own):
            continue
        expects_failure = any(part.name == "xfail" for part in (*marks, *own))
        names = [n for n in _parameters(function, case) if n not in given]
        for part in marks:
            if part.name == "usefixtures":
                names = [*names, *part.args]
        for parameter in fixtures.params(fixtures.wanted(names)):
            _run_once(results, fixtures, (function, name, case), given, parameter, expects_failure)


def _run_once(results, fixtures, test, given, parameter, expects_failure):
    function, name, case = test
    before = results.rows.get(name, (0, 0, 0))[2]
    request = _Request(fixtures, function, parameter)
    request.finalizers = []
    try:
        try:
            instance = case() if case is not None else None
            _setup(instance, case, function, "setup_method")
            made = dict(given)
            wanted = fixtures.wanted([n for n in _parameters(function, case) if n not in given])
            for part in wanted:
                if part in fixtures.known or part in _parameters(function, case):
                    fixtures.value(part, instance, request, made)
            arguments = {n: made[n] if n in made else fixtures.value(n, instance, request, made)
                         for n in _parameters(function, case)}
            arguments |= {n: v for n, v in given.items() if n not in arguments}
            bound = function.__get__(instance) if instance is not None else function
            value = bound(**arguments)
            if inspect.iscoroutine(value):
                asyncio.run(value)
        finally:
            for finalizer in reversed(request.finalizers):
                finalizer()
            if case is not None:
                _setup(locals().get("instance"), case, function, "teardown_method")
    except Exception as error:
        if is_skip(error):
            return
        if expects_failure:
            results.passed(name)
        elif results.rows.get(name, (0, 0, 0))[2] == before:
            results.failed(name, error)
        elif results.stop_at_first:
            raise
    else:
        if name not in results.rows:
            results.passed(name)
    results.ran.add(name)


def _setup(instance, case, function, kind):
    method = getattr(instance, kind, None)
    if method is not None:
        method(function) if _takes_one(method) else method()


def _takes_one(method):
    return len(inspect.signature(method).parameters) == 1


def run_class(results, fixtures, case):
    """Runs the tests of a class as pytest does: a fresh instance for each."""
    names = [n for n in dir(case) if n.startswith("test") and callable(getattr(case, n))]
    order = {n: at for kind in reversed(case.__mro__) for at, n in enumerate(vars(kind))}
    names.sort(key=lambda n: order.get(n, 0))
    waiting = [n for n in names if f"{case.__name__}.{n}" not in results.ran]
    if not waiting or "__init__" in vars(case) or _is_skipped(getattr(case, "pytestmark", ())):
        return
    inner = fixtures.of_class(case)
    try:
        _class_method(case, "setup_class")
    except Exception as error:
        results.failed(cut(f"{case.__name__}.setup_class"), error)
        return
    for name in waiting:
        run_function(results, inner, _function_of(case, name), f"{case.__name__}.{name}", case)
    try:
        _class_method(case, "teardown_class")
    except Exception as error:
        results.failed(cut(f"{case.__name__}.teardown_class"), error)


def _function_of(case, name):
    value = inspect.getattr_static(case, name)
    return value.__func__ if isinstance(value, (staticmethod, classmethod)) else value


def _class_method(case, name):
    method = getattr(case, name, None)
    if method is not None:
        method()

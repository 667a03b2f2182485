"""Fixtures of a repository's tests: those of its `conftest.py`, of files and logs, and a parameter for each."""

import logging
import os
import pathlib
import tempfile
import types
import warnings

import pytest_run
import pytest_shim

_BUILTIN = frozenset(("capsys", "capfd", "caplog", "doctest_namespace", "monkeypatch", "recwarn", "request", "tmp_path",
                      "tmp_path_factory", "tmpdir"))


class Fixtures(pytest_run.Fixtures):
    """The fixtures of a file; `chosen` has the parameters of those that have some, by their names."""

    chosen = {}

    def of_class(self, case):
        inner = object.__new__(Fixtures)
        inner.__dict__.update(vars(super().of_class(case)))
        return inner

    def choosing(self, chosen):
        """The same for one run of a test."""
        inner = object.__new__(Fixtures)
        inner.__dict__.update(vars(self))
        inner.chosen = chosen
        return inner

    def has(self, name):
        return name in self.known or name in _BUILTIN or name in self.chosen

    def value(self, name, instance, request, made):
        if name in self.known:
            outer, request = request, _request(self, request, self.chosen.get(name))
            request.finalizers = outer.finalizers
        return super().value(name, instance, request, made)

    def params(self, names):
        """Each fixture has its own."""
        return [None]

    def _builtin(self, name, request):
        if name in ("tmp_path", "tmpdir"):
            return (_Local if name == "tmpdir" else pathlib.Path)(tempfile.mkdtemp())
        if name == "tmp_path_factory":
            return types.SimpleNamespace(mktemp=lambda base, numbered=True: pathlib.Path(
                tempfile.mkdtemp(prefix=base)), getbasetemp=lambda: pathlib.Path(tempfile.gettempdir()))
        if name == "caplog":
            return _Logged(request)
        if name == "doctest_namespace":
            return {}
        if name == "recwarn":
            seen = warnings.catch_warnings(record=True)
            recorded = seen.__enter__()
            request.finalizers.append(lambda: seen.__exit__(None, None, None))
            warnings.simplefilter("default")
            return recorded
        if name == "monkeypatch":
            patch = _Patch()
            request.finalizers.append(patch.undo)
            return patch
        return super()._builtin(name, request)


def _request(fixtures, outer, param):
    made = pytest_run._Request(fixtures, outer.function, param)
    made.cls, made.module = getattr(outer, "cls", None), getattr(outer, "module", None)
    return made


class _Patch(pytest_run.MonkeyPatch):
    """`monkeypatch`, where there are folders."""

    def chdir(self, path):
        before = os.getcwd()
        self.undone.append(lambda: os.chdir(before))
        os.chdir(path)

    def syspath_prepend(self, path):
        import sys
        before = [*sys.path]
        self.undone.append(lambda: sys.path.__setitem__(slice(None), before))
        sys.path.insert(0, str(path))


class _Local(pathlib.PosixPath):
    """`tmpdir`: a path with what tests use of `py.path.local`."""

    strpath = property(str)
    dirname = property(lambda self: str(self.parent))
    basename = property(lambda self: self.name)
    check = pathlib.Path.exists

    def join(self, *parts):
        return self.joinpath(*parts)

    def mkdir(self, *parts):
        made = self.joinpath(*parts)
        os.mkdir(made)
        return made

    def write(self, content, mode="w"):
        with self.open(mode) as file:
            file.write(content)

    def read(self, mode="r"):
        with self.open(mode) as file:
            return file.read()

    def listdir(self):
        return [*self.iterdir()]


class _Logged(logging.Handler):
    """`caplog`"""

    def __init__(self, request):
        super().__init__(0)
        self.records, self._levels = [], []
        self.setFormatter(logging.Formatter("%(levelname)-8s %(name)s:%(filename)s:%(lineno)d %(message)s"))
        logging.getLogger().addHandler(self)
        request.finalizers.append(self.end)

    def emit(self, record):
        record.message = record.getMessage()
        self.records.append(record)

    @property
    def messages(self):
        return [record.message for record in self.records]

    @property
    def text(self):
        return "".join(self.format(record) + "\n" for record in self.records)

    @property
    def record_tuples(self):
        return [(record.name, record.levelno, record.message) for record in self.records]

    handler = property(lambda self: self)

    def clear(self):
        self.records.clear()

    def set_level(self, level, logger=None):
        found = logging.getLogger(logger)
        self._levels.append((found, found.level))
        found.setLevel(level)

    def at_level(self, level, logger=None):
        found = logging.getLogger(logger)
        return _Level(found, level)

    def end(self):
        logging.getLogger().removeHandler(self)
        for logger, level in reversed(self._levels):
            logger.setLevel(level)


class _Level:
    def __init__(self, logger, level):
        self.logger, self.level, self.before = logger, level, logger.level

    def __enter__(self):
        self.logger.setLevel(self.level)

    def __exit__(self, *_):
        self.logger.setLevel(self.before)


def pytest_module():
    """The module `pytest`, with what `conftest.py` asks of it beside: hooks, which nothing calls."""
    made = pytest_shim.module(lambda *_, **__: 1, MonkeyPatch=_Patch)

    def hook(function=None, **_):
        return function if function is not None else lambda function: function

    def missing(name):
        if name[:1].isupper():
            return type(name, (), {})
        raise AttributeError(f"module 'pytest' has no attribute {name!r}")

    made.hookimpl = made.hookspec = hook
    made.yield_fixture, made.register_assert_rewrite = pytest_shim.fixture, lambda *_: None
    made.__getattr__ = missing
    return made

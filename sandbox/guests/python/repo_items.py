"""The tests of a file of a repository: found by their ids, run one by one, a word for each.

Ids are those of pytest: `test_a`, `TestB::test_c`, with `[...]` for the parameters of one run.
"""

import collections
import enum
import itertools
import re
import types
import unittest

import pytest_run
import runner
from pytest_shim import Fixture, Param
from repo_fixtures import Fixtures
from results import Results, shown
from written import written

PASSED, FAILED, ERROR, SKIPPED, MISSING = "passed", "failed", "error", "skipped", "missing"
_CASES_MAX = 100_000


class Items:
    """The tests that are asked for of one module."""

    def __init__(self, module, conftests, recorder):
        self.module, self.namespace, self.recorder = module, vars(module), recorder
        known = {}
        for part in (*conftests, module):
            known.update({value.name: value for value in vars(part).values() if isinstance(value, Fixture)})
        self.fixtures = Fixtures(self.namespace)
        self.fixtures.known = known

    def run(self, wanted):
        """Runs tests, given as names and parameters; gives a row for each: a word, and why."""
        rows = {}
        for owner, ids in itertools.groupby(wanted, lambda one: one[0][:-1]):
            ids = [*ids]
            try:
                case = self._owner(owner)
                if isinstance(case, type) and issubclass(case, unittest.TestCase):
                    self._cases(case, ids, rows)
                else:
                    self._functions(case, ids, rows)
            except _Missing:
                rows.update({one: (MISSING, None) for one in ids if one not in rows})
            except BaseException as error:
                rows.update({one: (ERROR, shown(error)) for one in ids if one not in rows})
        return rows

    def setup(self):
        """What comes before all tests of the module."""
        _call(self.namespace, ("setUpModule", "setup_module"), self.module)

    def teardown(self):
        _call(self.namespace, ("tearDownModule", "teardown_module"), self.module)
        results = Results([], False)
        self.fixtures.close(results)

    def _results(self):
        """What notes outcomes, and what the last comparison came to where a test says no more."""
        self.recorder.last = None
        results = Results([], False)
        results.explain = lambda key, error: _compared(self.recorder)
        return results

    def _owner(self, names):
        found = None
        for name in names:
            found = self.namespace.get(name) if found is None else getattr(found, name, None)
            if not isinstance(found, type):
                raise _Missing
        return found

    def _cases(self, case, ids, rows):
        """Tests of a `TestCase`, with the fixtures of their class."""
        known = {*unittest.defaultTestLoader.getTestCaseNames(case)}
        names = [names[-1] for names, param in ids if names[-1] in known and param is None]
        results = self._results()
        unittest.TestSuite([case(name) for name in names]).run(runner._Outcome(results))
        for one in ids:
            names, param = one
            is_known = names[-1] in known and param is None
            rows[one] = _word(results, f"{case.__name__}.{names[-1]}") if is_known else (MISSING, None)

    def _functions(self, case, ids, rows):
        fixtures = self.fixtures if case is None else self.fixtures.of_class(case)
        if case is not None:
            pytest_run._class_method(case, "setup_class")
        for one in ids:
            names, param = one
            if case is not None and not hasattr(case, names[-1]):
                raise _Missing
            function = pytest_run._function_of(case, names[-1]) if case is not None \
                else self.namespace.get(names[-1])
            if not isinstance(function, types.FunctionType):
                rows[one] = MISSING, None
                continue
            rows[one] = self._function(function, case, fixtures, param)
        if case is not None:
            pytest_run._class_method(case, "teardown_class")

    def _function(self, function, case, fixtures, param):
        """Runs one function: as one of its ids says, or, where the id has no parameters, in all ways."""
        marks = [*getattr(function, "pytestmark", ()), *_class_marks(case),
                 *_listed(self.namespace.get("pytestmark", ()))]
        if pytest_run._is_skipped(marks):
            return SKIPPED, None
        runs = self._runs(function, case, fixtures, marks)
        if param is not None:
            runs = [run for run in runs if "-".join(run.parts) == param][:1]
        if not runs:
            return MISSING, None
        words = [self._once(function, case, fixtures, marks, run) for run in runs]
        return next((word for word in words if word[0] != PASSED), words[0])

    def _runs(self, function, case, fixtures, marks):
        asked = pytest_run._parameters(function, case)
        for part in marks:
            if part.name == "usefixtures":
                asked = [*asked, *part.args]
        indirect = {}
        runs = [_Run({}, {}, [], [])]
        for part in marks:
            if part.name == "parametrize":
                names, rows, chosen = _rows(part)
                indirect.update(dict.fromkeys(chosen))
                runs = [run.with_row(names, row, chosen) for run, row in itertools.product(runs, rows)]
        direct = {name for run in runs[:1] for name in run.given}
        ways = [_ways(fixtures.known[name]) for name in fixtures.wanted([n for n in asked if n not in direct])
                if name in fixtures.known and fixtures.known[name].params and name not in indirect]
        for way in reversed(ways):
            runs = [run.with_param(row) for row, run in itertools.product(way, runs)]
        if len(runs) > _CASES_MAX:
            return []
        return runs

    def _once(self, function, case, fixtures, marks, run):
        if pytest_run._is_skipped(run.marks):
            return SKIPPED, None
        expects_failure = any(part.name == "xfail" for part in (*marks, *run.marks))
        results, name = self._results(), function.__name__
        chosen = fixtures.choosing(run.params)
        try:
            if case is None:
                _call(self.namespace, ("setup_function",), function)
            pytest_run._run_once(results, chosen, (function, name, case), run.given, None, expects_failure)
            if case is None:
                _call(self.namespace, ("teardown_function",), function)
        except BaseException as error:
            return FAILED, shown(error)
        return _word(results, name)


class _Missing(Exception):
    """No test has the name."""


def _call(namespace, names, argument):
    for name in names:
        function = namespace.get(name)
        if isinstance(function, types.FunctionType):
            function(argument) if pytest_run._takes_one(function) else function()
            return


def _listed(marks):
    return marks if isinstance(marks, (list, tuple)) else (marks,)


def _class_marks(case):
    if case is None:
        return ()
    return [part for kind in case.__mro__ for part in _listed(vars(kind).get("pytestmark", ()))]


def _word(results, name):
    row = results.rows.get(name)
    if row is None:
        return SKIPPED, None
    if not row[2]:
        return PASSED, None
    return FAILED, f"{row[3]}: {row[4]}" if row[3] == "AssertionError" and row[4] else row[3]


def _compared(recorder):
    """The comparison that failed, in words."""
    last, recorder.last = recorder.last, None
    if last is None:
        return None
    if last[0] == "truth":
        return written(last[1])
    operation, left, right = last
    return f"not {written(left)} {operation} {written(right)}"


class _Run:
    """One way in which a test runs: arguments, parameters of fixtures, marks, and the parts of its id."""

    def __init__(self, given, params, marks, parts):
        self.given, self.params, self.marks, self.parts = given, params, marks, parts

    def with_row(self, names, row, chosen):
        values, marks, part = row
        given = {n: v for n, v in zip(names, values, strict=True) if n not in chosen}
        params = {n: v for n, v in zip(names, values, strict=True) if n in chosen}
        return _Run({**self.given, **given}, {**self.params, **params}, [*self.marks, *marks], [*self.parts, part])

    def with_param(self, row):
        name, value, marks, part = row
        return _Run(self.given, {**self.params, name: value}, [*self.marks, *marks], [part, *self.parts])


def _rows(part):
    """The names that `parametrize` gives, its rows (values, marks and a part of the id), and which of the
    names are of fixtures."""
    arguments = dict(zip(("argnames", "argvalues", "indirect", "ids"), part.args)) | part.kwargs
    names = arguments["argnames"]
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    indirect = arguments.get("indirect", False)
    chosen = {*names} if indirect is True else {*(indirect or ())}
    ids = arguments.get("ids")
    rows = []
    values = [*itertools.islice(arguments["argvalues"], _CASES_MAX)]
    ids = [*itertools.islice(ids, len(values))] if ids is not None and not callable(ids) else ids
    for at, row in enumerate(values):
        marks, given = [], None
        if isinstance(row, Param):
            marks, given, row = row.marks, row.id, row.values
        elif len(names) == 1:
            row = (row,)
        if given is None and isinstance(ids, list) and ids[at] is not None:
            given = _part(ids[at], str(ids[at]))
        name_part = given if given is not None else "-".join(
            _part(_said(ids, value), f"{name}{at}") for name, value in zip(names, row))
        rows.append((row, marks, name_part))
    return names, _numbered(rows), chosen


def _said(ids, value):
    """What a function says of a value; the value itself where there is none."""
    said = ids(value) if callable(ids) else None
    return value if said is None else said


def _numbered(rows):
    """Ids that stand twice get numbers."""
    times = collections.Counter(part for *_, part in rows)
    taken, numbers, found = {*times}, {}, []
    for values, marks, part in rows:
        if times[part] > 1:
            line = "_" if part[-1:].isdigit() else ""
            at = numbers.get(part, 0)
            while f"{part}{line}{at}" in taken:
                at += 1
            numbers[part] = at + 1
            part = f"{part}{line}{at}"
        found.append((values, marks, part))
    return found


def _ways(fixture):
    """The parameters of a fixture: its name, a value, marks and a part of the id."""
    found = []
    ids = fixture.ids
    for at, value in enumerate(fixture.params):
        marks, given = [], None
        if isinstance(value, Param):
            marks, given, value = value.marks, value.id, value.values[0]
        if given is None:
            said = ids(value) if callable(ids) else None
            if ids is not None and not callable(ids) and at < len(ids):
                said = ids[at]
            given = _part(value if said is None else said, f"{fixture.name}{at}")
        found.append(((fixture.name, value), marks, given))
    return [(*key, marks, part) for key, marks, part in _numbered(found)]


def _part(value, otherwise):
    """A value in an id, as pytest writes it."""
    if isinstance(value, str):
        return value.encode("unicode_escape").decode("ascii")
    if isinstance(value, bytes):
        return value.decode("ascii", "backslashreplace").encode("unicode_escape").decode("ascii") \
            .replace("\\\\x", "\\x")
    if value is None or isinstance(value, (int, float, bool, complex)) and not isinstance(value, enum.Enum):
        return str(value)
    if isinstance(value, re.Pattern):
        return _part(value.pattern, otherwise)
    if isinstance(value, enum.Enum):
        return str(value)
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else otherwise

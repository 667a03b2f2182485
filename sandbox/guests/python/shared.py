"""One room for tests and candidate, for suites that two cannot judge.

It is weaker: what runs in one interpreter can reach all of it. What can be held is held. The tests
are read before the candidate is loaded, compare values of plain types by code of ours, have builtins
of their own, and see when the library or the interpreter's hooks were patched.
"""

import builtins
import collections
import contextlib
import copy
import functools
import io
import itertools
import json
import math
import operator
import re
import sys
import unittest
import unittest.case
import unittest.mock

import judge
import plain
import results
import solver
from marshal import loads
from names import looks_like_class
from proxies import state
from written import written

_WATCHED = {
    "builtins": builtins, "collections": collections, "contextlib": contextlib, "copy": copy,
    "functools": functools, "io": io, "itertools": itertools, "json": json, "math": math,
    "operator": operator, "re": re, "unittest": unittest, "unittest.case": unittest.case,
    "TestCase": unittest.TestCase, "TestResult": unittest.TestResult,
    "TestSuite": unittest.TestSuite, "unittest.mock": unittest.mock,
    "the tests' results": results.Results, "the tests' recorder": results.Recorder,
}
# The interpreter and `unittest.main` set these themselves.
_UNWATCHED = frozenset(("_", "__warningregistry__", "main", "TextTestRunner", "TestResult",
                       "TextTestResult", "_abc_impl", "__abstractmethods__"))


def _known_types():
    """Types of the library: no candidate has been loaded yet."""
    found, waiting = set(), [object]
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found.add(kind)
            waiting += type.__subclasses__(kind)
    # What equals everything is made to.
    return frozenset(kind for kind in found if not kind.__module__.startswith("unittest"))


_TYPES = set()


def note_types():
    """Remembers the types of the library; called once, before the snapshot."""
    _TYPES.update(_known_types())


def shared(preamble, source, has_common_imports, *arguments):
    """Loads the candidate and runs the tests that were read before."""
    before, own_builtins = _seen(), dict(vars(builtins))
    loaded = solver.load(preamble, source, has_common_imports)
    if loads(loaded)[0] != 0:
        return loaded
    program = solver.namespace()

    def find(wanted, imports):
        solver.bring(imports)
        return {name: program[name] for name in wanted if name in program}

    options = judge.Options(*arguments)
    options.builtins, options.solution = own_builtins, sys.modules[solver.NAME]
    options.recorder = _Comparer
    _refuse_patches(before)
    reply = judge.judged(judge.read_suite(), options, find, is_shared=True)
    _refuse_patches(before)
    _refuse_changes(options)
    if state.poisoned is None:
        return reply
    status, rows, error, broken, _, crossings = loads(reply)
    return plain.dumps((status, rows, error, broken, state.poisoned, crossings), 2)


def _seen():
    return {
        name: {key: id(value) for key, value in vars(watched).items() if key not in _UNWATCHED}
        for name, watched in _WATCHED.items()
    }


def _refuse_patches(before):
    """A program that patches what tests are made of is not judged by it."""
    for name, was in before.items():
        now = vars(_WATCHED[name])
        for key, value in was.items():
            if id(now.get(key)) != value and state.poisoned is None:
                state.poisoned = f"the program patches {name}.{key}"
    hooks = sys.gettrace() or sys.getprofile() or any(
        sys.monitoring.get_tool(tool) for tool in range(6))
    if hooks and state.poisoned is None:
        state.poisoned = "the program traces the interpreter"


def _refuse_changes(options):
    """Tests that are not what they were when they were defined judge nobody."""
    changed = [name for name, function, code in options.defined if function.__code__ is not code]
    if sys.modules["__main__"].__dict__.get(judge.RECORDER) is not options.made:
        changed.append("the recorder")
    if changed and state.poisoned is None:
        state.poisoned = f"the program changes {changed[0]} of the tests"


class _Comparer(results.Recorder):
    """Compares for the tests: objects of classes that they do not ask for have no say."""

    def _is_trusted(self, value):
        kind = type(value)
        return kind in _TYPES or kind in self.kinds or self._is_asked(value)

    @property
    def kinds(self):
        """Classes that the tests define themselves, or the prompt of the task."""
        defined = [self.namespace[name] for name in self.defined if name in self.namespace]
        return [value for value in (*self.of_prompt, *defined) if isinstance(value, type)]

    def alone(self, value):
        if not (self._is_trusted(value) or isinstance(value, type)):
            name = type(value).__name__
            raise AssertionError(f"an object of class {name} of the candidate's cannot judge itself")
        return value

    def truth(self, value):
        """The truth of a value, which is to be true."""
        truth = self._truth(value)
        self.last = None if truth else ("truth", value)
        return truth

    def untruth(self, value):
        """The same of a value which is to be false."""
        truth = self._truth(value)
        self.last = ("truth", value) if truth else None
        return truth

    def _truth(self, value):
        if self._is_trusted(value):
            return bool(value)
        return bool(self._plain(value))

    def compare(self, operation, left, right):
        """One comparison, which is to hold."""
        is_so = self._compared(operation, left, right)
        self.last = None if is_so else (operation, left, right)
        return is_so

    def contrast(self, operation, left, right):
        """One comparison, which is not to hold."""
        is_so = self._compared(operation, left, right)
        self.last = (operation, left, right) if is_so else None
        return is_so

    def _compared(self, operation, left, right):
        if operation in _IDENTITIES:
            return _IDENTITIES[operation](left, right)
        if operation == "==":
            return self._equal(left, right)
        if operation == "!=":
            return not self._equal(left, right)
        if operation in ("in", "not in"):
            return self._holds(right, left) == (operation == "in")
        return bool(_ORDERS[operation](self._plain(left), self._plain(right)))

    def sides(self, operation, left, right, *rest):
        """The arguments of `assertEqual` and its like, once they have been compared."""
        if not self.compare(operation, left, right):
            raise AssertionError(f"not {written(left)} {operation} {written(right)}")
        return (left, right, *rest)

    def _plain(self, value):
        """The value itself, or the plain one in an object of a class derived from a plain type."""
        if self._is_trusted(value):
            return value
        base = plain.of_base(value)
        if not base:
            name = type(value).__name__
            raise AssertionError(f"an object of class {name} of the candidate's stands for a value")
        return base[0]

    def _equal(self, left, right):
        if left is right:
            return left == left if type(left) in plain.ATOMS else True
        if self._is_asked(left) or self._is_asked(right):
            return self._by_class(left, right)
        if not (self._is_trusted(left) and self._is_trusted(right)):
            left, right = self._plain(left), self._plain(right)
        kinds = type(left), type(right)
        if kinds in ((list, list), (tuple, tuple)):
            return len(left) == len(right) and all(map(self._equal, left, right))
        if kinds == (dict, dict):
            return len(left) == len(right) and all(
                key in right and self._equal(value, right[key]) for key, value in left.items())
        return bool(left == right)

    def _is_asked(self, value):
        """Whether a value is of a class of the candidate's that the tests ask for."""
        kind = type(value)
        if kind in _TYPES or kind in self.kinds:
            return False
        return kind.__name__ in self.classes or any(
            looks_like_class(name) for name, bound in self.namespace.items() if bound is kind)

    def _by_class(self, left, right):
        """Equality as a class of the candidate's has it, which must tell a value from others."""
        own, other = (left, right) if self._is_asked(left) else (right, left)
        is_so, amount = False, 0
        for value in decoys(other):
            if value is other:
                is_so = bool(left == right)
                amount += is_so
            else:
                amount += _is(operator.eq, *((own, value) if own is left else (value, own)))
        if is_so and amount > 1:
            name = type(own).__name__
            raise AssertionError(f"an object of class {name} equals whatever it is compared with")
        return is_so

    def _holds(self, container, item):
        if type(container) in (list, tuple, set, frozenset, dict):
            return any(self._equal(part, item) for part in container)
        container = self._plain(container)
        if self._is_asked(container) and _is(operator.contains, container, object()):
            name = type(container).__name__
            raise AssertionError(f"an object of class {name} holds whatever it is asked for")
        return item in container


def _is(operation, left, right):
    """What an operation says, where it says anything."""
    try:
        return bool(operation(left, right))
    except Exception:
        return False


def decoys(value):
    """The value among others of its kind, at a place that hangs on it."""
    kind = type(value)
    if kind in (int, float) and value - value == 0 and value + _STEP != value:
        at = hash(value) % 4
        return [value if step == at else value + _STEP * (step - at) for step in range(4)]
    others = [object()]
    if kind is bool:
        others.append(not value)
    elif kind is str:
        others += [value + "?", value[1:]] if value else ["?"]
    elif kind is bytes:
        others += [value + b"?", value[1:]] if value else [b"?"]
    elif kind in (list, tuple):
        others.append(value + kind([_STEP]))
    elif kind in (set, frozenset):
        others.append(value | {_STEP})
    elif kind is dict:
        others.append({**value, _STEP: None})
    elif value is None:
        others.append(_STEP)
    at = sum(written(value).encode()) % (len(others) + 1)
    return [*others[:at], value, *others[at:]]


# So far that neither rounding nor a modulus takes one number for another.
_STEP = 1009
_IDENTITIES = {"is": lambda left, right: left is right, "is not": lambda left, right: left is not right}
_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

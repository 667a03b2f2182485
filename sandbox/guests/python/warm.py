"""A first run of everything, before the snapshot.

Python fills caches and rewrites its bytecode as it runs. What is done here need not be done, nor
copied by the host, in every run.
"""

import sys
import unittest

import judge
import plain
import proxies
import shared
import solver

_PROGRAM = '''
import math
from typing import List

def double(values: List[int], *more, key=None) -> List[int]:
    """Doubles."""
    result = []
    for index, value in enumerate(values):
        if value % 2 == 0 and index < 100 or key:
            result.append(value * 2)
        else:
            result.append(value + value)
    return sorted([int(math.floor(v)) for v in result])

class Pair:
    def __init__(self, a, b=1):
        self.a, self.b = a, b

    def first(self) -> int:
        return self.a
'''

_TESTS = '''
METADATA = {"author": "", "dataset": "test"}

def check(candidate):
    assert candidate([1, 2]) == [2, 4], "Test 1"
    assert candidate([]) == []
    assert abs(candidate([1])[0] - 2.0) < 1e-6
    for i in range(3):
        assert candidate([i]) == [2 * i]
    assert candidate([1, -2], 3, key="a") == [-4, 2]
'''


_REPLACED = ("main", "TextTestRunner", "TestResult", "TextTestResult")


def run():
    """Runs all parts a few times, and forgets what they left."""
    modules = set(sys.modules)
    main = sys.modules["__main__"]
    replaced = {name: getattr(unittest, name) for name in _REPLACED}
    for _ in range(3):
        _solver()
        judge.plan("auto", _PROGRAM, "", _TESTS, ["double"])
        judge.plan("shared", _PROGRAM, "", _TESTS, ["double"])
        shared.shared(None, _PROGRAM, True, _TESTS, ["double"], False, False, False)
    vars(unittest).update(replaced)
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    sys.modules["__main__"] = main
    sys.argv = [""]
    solver.reset()
    proxies.state.__dict__.clear()
    judge.forget()


def _solver():
    solver.load(None, _PROGRAM, True)
    message = plain.pack(("do", "names"), (["check", "double"], []), None)
    _, *arguments = plain.loads(message)
    solver.do(*arguments)
    for values in ([1, 2], (1, 2.5), [range(3)]):
        message = plain.pack(("do", "call"), ("double", ([1, 2],), {}, False), None)
        _, *arguments = plain.loads(message)
        plain.loads(solver.do(*arguments))
        plain.pack((0,), values, None)
        for verb, call in (("answer", ("double", ([1, 2],), {})), ("make", ("Pair", (1,), {})),
                           ("operate", ("first", (), {}))):
            message = plain.pack(("do", verb), call, None)
            _, *arguments = plain.loads(message)
            plain.loads(solver.do(*arguments))
    solver.do("call", 0, ("Pair", (1,), {}, False))
    solver.do("call", 0, ("double", (None,), {}, False))
    proxies.loads(plain.dumps((0, 0, [1, "a", {"b": None}]), 2))

"""Room B: the tests, with stand-ins where they name the candidate.

The candidate's code never runs here, and what it returns arrives as plain data. What this room
returns to the host is the result; nothing that it prints counts.
"""

import sys
import traceback
import types

import explain
import library
import names
import proxies
import pytest_run
import pytest_shim
import runner
import suite as suites
from instrument import RECORDER
from plain import cut, dumps
from proxies import Poisoned, Unsupported, ask, state
from results import Recorder, Results, is_of_program, shown
from suite import Broken

_read = None


class Failed(Exception):
    """The candidate fails before a test could run."""


def plan(isolation, prompt, setup, test, entry_points):
    """Reads the tests: whether the candidate is to share their room, and why; why nobody can be
    judged by them; and how many assertions are written down."""
    global _read
    try:
        _read = suites.read(isolation, prompt, setup, test, entry_points)
    except Broken as why:
        return dumps((0, False, None, cut(str(why)), 0), 2)
    return dumps((0, _read.is_shared, _read.why, None, _read.asserts), 2)


def forget():
    """Forgets the suite."""
    global _read
    _read = None


def read_suite():
    """The suite that was read last."""
    return _read


class Options:
    """What a task says of its tests beside their text."""

    def __init__(self, test, entry_points, stop_at_first, copies_back, allows_nan):
        self.test, self.entry_points = test, entry_points
        self.stop_at_first = stop_at_first
        state.copies_back, state.allows_nan = copies_back, allows_nan
        self.builtins = self.solution = self.made = None
        self.defined = []
        self.recorder = Recorder


def judge(*arguments):
    """Runs the tests that `plan` read, with the candidate in another room."""
    return judged(_read, Options(*arguments), _found, is_shared=False)


def judged(suite, options, find, is_shared):
    """Runs tests; `find` gives what the candidate has under names."""
    state.classes = suite.classes
    state.awaits = "asyncio" in options.test
    results = Results(options.test.split("\n"), options.stop_at_first)
    error = broken = None
    try:
        _run(suite, options, results, find, is_shared)
    except Broken as why:
        broken = cut(str(why))
    except Failed as why:
        error = str(why)
    except SystemExit:
        error = "the tests ended before they were through"
    except Unsupported as why:
        broken = str(why)
    except Poisoned as why:
        error = str(why)
        results.ended(_line_of(why), why)
    except BaseException as why:
        error = shown(why)
        results.is_unnamed |= isinstance(why, NameError)
        if not (_is_touched() or is_shared or results.is_unnamed or results.rows):
            broken = f"the tests fail before they reach the candidate: {error}"
    sys.__stdout__.flush()
    if broken is None and error is None and not results.rows:
        error = "no test of the suite ran"
        if not (_is_touched() or is_shared or results.is_unnamed):
            # Nothing that a program does could have made them run.
            broken = f"{error}: call its functions, or name them test_..."
    if broken is None and error is None and not (_is_touched() or is_shared):
        error = "the tests name what the program does not define" if results.is_unnamed \
            else "the tests end without reaching the program"
    return dumps((0, results.plain(), error, broken or state.unsupported, state.poisoned,
                  state.crossings), 2)


def _line_of(error):
    """The line of the tests at which an exception came to them."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__)
             if frame.f_code.co_filename == suites.TESTS]
    return lines[-1] if lines else "the tests"


def _is_touched():
    return state.crossings > 0 or state.constants > 0


def _run(suite, options, results, find, is_shared):
    namespace = _module()
    if suite.prompt is not None:
        _run_prompt(suite, namespace)
    of_prompt = list(namespace.values())
    if options.builtins is not None:
        namespace["__builtins__"] = options.builtins
    entry = _bind(suite, namespace, options.entry_points, find)
    recorder = options.recorder(results, suite.classes, lambda name: _constant(name, find))
    recorder.namespace, recorder.defined, recorder.of_prompt = namespace, suite.defined, of_prompt
    namespace[RECORDER] = options.made = recorder
    results.explain = explain.Explainer(results.lines, suite, options.entry_points, recorder)
    _install(suite, results, namespace, find, options)
    state.crossings = 0
    if suite.setup is not None:
        exec(suite.setup, namespace)
    try:
        exec(suite.code, namespace)
    except SystemExit as exit:
        _ended(exit, suite, results)
    options.defined = [(name, value, value.__code__) for name, value in namespace.items()
                       if type(value) is types.FunctionType]
    runner.run(namespace, entry, results, lambda name: _ran(suite, results, namespace, name))
    for name in suite.decorated:
        if name not in results.begun:
            raise Failed(f"{name} never ran: what decorates it does not call it")
    if not (suite.asserts or results.rows):
        # Tests that raise by themselves came to their end.
        results.passed("the tests")


def _ended(exit, suite, results):
    """Tests may end themselves, as `unittest.main` does; what stands behind must not be missing."""
    if is_of_program(exit):
        raise Failed("the program ends itself")
    if exit.code not in (None, 0, False):
        raise Failed(f"the tests ended with exit code {cut(repr(exit.code), 100)}")
    missing = [line for line in suite.required if line not in results.rows]
    if missing:
        raise Failed(f"the tests ended before line {missing[0]}")


def _ran(suite, results, namespace, name):
    """Whether a test ran by itself. Where nothing was put into it, its assertions tell."""
    if name in suite.called:
        return True
    function = namespace[name]
    if hasattr(function, "_assay_item"):
        return name in results.ran
    code = function.__code__
    lines = [line for _, _, line in code.co_lines() if line]
    return any(type(row) is int and min(lines) < row <= max(lines) for row in results.rows)


def _module():
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = ["tests.py"]
    return vars(module)


def _run_prompt(suite, namespace):
    try:
        exec(suite.prompt, namespace)
    except Exception:
        return
    for name in suite.stubs:
        namespace.pop(name, None)


def _found(wanted, imports):
    """What the candidate's room has under names: no more than was asked for is taken."""
    before = state.crossings
    found = ask("names", wanted, imports)
    state.crossings = before
    if type(found) is not dict or not all(type(name) is str for name in found):
        proxies.poison("the names of the candidate cannot be read")
    found = {name: found[name] for name in wanted if name in found}
    state.constants += sum(not isinstance(value, proxies.Stand) for value in found.values())
    return found


def _constant(name, find):
    found = find([name], [])
    if name in found:
        return found[name]
    if name in library.MEMBERS:
        return library.MEMBERS[name]
    raise NameError(f"name {name!r} is not defined", name=name)


def _bind(suite, namespace, entry_points, find):
    """Puts the candidate's names where the tests look for them; returns the entry, where it is known."""
    found = find(sorted(suite.asked), suite.imports)
    missing = [name for name in entry_points if name not in found]
    if missing:
        raise Failed(f"NameError: name '{missing[0]}' is not defined")
    for name in suite.asked:
        if name in found:
            namespace[name] = found[name]
    for name, value in suite.members.items():
        namespace.setdefault(name, value)
    if entry_points:
        namespace.setdefault("candidate", found[entry_points[0]])
        return (found[entry_points[0]],)
    entries = tuple(value for value in found.values() if _is_entry(value))
    return entries if len(entries) == 1 else ()


def _is_entry(value):
    return isinstance(value, (proxies.Call, types.FunctionType, type))


def _install(suite, results, namespace, find, options):
    """The modules that tests import: the candidate's under its many names, and `pytest`."""
    test = options.test

    def get(name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = find([name], suite.imports)
        if name not in found:
            results.is_unnamed = True
            raise AttributeError(f"module 'solution' has no attribute '{name}'")
        return found[name]

    for name in names.SOLUTIONS:
        sys.modules[name] = options.solution or types.ModuleType(name)
        if options.solution is None:
            sys.modules[name].__getattr__ = get
    if "unittest" in test:
        runner.install(results, namespace)
    if "pytest" not in test:
        return

    def main(*_, **__):
        runner.run(namespace, None, results, lambda name: _ran(suite, results, namespace, name))
        return int(any(row[2] for row in results.rows.values()))

    sys.modules["pytest"] = pytest_shim.module(main, MonkeyPatch=pytest_run.MonkeyPatch)

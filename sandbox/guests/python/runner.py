"""Runs the tests that a suite defines, unless they ran by themselves."""

import asyncio
import sys
import types
import unittest

import pytest_run
from plain import cut
from results import is_of_program, shown
from suite import Broken


def run(namespace, entry, results, ran):
    """Runs what is defined and did not run: `check`, test functions, test cases, test classes."""
    check = namespace.get("check")
    if type(check) is types.FunctionType and not ran("check"):
        arguments = check.__code__.co_argcount if not hasattr(check, "__wrapped__") \
            else check.__wrapped__.__code__.co_argcount
        if arguments == 0:
            call(check)
        elif arguments == 1 or _has_defaults(check):
            if not entry:
                raise Broken("the tests define check(candidate), and no entry point is known")
            call(check, *entry)
    fixtures = pytest_run.Fixtures(namespace)
    for name, value in [*namespace.items()]:
        if isinstance(value, type) and issubclass(value, unittest.TestCase):
            if value.__module__ == "__main__" and not _is_base(value):
                run_cases(results, value)
        elif isinstance(value, type) and name.startswith("Test") and value.__module__ == "__main__":
            pytest_run.run_class(results, fixtures, value)
        elif name.startswith("test") and type(value) is types.FunctionType and not ran(name):
            pytest_run.run_function(results, fixtures, value, name, None)
    fixtures.close(results)


def _has_defaults(function):
    code = getattr(function, "__wrapped__", function)
    return code.__code__.co_argcount - len(code.__defaults__ or ()) <= 1


def _is_base(case):
    """Whether a class holds no test of its own."""
    return not unittest.defaultTestLoader.getTestCaseNames(case)


def call(function, *arguments):
    """Calls a function; a coroutine is run to its end."""
    value = function(*arguments)
    if type(value) is types.CoroutineType:
        value = asyncio.run(value)
    return value


def run_cases(results, case):
    """Runs the tests of a `TestCase` that did not run, with the fixtures of its class and module."""
    names = [
        name for name in unittest.defaultTestLoader.getTestCaseNames(case)
        if not _ran(results, case, name)
    ]
    if not names:
        return False
    outcome = _Outcome(results)
    outcome.failfast = results.stop_at_first
    suite = unittest.TestSuite(map(case, names))
    suite.run(outcome)
    return outcome.is_failed


def _ran(results, case, name):
    item = getattr(getattr(case, name), "_assay_item", None)
    return f"{case.__name__}.{name}" in results.ran or item is not None and \
        item.partition(".")[0] == case.__name__ and item in results.ran


_TestResult = unittest.TestResult


class _Outcome(_TestResult):
    """Notes the outcome of each test under its name."""

    def __init__(self, results):
        super().__init__()
        self.results = results
        self.is_failed = False

    def startTest(self, test):
        super().startTest(test)
        self.results.ran.add(_name(test))

    def _bad(self, test, error):
        self.is_failed = True
        name = _name(test)
        if not self.results.has_failed(name):
            self.results.note_failed(name, error)
        if self.failfast:
            self.stop()

    def addSuccess(self, test):
        name = _name(test)
        if name not in self.results.rows:
            self.results.passed(name)

    def addError(self, test, err):
        self.errors.append((test, shown(err[1])))
        self._bad(test, err[1])

    def addFailure(self, test, err):
        self.failures.append((test, shown(err[1])))
        self._bad(test, err[1])

    def addSkip(self, test, reason):
        error = sys.exception()
        if error is not None and is_of_program(error):
            self._bad(test, error)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addFailure(test, err)

    def wasSuccessful(self):
        return not self.is_failed

    def addUnexpectedSuccess(self, test):
        self._bad(test, "unexpected success")

    def addExpectedFailure(self, test, err):
        self.results.passed(_name(test))


def _name(test):
    method = getattr(test, "_testMethodName", None)
    if method is None:
        return cut(str(getattr(test, "description", test)), 100)
    return f"{type(test).__name__}.{method}"


def install(results, namespace):
    """Lets the runners that tests call themselves note the outcomes here."""
    def outcome(*_, **__):
        return _Outcome(results)

    class TextTestRunner:
        def __init__(self, *_, **__):
            pass

        def run(self, test):
            made = outcome()
            test.run(made)
            return made

    unittest.main = _unittest_main(results, namespace)
    unittest.TextTestRunner = TextTestRunner
    unittest.TestResult = unittest.TextTestResult = outcome


def _unittest_main(results, namespace):
    def main(*_, exit=True, **__):
        failed = False
        for value in [*namespace.values()]:
            if isinstance(value, type) and issubclass(value, unittest.TestCase) \
                    and value.__module__ == "__main__":
                failed |= run_cases(results, value)
        if exit:
            raise SystemExit(1 if failed else 0)
    return main

"""What became of each test."""

import functools
import inspect
import sys
import unittest

from plain import cut
from proxies import Poisoned, Stand, state

RESULTS_MAX = 2000
# The file that the candidate's program has in tracebacks.
PROGRAM = "<solution>"


class Results:
    """What became of each assertion and each test, in the order in which they were first reached.

    `explain` says of a failure what was compared."""

    __slots__ = ("lines", "stop_at_first", "rows", "ran", "begun", "is_unnamed", "is_ended",
                 "explain")

    def __init__(self, lines, stop_at_first):
        self.lines = lines
        self.stop_at_first = stop_at_first
        self.rows = {}
        self.ran = set()
        self.begun = set()
        self.is_unnamed = self.is_ended = False
        self.explain = lambda key, error: None

    def began(self, name):
        """Notes that the code of a test runs."""
        self.begun.add(name)
        self.ran.add(name)

    def passed(self, key):
        row = self.rows.get(key)
        if row is None:
            self._new(key)
        else:
            row[1] += 1

    def failed(self, key, error):
        self.is_unnamed |= isinstance(error, NameError)
        row = self.rows.get(key)
        if row is None:
            row = self._new(key)
        else:
            row[1] += 1
        if not row[2]:
            row[3] = error if type(error) is str else shown(error)
        row[2] += 1
        if row[2] == 1:
            # Tests that have no stack or memory left have none to look closer.
            if not isinstance(error, (str, RecursionError, MemoryError)) \
                    or getattr(error, "_assay_line", 0):
                row[4] = self.explain(key, error)
        # Tests that call themselves without end fail at every depth, again and again.
        if self.stop_at_first or type(error) is RecursionError:
            raise error if isinstance(error, Exception) else AssertionError(error)

    def note_failed(self, key, error):
        """Records a failure where somebody else decides whether the tests go on."""
        stops, self.stop_at_first = self.stop_at_first, False
        try:
            self.failed(key, error)
        except RecursionError:
            pass
        finally:
            self.stop_at_first = stops

    def ended(self, key, error):
        """Records where the program was stopped."""
        if not self.is_ended:
            self.is_ended = True
            self.note_failed(key, error)

    def has_failed(self, key):
        row = self.rows.get(key)
        return row is not None and row[2] > 0

    def _new(self, key):
        # The rest share the last row: each failure counts, though not each has a row.
        if len(self.rows) >= RESULTS_MAX:
            key = "the other tests"
        row = self.rows.setdefault(key, [key, 0, 0, None, None])
        row[1] += 1
        return row

    def plain(self):
        return [
            (key if type(key) is int else 0, self._text(key), row[1], row[2], row[3], row[4])
            for key, row in self.rows.items()
        ]

    def _text(self, key):
        if type(key) is str:
            return cut(key, 200)
        return cut(self.lines[key - 1].strip(), 200) if 0 < key <= len(self.lines) else ""


class Recorder:
    """What the tests find under the name of the recorder: notes what they do, and lets them go on.

    As a context it records one assertion, by its line.
    """

    last = None
    """The last comparison that came out wrong, where the recorder compares."""
    start = 0
    """Crossings before the last assertion began."""

    def __init__(self, results, classes, constant):
        self.results = results
        self.classes = classes
        self.constant = constant
        self.passing = _Passing(results)

    def __enter__(self):
        self.start = state.crossings

    def __exit__(self, kind, error, trace):
        line = sys._getframe(1).f_lineno
        if error is None:
            self.results.passed(line)
        elif isinstance(error, Exception) and not is_skip(error):
            self.results.failed(line, error)
            return True
        elif isinstance(error, Poisoned):
            self.results.ended(line, error)
        return False

    def item(self, name):
        """Decorates a test: that it ran, and how it ended, is recorded whoever calls it."""
        results = self.results

        def decorate(function):
            if inspect.iscoroutinefunction(function):
                @functools.wraps(function)
                async def recorded(*args, **kwargs):
                    results.began(name)
                    try:
                        value = await function(*args, **kwargs)
                    except Exception as error:
                        if not is_skip(error):
                            results.note_failed(name, error)
                        raise
                    results.passed(name)
                    return value
            else:
                @functools.wraps(function)
                def recorded(*args, **kwargs):
                    results.began(name)
                    try:
                        value = function(*args, **kwargs)
                    except Exception as error:
                        if not is_skip(error):
                            results.note_failed(name, error)
                        raise
                    if name != "check" and not inspect.iscoroutine(value):
                        results.passed(name)
                    return value
            recorded._assay_item = name
            return recorded
        return decorate

    def alone(self, value):
        """A value whose method is about to judge it: not one of a class that nobody asked for."""
        if isinstance(value, Stand) or hasattr(value, "_assay_number"):
            name = getattr(value, "_assay_name", type(value).__name__)
            if name not in self.classes:
                raise AssertionError(f"an object of class {name} of the candidate's cannot judge itself")
        return value


class _Passing:
    """Records an assertion that holds; the tests themselves wait for one that fails."""

    def __init__(self, results):
        self.results = results

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        if error is None:
            self.results.passed(sys._getframe(1).f_lineno)
        return False


def is_of_program(error):
    """Whether an exception came through the candidate's program, in a room that it shares."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM:
            return True
        trace = trace.tb_next
    return False


def is_skip(error):
    """Whether the tests skip one of theirs."""
    return isinstance(error, unittest.SkipTest) and not is_of_program(error)


def shown(error):
    """Name and text of an exception, cut."""
    try:
        text = str(error)
    except BaseException:
        text = ""
    if isinstance(error, Poisoned):
        return cut(text)
    name = type(error).__name__
    line = getattr(error, "_assay_line", 0)
    where = f" (line {line} of the program)" if line else ""
    return cut(f"{name}: {text}" if text else name) + where

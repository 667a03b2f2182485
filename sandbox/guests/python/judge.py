"""Room B: the tests, with stand-ins where they name the candidate.

The candidate's code never runs here, and what it returns arrives as plain data. What this room
returns to the host is the result; nothing that it prints counts.
"""

import ast
import asyncio
import builtins
import re
import sys
import types
import unittest

import plain
import proxies
from plain import cut, dumps
from proxies import Poisoned, Unsupported, ask, state

TESTS = "<tests>"
SETUP = "<setup>"
RESULTS_MAX = 2000

_STDLIB = frozenset(sys.stdlib_module_names)
_SOLUTIONS = ("solution", "candidate", "submission", "main", "answer", "your_module", "program",
              "my_module", "code", "your_solution", "my_solution", "solutions")


class Broken(Exception):
    """The tests themselves cannot run."""


class Failed(Exception):
    """The candidate fails before a test could run."""


class Results:
    """What became of each assertion, in the order in which they were first reached."""

    def __init__(self, lines, stop_at_first):
        self.lines = lines
        self.stop_at_first = stop_at_first
        self.rows = {}
        self.is_unnamed = False

    def passed(self, key):
        row = self.rows.get(key)
        if row is None:
            self._new(key)
        else:
            row[1] += 1

    def failed(self, key, error):
        self.is_unnamed |= isinstance(error, NameError)
        row = self.rows.get(key) or self._new(key)
        if not row[2]:
            row[3] = shown(error)
        row[2] += 1
        # Tests that call themselves without end fail at every depth, again and again.
        if self.stop_at_first or type(error) is RecursionError:
            raise error

    def _new(self, key):
        if len(self.rows) >= RESULTS_MAX:
            return [key, 1, 0, None]
        row = self.rows[key] = [key, 1, 0, None]
        return row

    def plain(self):
        return [
            (key if type(key) is int else 0, self._text(key), row[1], row[2], row[3])
            for key, row in self.rows.items()
        ]

    def _text(self, key):
        if type(key) is str:
            return cut(key, 200)
        return cut(self.lines[key - 1].strip(), 200) if 0 < key <= len(self.lines) else ""


def shown(error):
    """Name and text of an exception, cut."""
    try:
        text = str(error)
    except BaseException:
        text = ""
    name = type(error).__name__
    line = getattr(error, "_assay_line", 0)
    where = f" (line {line} of the program)" if line else ""
    return cut(f"{name}: {text}" if text else name) + where


def judge(prompt, setup, test, entry_points, stop_at_first, copies_back, allows_nan,
          stands_in):
    """Runs the tests; `stands_in` is None, or a function that gives the candidate's own objects."""
    state.copies_back = copies_back
    state.allows_nan = allows_nan
    results = Results(test.split("\n"), stop_at_first)
    namespace = _module()
    error = broken = None
    try:
        _judge(prompt, setup, test, entry_points, results, namespace, stands_in)
    except Broken as why:
        broken = cut(str(why))
    except Failed as why:
        error = str(why)
    except SystemExit as exit:
        if exit.code not in (None, 0, False):
            error = f"the tests ended with exit code {cut(repr(exit.code), 100)}"
    except Unsupported as why:
        broken = str(why)
    except Poisoned as why:
        error = str(why)
    except BaseException as why:
        error = shown(why)
        results.is_unnamed |= isinstance(why, NameError)
        if not (_is_touched(stands_in) or results.is_unnamed):
            broken = f"the tests fail before they reach the candidate: {error}"
    sys.__stdout__.flush()
    if broken is None and error is None and not _is_touched(stands_in):
        if results.is_unnamed:
            error = "the tests name what the program does not define"
        else:
            broken = "the tests end without calling the candidate"
    return dumps((0, results.plain(), error, broken or state.unsupported, state.poisoned,
                  state.crossings), 2)


def _is_touched(stands_in):
    return state.crossings > 0 or stands_in is not None


def _module():
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = ["tests.py"]
    return vars(module)


def _judge(prompt, setup, test, entry_points, results, namespace, stands_in):
    if prompt:
        _stub(prompt, namespace)
    setup, setup_imports, _ = _read(setup or "", SETUP)
    code, imports, called = _plain(test) or _read(test, TESTS)
    imports = setup_imports + imports
    wanted = _names(code) | _names(setup)
    names = stands_in or (lambda wanted: _found(wanted, imports))
    taken, entry = _bind(namespace, wanted, entry_points, test, names)
    # A constant of the candidate has crossed with its name already, and so has a type of Python
    # itself under a name of the candidate's.
    before = sum(1 for value in taken.values() if not isinstance(value, proxies.Call))
    namespace["__assay_test__"] = _Recorder(results)
    sys.modules.update(_solutions(names))
    unittest.main = _unittest_main(results, namespace)
    state.crossings = before
    exec(setup, namespace)
    exec(code, namespace)
    if stands_in is not None:
        touched = called or results.rows
    else:
        touched = state.crossings > before
    if not touched:
        _run_what_was_defined(namespace, entry, results)


def _stub(prompt, namespace):
    """Runs the prompt for its helpers; a prompt in words has none."""
    try:
        exec(compile(prompt, "<prompt>", "exec", dont_inherit=True), namespace)
    except Exception:
        pass


def _read(source, file):
    """Code that records its assertions, what it imports, and what its statements call."""
    try:
        tree = ast.parse(source, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Broken(f"{file} do not parse: {shown(error)}") from None
    imports, called = _imports(tree.body), _called(tree)
    if file is TESTS:
        _instrumented(tree)
    try:
        code = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Broken(f"{file} do not compile: {shown(error)}") from None
    return code, imports, called


_RECORDED = "with __assay_test__: "
_NOT_PLAIN = ("class", "try", "except", "finally", "async", "match", "case", "@")
_NOT_PLAIN_ANYWHERE = ('"""', "'''", "\\\n", ";", "\r")


def _plain(test):
    """What `_read` gives, at half its cost, for tests whose lines tell what is an assertion."""
    if any(text in test for text in _NOT_PLAIN_ANYWHERE):
        return None
    lines, imports, called = [], [], []
    for line in test.split("\n"):
        code = line.lstrip()
        if code[:7] in ("assert ", "assert("):
            line = line[:len(line) - len(code)] + _RECORDED + code
        elif "assert" in code or code.startswith(_NOT_PLAIN):
            return None
        elif code.startswith("def") and len(code) < len(line):
            return None
        elif line.startswith(("import ", "from ")):
            imports.append(line)
        elif line.partition("(")[0].isidentifier() and line.endswith(")"):
            called.append(line)
        lines.append(line)
    try:
        code = compile("\n".join(lines), TESTS, "exec", dont_inherit=True)
        statements = ast.parse("\n".join(imports)).body if imports else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return code, _imports(statements), called


def _imports(body):
    """Imports of the library that a program run together with these tests would see."""
    found = []
    for node in body:
        if type(node) is ast.Import:
            found += [(name.name, None, name.asname) for name in node.names]
        elif type(node) is ast.ImportFrom and node.module and not node.level:
            found += [(node.module, name.name, name.asname or name.name) for name in node.names]
    return [row for row in found if row[0].partition(".")[0] in _STDLIB]


def _names(code):
    found = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            found |= _names(constant)
    return found


def _called(tree):
    """Names that statements of the module call by themselves, such as `check`."""
    return {
        node.value.func.id for node in tree.body
        if type(node) is ast.Expr and type(node.value) is ast.Call
        and type(node.value.func) is ast.Name
    }


def _found(wanted, imports):
    before = state.crossings
    found = ask("names", wanted, imports)
    state.crossings = before
    if type(found) is not dict or type(found.get("found")) is not dict:
        proxies.poison("the names of the candidate cannot be read")
    own = found.get("own")
    return found["found"], frozenset(own if type(own) is list else ())


def _bind(namespace, wanted, entry_points, test, names):
    """Puts the candidate's names where the tests look for them; returns them and the entry."""
    free = {name for name in wanted if name not in namespace}
    found, own = names(sorted(free | set(entry_points)))
    missing = [name for name in entry_points if name not in found]
    if missing:
        raise Failed(f"NameError: name '{missing[0]}' is not defined")
    taken = {name: found[name] for name in entry_points}
    for name in sorted(free):
        if name in found and name not in taken and not _is_ours(name, test):
            taken[name] = found[name]
    if not any(_is_entry(value) for value in taken.values()):
        for name in _outer_calls(test, found, own):
            taken[name] = found[name]
    for name in sorted(free):
        if name not in taken and name not in vars(builtins):
            _bind_ours(namespace, name, test)
    namespace.update(taken)
    if entry_points:
        namespace.setdefault("candidate", taken[entry_points[0]])
        return taken, taken[entry_points[0]]
    entries = [value for value in taken.values() if _is_entry(value)]
    return taken, entries[0] if len(entries) == 1 else None


def _is_entry(value):
    return isinstance(value, (proxies.Call, types.FunctionType, type))


def _is_ours(name, test):
    """Whether the tests mean the library's: a candidate must not supply what compares."""
    if name in vars(builtins) or name in _STDLIB:
        return True
    return name in MEMBERS and (callable(MEMBERS[name]) or not _is_called(name, test))


def _is_called(name, test):
    return re.search(rf"(?<![.\w]){re.escape(name)}\s*\(", test) is not None


def _outer_calls(test, found, own):
    """Names of ours that the candidate defines itself, where its tests name nothing else."""
    calls = [name for name in sorted(own) if _is_called(name, test)]
    return calls if len(calls) == 1 else []


def _bind_ours(namespace, name, test):
    if name in _STDLIB and name in sys.modules and not _is_called(name, test):
        namespace[name] = sys.modules[name]
    elif name in MEMBERS:
        namespace[name] = MEMBERS[name]


def _members():
    modules = ("typing", "math", "itertools", "functools", "collections", "copy", "decimal",
               "fractions", "datetime")
    found = {}
    for module in modules:
        module = sys.modules[module]
        names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
        for name in names:
            value = getattr(module, name)
            if type(value) is not types.ModuleType:
                found.setdefault(name, value)
    return found


MEMBERS = _members()


def _solutions(names):
    """Modules under which tests import the candidate's names."""
    def get(name):
        if name.startswith("__"):
            raise AttributeError(name)
        found, _ = names([name])
        if name not in found:
            raise AttributeError(f"module 'solution' has no attribute '{name}'")
        if not _is_entry(found[name]):
            state.crossings += 1
        return found[name]

    made = {}
    for name in _SOLUTIONS:
        if name not in _STDLIB:
            made[name] = types.ModuleType(name)
            made[name].__getattr__ = get
    return made


def _instrumented(tree):
    """Rewrites the assertions of the module and of its functions so that each is recorded."""
    count = _wrap(tree.body)
    for node in tree.body:
        if type(node) in (ast.FunctionDef, ast.AsyncFunctionDef):
            count += _wrap(node.body)
    return count


def _wrap(body):
    count = 0
    for index, node in enumerate(body):
        kind = type(node)
        if kind is ast.Assert:
            body[index] = _recorded(node)
            count += 1
        elif kind in (ast.For, ast.While, ast.If, ast.With, ast.AsyncFor, ast.AsyncWith):
            count += _wrap(node.body)
            count += _wrap(getattr(node, "orelse", []))
    return count


_LOAD = ast.Load()


def _recorded(node):
    """`with __assay_test__: assert ...`, with as few new nodes as can be; each costs fuel."""
    at = {"lineno": node.lineno, "col_offset": node.col_offset,
          "end_lineno": node.lineno, "end_col_offset": node.col_offset}
    recorder = ast.withitem(ast.Name("__assay_test__", _LOAD, **at))
    return ast.With([recorder], [node], **at)


class _Recorder:
    """Notes what becomes of an assertion, by its line, and lets the tests go on."""

    def __init__(self, results):
        self.results = results

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        line = sys._getframe(1).f_lineno
        if error is None:
            self.results.passed(line)
        elif isinstance(error, Exception):
            self.results.failed(line, error)
            return True
        return False


def _run_what_was_defined(namespace, entry, results):
    """For suites that only define their tests: `check`, test functions, or test cases."""
    check = namespace.get("check")
    tests = [(n, v) for n, v in namespace.items()
             if n.startswith("test") and type(v) is types.FunctionType]
    if type(check) is types.FunctionType and check.__code__.co_argcount <= 1:
        if check.__code__.co_argcount == 0:
            _run(check)
        elif entry is not None:
            _run(check, entry)
        else:
            raise Broken("the tests define check(candidate), and no entry point is known")
    elif tests:
        for name, function in tests:
            _recorded_run(results, name, function)
    elif _cases(namespace):
        _run_cases(results, namespace)


def _run(function, *arguments):
    value = function(*arguments)
    if type(value) is types.CoroutineType:
        asyncio.run(value)


def _recorded_run(results, name, function):
    try:
        _run(function)
    except Exception as error:
        results.failed(name, error)
    else:
        results.passed(name)


def _cases(namespace):
    return [value for value in namespace.values()
            if isinstance(value, type) and issubclass(value, unittest.TestCase)
            and value.__module__ == "__main__"]


def _run_cases(results, namespace):
    cases = _cases(namespace)
    failed = False
    for case in cases:
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            outcome = unittest.TestResult()
            test.run(outcome)
            name = f"{case.__name__}.{test._testMethodName}"
            bad = outcome.errors + outcome.failures
            if bad or outcome.unexpectedSuccesses:
                failed = True
                last = bad[0][1].strip().split("\n")[-1] if bad else "unexpected success"
                row = results.rows.setdefault(name, [name, 1, 0, None])
                row[2:] = [1, cut(last)]
                if results.stop_at_first:
                    break
            elif not outcome.skipped:
                results.passed(name)
    return failed


def _unittest_main(results, namespace):
    def main(*_, exit=True, **__):
        failed = _run_cases(results, namespace)
        if exit:
            raise SystemExit(1 if failed else 0)
    return main

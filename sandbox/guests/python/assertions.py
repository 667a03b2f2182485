"""Whether tests can tell a right program from a wrong one, as far as their text says."""

import ast
import re

import library
import names
from names import FUNCTIONS

NOTHING_ASSERTED = ("the tests assert nothing: a program passes whatever it returns; "
                    "write assert f(1) == 2")

OF_OTHERS = ("expect", "should", "EXPECT", "ASSERT", "REQUIRE", "CHECK")
"""How assertions of other languages begin that do not have `assert` in them."""

# Assertions of JUnit, Jest, googletest, Catch2 and others, and of unittest without `self`.
_FOREIGN = re.compile(
    r"""(?:expect|should|(?:EXPECT|ASSERT|REQUIRE|CHECK)(?:_\w+)?
    |(?i:assert_?(?:not_?)?(?:deep_?)?(?:equals?|eq|ne|true|false|null|nil|none|same|that|throws|raises
    |in|is|like|array|list|tuple|dict|set|sequence|iterable|lines|count|almost|approx|close|near
    |greater|less|contains?|includes?|matche?s?|regexp?|instance|empty)\w*))""", re.VERBOSE)

# Modules of the library that judge, and functions that end the tests or run others.
_JUDGES = frozenset(("unittest", "doctest"))
_ENDS = frozenset(("exit", "quit", "_exit", "abort", "exec", "eval", "run_path", "run_module"))


def can_fail(tree, bound):
    """Whether something in the tests can fail by what a program returns: it asserts, raises or ends
    them, or calls what may do so. `bound` has the names that code before the tests defines."""
    judges = set(bound)
    for node in ast.walk(tree):
        if type(node) is ast.Import:
            judges |= {(name.asname or name.name).partition(".")[0] for name in node.names
                       if _is_judge(name.name)}
        elif type(node) is ast.ImportFrom and _is_judge(node.module or ""):
            judges |= {name.asname or name.name for name in node.names}
    return any(
        type(node) in (ast.Raise, ast.Assert) or type(node) is ast.Call and _may_fail(node.func, judges)
        for node in ast.walk(tree)
    )


def _is_judge(module):
    root = module.partition(".")[0]
    return root in _JUDGES or not (root in library.STDLIB or root in names.SOLUTIONS)


def _may_fail(function, judges):
    if type(function) is ast.Attribute and (
            function.attr in _ENDS or function.attr.startswith(("assert", "fail"))):
        return True
    if type(function) is ast.Name and function.id in _ENDS:
        return True
    return _root(function) in judges


def undefined(tree, asked):
    """What is said of an assertion that nobody defines but the program; None where there is none.

    A program that defined it would judge itself.
    """
    tested = {name for name in asked if not _FOREIGN.fullmatch(name)}
    if not tested:
        return None
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
    for node in ast.walk(tree):
        if type(node) is ast.Expr and type(node.value) is ast.Call:
            name = _root(node.value)
            if name in asked and name not in tested | defined:
                return (f"line {node.lineno}: {name} is defined nowhere in the tests, and a program that "
                        "defines it would judge itself; write assert f(1) == 2")
    return None


def _root(node):
    """The name at which a chain of calls and attributes begins: `expect` in `expect(f(1)).toBe(2)`."""
    while type(node) in (ast.Call, ast.Attribute, ast.Await):
        node = node.value if type(node) in (ast.Attribute, ast.Await) else node.func
    return node.id if type(node) is ast.Name else None

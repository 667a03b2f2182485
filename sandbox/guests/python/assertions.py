"""Whether tests can tell a right program from a wrong one, as far as their text says."""

import ast
import re

import library
import names

NOTHING_ASSERTED = ("the tests assert nothing: a program passes whatever it returns; "
                    "write assert f(1) == 2")

# Assertions of JUnit, Jest, googletest, Catch2 and others, and of unittest without `self`.
_FOREIGN = re.compile(
    r"""(?:expect|should|raises|(?:EXPECT|ASSERT|REQUIRE|CHECK)(?:_\w+)?
    |(?i:assert_?(?:not_?)?(?:deep_?)?(?:equals?|eq|ne|true|false|null|nil|none|same|that|throws|raises
    |in|is|like|array|list|tuple|dict|set|sequence|iterable|lines|count|almost|approx|close|near
    |greater|less|contains?|includes?|matche?s?|regexp?|instance|empty)\w*))""", re.VERBOSE)

# What compares numbers, where `assert` asks whether it is true.
_CLOSE = re.compile(r"(?i:(?:is_?|are_?|np_?)?(?:almost|approx\w*|nearly|all_?close|close)_?(?:equals?|eq|to)?)")

# Modules of the library that judge, and functions that end the tests or run others.
_JUDGES = frozenset(("unittest", "doctest"))
_ENDS = frozenset(("exit", "quit", "_exit", "abort", "exec", "eval", "run_path", "run_module"))


def can_fail(tree, bound, theirs):
    """Whether something in the tests can fail by what a program returns: it asserts, raises or ends
    them, or calls what may do so. `bound` has the names that code before the tests defines, and
    `theirs` those of the program."""
    judges = set(bound)
    for node in ast.walk(tree):
        if type(node) is ast.Import:
            judges |= {(name.asname or name.name).partition(".")[0] for name in node.names
                       if _is_judge(name.name)}
        elif type(node) is ast.ImportFrom and _is_judge(node.module or ""):
            judges |= {name.asname or name.name for name in node.names}
    return any(
        type(node) in (ast.Raise, ast.Assert) or type(node) is ast.Call
        and _may_fail(node.func, judges, theirs)
        for node in ast.walk(tree)
    )


def _is_judge(module):
    root = module.partition(".")[0]
    return root in _JUDGES or not (root in library.STDLIB or root in names.SOLUTIONS)


def _may_fail(function, judges, theirs):
    root = _root(function)
    if root in theirs:
        return False
    name = function.attr if type(function) is ast.Attribute else root
    by_name = name in _ENDS or type(function) is ast.Attribute and name.startswith(("assert", "fail"))
    return by_name or root in judges


def is_foreign(name):
    """Whether a name that the tests do not define is one of an assertion."""
    return bool(_FOREIGN.fullmatch(name) or _CLOSE.fullmatch(name))


def undefined(tree, asked):
    """What is said of an assertion that nobody defines but the program; None where there is none.

    A program that defined it would judge itself.
    """
    tested = {name for name in asked if not is_foreign(name)}
    if not tested:
        return None
    for node, judge, foreign in _judgements(tree):
        name = _root(judge)
        if type(judge) is not ast.Call or name not in asked:
            continue
        # `np.testing.assert_equal(f(1), 2)`, with a name that the tests do not import.
        owner = getattr(judge.func, "value", None)
        is_method = type(owner) is ast.Attribute and judge.func.attr.startswith("assert")
        if is_method or name not in tested and foreign.fullmatch(name):
            return (f"line {node.lineno}: {name} is defined nowhere in the tests, and a program that "
                    "defines it would judge itself; write assert f(1) == 2")
    return None


def _judgements(tree):
    """What may be an assertion of others, each with the names by which it is one."""
    for node in ast.walk(tree):
        if type(node) is ast.Expr:
            yield node, node.value, _FOREIGN
        elif type(node) is ast.Assert:
            yield node, node.test, _CLOSE
        elif type(node) in (ast.With, ast.AsyncWith):
            for item in node.items:
                yield node, item.context_expr, _FOREIGN


def _root(node):
    """The name at which a chain of calls and attributes begins: `expect` in `expect(f(1)).toBe(2)`."""
    while type(node) in (ast.Call, ast.Attribute, ast.Await):
        node = node.value if type(node) in (ast.Attribute, ast.Await) else node.func
    return node.id if type(node) is ast.Name else None

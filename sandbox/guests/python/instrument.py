"""Rewrites tests so that all that they assert is recorded.

Whether tests ran, and what became of them, is noted by code that the rewriting puts into them: no
call at the top of a module and no handler of theirs changes the count.
"""

import ast

from names import FUNCTIONS

RECORDER = "__assay_test__"
_LOAD = ast.Load()
# What these decorate may fail, or is not run as it stands.
_EXPECTS_FAILURE = ("expectedFailure", "xfail")


def rewrite(tree, constants, is_shared):
    """Rewrites a module in place. In a shared room comparisons of assertions become calls."""
    if is_shared:
        _Comparisons(tree).visit(tree)
    _wrap(tree.body, "", False)
    if constants:
        _Constants(constants).visit(tree)


def compared(tree):
    """Lets the recorder compare in the assertions of a module, and changes nothing else."""
    _Comparisons(tree).visit(tree)


def _wrap(body, outer, is_caught):
    """Records the assertions of a body; `is_caught` says that something waits for them to fail."""
    for index, node in enumerate(body):
        kind = type(node)
        if kind is ast.Assert:
            node.test = _judging(node.test)
            body[index] = _recorded(node, is_caught)
        elif kind in FUNCTIONS:
            _function(node, outer)
        elif kind is ast.ClassDef:
            _wrap(node.body, f"{outer}{node.name}.", False)
        elif kind in (ast.Try, ast.TryStar):
            _wrap(node.body, outer, True)
            for handler in node.handlers:
                _wrap(handler.body, outer, is_caught)
            _wrap(node.orelse, outer, is_caught)
            _wrap(node.finalbody, outer, is_caught)
        elif kind in (ast.With, ast.AsyncWith):
            _wrap(node.body, outer, is_caught or _catches(node))
        elif kind is ast.Match:
            for case in node.cases:
                _wrap(case.body, outer, is_caught)
        elif kind in (ast.For, ast.While, ast.If, ast.AsyncFor):
            _wrap(node.body, outer, is_caught)
            _wrap(node.orelse, outer, is_caught)
        elif kind is ast.Expr and type(node.value) is ast.Call and node.value.args \
                and type(node.value.func) is ast.Attribute \
                and node.value.func.attr in ("assertTrue", "assertFalse"):
            node.value.args[0] = _judging(node.value.args[0])


def _catches(node):
    """Whether a `with` waits for an exception."""
    text = " ".join(ast.dump(item.context_expr) for item in node.items)
    return any(word in text for word in ("raises", "assertRaises", "suppress"))


def _function(node, outer):
    _wrap(node.body, f"{outer}{node.name}.", False)
    is_test = node.name.startswith("test") or node.name in ("check", "runTest")
    if is_test and not any(word in ast.dump(part) for part in node.decorator_list
                           for word in _EXPECTS_FAILURE):
        at = _at(node)
        item = _attribute("item", at)
        node.decorator_list.append(ast.Call(item, [ast.Constant(outer + node.name, **at)], [], **at))


def _recorded(node, is_caught):
    """`with __assay_test__: assert ...`, with as few new nodes as can be; each costs fuel."""
    at = _at(node)
    recorder = _attribute("passing", at) if is_caught else ast.Name(RECORDER, _LOAD, **at)
    return ast.With([ast.withitem(recorder)], [node], **at)


def _at(node):
    return {"lineno": node.lineno, "col_offset": node.col_offset,
            "end_lineno": node.lineno, "end_col_offset": node.col_offset}


def _attribute(name, at):
    return ast.Attribute(ast.Name(RECORDER, _LOAD, **at), name, _LOAD, **at)


def _judging(node):
    """The same expression; what a method says of its own object is not believed alone."""
    kind = type(node)
    if kind is ast.UnaryOp and type(node.op) is ast.Not:
        node.operand = _judging(node.operand)
    elif kind is ast.BoolOp:
        node.values = [_judging(part) for part in node.values]
    elif kind is ast.Call and type(node.func) is ast.Name and node.func.id in ("all", "any", "bool"):
        node.args = [_judging(part) for part in node.args]
    elif kind in (ast.GeneratorExp, ast.ListComp):
        node.elt = _judging(node.elt)
    elif kind is ast.Call and type(node.func) is ast.Attribute:
        at = _at(node)
        node.func.value = ast.Call(_attribute("alone", at), [node.func.value], [], **at)
    return node


class _Constants(ast.NodeTransformer):
    """Asks for a constant of the candidate's whenever it is read."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        if node.id not in self.names or type(node.ctx) is not ast.Load:
            return node
        at = _at(node)
        return ast.Call(_attribute("constant", at), [ast.Constant(node.id, **at)], [], **at)


_OPERATIONS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}
_ASSERTIONS = {
    "assertEqual": "==", "assertEquals": "==", "assertListEqual": "==", "assertTupleEqual": "==",
    "assertDictEqual": "==", "assertSetEqual": "==", "assertSequenceEqual": "sequence",
    "assertMultiLineEqual": "==", "assertNotEqual": "!=", "assertIn": "in", "assertNotIn": "not in",
    "assertLess": "<", "assertLessEqual": "<=", "assertGreater": ">", "assertGreaterEqual": ">=",
}


_MOCK_JUDGES = frozenset((
    "assert_called", "assert_called_once", "assert_called_with", "assert_called_once_with",
    "assert_any_call", "assert_has_calls", "assert_not_called", "assert_awaited",
    "assert_awaited_once", "assert_awaited_with", "assert_awaited_once_with", "assert_any_await",
    "assert_has_awaits", "assert_not_awaited"))


# Assertions of unittest that compare by code of their own.
_NEAR = frozenset(("assertAlmostEqual", "assertAlmostEquals", "assertNotAlmostEqual"))
_COUNTED = frozenset(("assertCountEqual", "assertItemsEqual"))
# Operands that nothing runs to compute, so that a chain of comparisons may ask for all at once.
_SIMPLE = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)


class _Comparisons(ast.NodeTransformer):
    """Lets the recorder compare: what assertions say, strictly, and all else where it is in doubt.

    The tests have an `ANY` of their own: a program that gives that of the library equals nothing by it."""

    def __init__(self, tree):
        self.any = {name.asname or name.name for node in ast.walk(tree) if type(node) is ast.ImportFrom
                    and node.module in _MOCKS for name in node.names if name.name == "ANY"}

    def visit_Assert(self, node):
        node.test = self._judged(node.test)
        return node

    def visit_Name(self, node):
        is_any = node.id in self.any and type(node.ctx) is ast.Load
        return _attribute("any", _at(node)) if is_any else node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        owner = node.value
        name = getattr(owner, "id", None) or getattr(owner, "attr", None)
        is_any = node.attr == "ANY" and name in ("mock", "mocker") and type(node.ctx) is ast.Load
        return _attribute("any", _at(node)) if is_any else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        sides, operations = [node.left, *node.comparators], [_OPERATIONS[type(op)] for op in node.ops]
        later = (part for side in sides[2:] for part in ast.walk(side))
        if "is" in operations or "is not" in operations or not all(isinstance(part, _SIMPLE) for part in later):
            return node
        return _asked("found", node, *(ast.Constant(one, **_at(node)) for one in operations), *sides)

    def visit_Call(self, node):
        name = node.func.attr if type(node.func) is ast.Attribute else getattr(node.func, "id", "")
        if name in ("assertTrue", "assertFalse") and node.args:
            truth = self._judged(node.args.pop(0), name == "assertFalse")
            self.generic_visit(node)
            node.args.insert(0, truth)
            return node
        self.generic_visit(node)
        is_pair = len(node.args) >= 2 and not any(type(part) is ast.Starred for part in node.args)
        if name in _ASSERTIONS and is_pair:
            operation = ast.Constant(_ASSERTIONS[name], **_at(node))
            node.args = [ast.Starred(_asked("sides", node, operation, *node.args), _LOAD, **_at(node))]
        elif name in _NEAR and is_pair:
            node.args = [ast.Starred(_asked("near", node, *node.args), _LOAD, **_at(node))]
        elif name in _ASSERTIONS or name in _NEAR or name in _COUNTED:
            node.args = [_fair(part) for part in node.args]
            node.keywords = [_fair(part) for part in node.keywords]
        elif name in _MOCK_JUDGES:
            node.func.value = _asked("mock", node, node.func.value, ast.Constant(name, **_at(node)))
        elif name == "abs" and len(node.args) == 1 and type(node.args[0]) is ast.BinOp \
                and type(node.args[0].op) is ast.Sub:
            node.args = [_asked("difference", node, node.args[0].left, node.args[0].right)]
        return node

    def _judged(self, node, is_negated=False):
        kind = type(node)
        if kind is ast.Compare and len(node.ops) == 1:
            self.generic_visit(node)
            operation = ast.Constant(_OPERATIONS[type(node.ops[0])], **_at(node))
            return _asked("contrast" if is_negated else "compare", node, operation, node.left, node.comparators[0])
        if kind is ast.BoolOp:
            node.values = [self._judged(part, is_negated) for part in node.values]
            return node
        if kind is ast.UnaryOp and type(node.op) is ast.Not:
            node.operand = self._judged(node.operand, not is_negated)
            return node
        if kind is ast.Compare:
            return self.visit(node)
        return _asked("untruth" if is_negated else "truth", node, self.visit(_judging(node)))


_MOCKS = ("unittest.mock", "mock")


def _asked(method, node, *arguments):
    """A call of the recorder in the place of an expression."""
    return ast.Call(_attribute(method, _at(node)), [*arguments], [], **_at(node))


def _fair(part):
    """An argument of an assertion, which the recorder looks at."""
    if isinstance(part, (ast.Starred, ast.keyword)):
        part.value = _fair(part.value)
        return part
    return _asked("fair", part, part)

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
        _Comparisons().visit(tree)
    _wrap(tree.body, "", False)
    if constants:
        _Constants(constants).visit(tree)


def compared(tree):
    """Lets the recorder compare in the assertions of a module, and changes nothing else."""
    _Comparisons().visit(tree)


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
    "assertDictEqual": "==", "assertSetEqual": "==", "assertSequenceEqual": "==",
    "assertMultiLineEqual": "==", "assertNotEqual": "!=", "assertIn": "in", "assertNotIn": "not in",
    "assertLess": "<", "assertLessEqual": "<=", "assertGreater": ">", "assertGreaterEqual": ">=",
}


_MOCK_JUDGES = frozenset((
    "assert_called", "assert_called_once", "assert_called_with", "assert_called_once_with",
    "assert_any_call", "assert_has_calls", "assert_not_called", "assert_awaited",
    "assert_awaited_once", "assert_awaited_with", "assert_awaited_once_with", "assert_any_await",
    "assert_has_awaits", "assert_not_awaited"))


class _Comparisons(ast.NodeTransformer):
    """Lets the recorder compare in assertions, and ask for the truth of what they say."""

    def visit_Assert(self, node):
        node.test = self._judged(node.test)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.attr if type(node.func) is ast.Attribute else ""
        if name in _ASSERTIONS and len(node.args) >= 2 and not any(
                type(part) is ast.Starred for part in node.args):
            at = _at(node)
            operation = ast.Constant(_ASSERTIONS[name], **at)
            sides = ast.Call(_attribute("sides", at), [operation, *node.args], [], **at)
            node.args = [ast.Starred(sides, _LOAD, **at)]
        elif name in _MOCK_JUDGES:
            at = _at(node)
            called = [node.func.value, ast.Constant(name, **at)]
            node.func.value = ast.Call(_attribute("mock", at), called, [], **at)
        elif name in ("assertTrue", "assertFalse") and node.args:
            node.args[0] = self._judged(node.args[0], name == "assertFalse")
        return node

    def _judged(self, node, is_negated=False):
        kind, at = type(node), _at(node)
        if kind is ast.Compare and len(node.ops) == 1:
            operation = ast.Constant(_OPERATIONS[type(node.ops[0])], **at)
            return ast.Call(_attribute("contrast" if is_negated else "compare", at),
                            [operation, node.left, node.comparators[0]], [], **at)
        if kind is ast.BoolOp:
            node.values = [self._judged(part, is_negated) for part in node.values]
            return node
        if kind is ast.UnaryOp and type(node.op) is ast.Not:
            node.operand = self._judged(node.operand, not is_negated)
            return node
        if kind is ast.Compare:
            return node
        truth = "untruth" if is_negated else "truth"
        return ast.Call(_attribute(truth, at), [_judging(node)], [], **at)

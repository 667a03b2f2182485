"""What the parts of an assertion were, recalled after it failed.

The candidate is not called again: what it replied is in the record of the latest crossings, and is taken
from there where the same is asked again. Of the rest only pure functions of plain data are computed.
"""

import ast
import builtins
import collections
import math
import operator
import types

import names
import plain
import proxies
from written import base_of, is_stand

_ITEMS_MAX = 20_000
_BUILTINS = dict(vars(builtins))


class Unknown(Exception):
    """A value that cannot be known without running the tests again."""


class Unrecorded(Unknown):
    """The record does not hold what was asked for."""


class TooLarge(Unrecorded):
    """What was asked for is not recorded, because it is large."""


class Recall:
    """Values of expressions, as a frame of the tests and a record of crossings have them."""

    def __init__(self, scopes, suite, constant, steps):
        self.scopes = [*scopes, _BUILTINS]
        self.constants, self.constant = suite.constants, constant
        # Where the candidate has a room of its own, objects of this one are none of its making.
        self.is_apart = not suite.is_shared
        self.steps = steps
        self.replay(())

    def replay(self, record):
        """Starts again, with other crossings."""
        self.record, self.at, self.known = record, 0, {}
        proxies.invoke = self._reply

    def is_through(self):
        """Whether all that is recorded was asked for."""
        return self.at == len(self.record)

    def _reply(self, message):
        if self.at >= len(self.record):
            raise Unrecorded
        if self.record[self.at][0] != message:
            raise Unrecorded if self.record[self.at][0] else TooLarge
        self.at += 1
        return self.record[self.at - 1][1]

    def value(self, node):
        """The value of an expression."""
        known = self.known.get(node)
        if known is not None:
            return known[0]
        self.steps -= 1
        read = _READ.get(type(node))
        if read is None or self.steps < 0:
            raise Unknown
        value = read(self, node)
        self.known[node] = (value,)
        return value

    def found(self, name):
        """What a name stands for."""
        if name in self.constants:
            return self.constant(name)
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        raise Unknown


def is_data(value):
    """Whether a value is plain through and through, and not too large to look at."""
    waiting, left = [value], _ITEMS_MAX
    while waiting:
        value = waiting.pop()
        base = base_of(value)
        if base is None or base is not type(value) and not _is_known(type(value)):
            return False
        left -= 1
        if base in _CONTAINERS:
            left -= base.__len__(value)
            if left < 0:
                return False
            waiting += base.__iter__(value)
            waiting += dict.values(value) if base is dict else ()
    return left >= 0


_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)


def _is_known(kind):
    """Whether a class that is derived from a plain one is the library's, or stands for one of the
    candidate's in a room where that is not."""
    return any(kind is known for known in (*plain.RULED, *proxies.derived()))


def _data(value):
    if not is_data(value):
        raise Unknown
    return value


def holds(symbol, left, right):
    """Whether a comparison of plain values holds."""
    if symbol in ("is", "is not") and not (right is None or type(right) is bool):
        raise Unknown
    if symbol in ("is", "is not") and is_stand(left):
        return symbol == "is not"
    return bool(_COMPARES[symbol](_data(left), _data(right)))


def is_true(value):
    """The truth of a plain value."""
    return bool(_data(value))


def _display(make):
    def read(recall, node):
        if names.is_literal(node):
            recall.steps -= sum(1 for _ in ast.walk(node))
            return ast.literal_eval(node)
        return make([recall.value(part) for part in node.elts])
    return read


def _dict(recall, node):
    if None in node.keys:
        raise Unknown
    return {_data(recall.value(key)): recall.value(value)
            for key, value in zip(node.keys, node.values)}


def _unary(recall, node):
    return _UNARY[type(node.op)](_data(recall.value(node.operand)))


def _binary(recall, node):
    left, right = recall.value(node.left), recall.value(node.right)
    return _BINARY[type(node.op)](_data(left), _data(right))


def _logic(recall, node):
    is_or = type(node.op) is ast.Or
    for part in node.values:
        value = recall.value(part)
        if is_true(value) == is_or:
            break
    return value


def _compare(recall, node):
    left = recall.value(node.left)
    for operation, side in zip(node.ops, node.comparators):
        right = recall.value(side)
        if not holds(SYMBOLS[type(operation)], left, right):
            return False
        left = right
    return True


def _attribute(recall, node):
    owner = recall.value(node.value)
    if node.attr.startswith("__"):
        raise Unknown
    if type(owner) is types.ModuleType:
        found = owner.__dict__
        if node.attr in found:
            return found[node.attr]
        if "__getattr__" in found and getattr(found["__getattr__"], "__module__", "") == "judge":
            return found["__getattr__"](node.attr)
        raise Unknown
    if recall.is_apart and not is_stand(owner) and not is_data(owner):
        own = getattr(owner, "__dict__", None)
        if type(own) is dict and node.attr in own:
            return own[node.attr]
        if not isinstance(owner, BaseException):
            raise Unknown
        return getattr(owner, node.attr)
    return getattr(owner if is_stand(owner) else _data(owner), node.attr)


def _item(recall, node):
    owner = recall.value(node.value)
    key = _data(recall.value(node.slice))
    return (owner if is_stand(owner) else _data(owner))[key]


def _slice(recall, node):
    parts = (node.lower, node.upper, node.step)
    return slice(*[part and _data(recall.value(part)) for part in parts])


def _call(recall, node):
    function = recall.value(node.func)
    args = []
    for part in node.args:
        if type(part) is ast.Starred:
            args += _data(recall.value(part.value))
        elif type(part) is ast.GeneratorExp:
            args.append(_generated(recall, part))
        else:
            args.append(recall.value(part))
    if any(keyword.arg is None for keyword in node.keywords):
        raise Unknown
    named = {keyword.arg: recall.value(keyword.value) for keyword in node.keywords}
    is_theirs = is_stand(function)
    if not (is_theirs or _is_pure(function)):
        raise Unknown
    for value in (*args, *named.values()):
        if not (is_stand(value) or not is_theirs and _may_be_given(recall, value)):
            _data(value)
    return function(*args, **named)


def _may_be_given(recall, value):
    """Whether a function of the library may have what is no data."""
    if type(value) is types.GeneratorType:
        return value.gi_code is _generated.__code__
    return _is_pure(value) or recall.is_apart and isinstance(value, BaseException)


def _is_pure(function):
    """Whether a function of the library depends on its arguments alone, and changes none."""
    if id(function) in _PURE:
        return True
    if type(function) is not types.BuiltinMethodType or not is_data(function.__self__):
        return False
    return base_of(function.__self__) not in _CHANGED or function.__name__ in _HARMLESS


def _await(recall, node):
    value = recall.value(node.value)
    if type(value) is not proxies.Awaitable:
        raise Unknown
    return proxies.ask("await", value._assay_number)


def _listed(make):
    return lambda recall, node: make(_generated(recall, node))


def _generated(recall, node, at=0):
    """The items of a comprehension. Nothing in it is known for good."""
    scopes, known = recall.scopes, recall.known
    part = node.generators[at]
    items = recall.value(part.iter)
    for item in items if is_stand(items) else _data(items):
        recall.scopes, recall.known = [_bound(part.target, item), *scopes], {}
        try:
            if not all(is_true(recall.value(test)) for test in part.ifs):
                continue
            if at + 1 < len(node.generators):
                yield from _generated(recall, node, at + 1)
            else:
                yield recall.value(node.elt)
        finally:
            recall.scopes, recall.known = scopes, known


def _bound(target, item):
    if type(target) is ast.Name:
        return {target.id: item}
    if type(target) not in (ast.Tuple, ast.List) or any(
            type(part) is ast.Starred for part in target.elts):
        raise Unknown
    found = {}
    for part, value in zip(target.elts, item, strict=True):
        found |= _bound(part, value)
    return found


SYMBOLS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
           ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}
_COMPARES = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.is_, "is not": operator.is_not,
    "in": lambda left, right: left in right, "not in": lambda left, right: left not in right,
}
_UNARY = {ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos,
          ast.Invert: operator.invert}
_BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}
_READ = {
    ast.Constant: lambda recall, node: node.value,
    ast.Name: lambda recall, node: recall.found(node.id),
    ast.List: _display(list), ast.Tuple: _display(tuple), ast.Set: _display(set), ast.Dict: _dict,
    ast.UnaryOp: _unary, ast.BinOp: _binary, ast.BoolOp: _logic, ast.Compare: _compare,
    ast.Attribute: _attribute, ast.Subscript: _item, ast.Slice: _slice, ast.Call: _call,
    ast.Await: _await, ast.ListComp: _listed(list), ast.SetComp: _listed(set),
}
_CHANGED = (list, dict, set, bytearray, collections.deque)
# Methods of what can be changed that change nothing.
_HARMLESS = frozenset((
    "count", "index", "copy", "keys", "values", "items", "get", "union", "intersection", "difference",
    "symmetric_difference", "issubset", "issuperset", "isdisjoint", "most_common", "total", "elements",
    "hex", "decode", "startswith", "endswith"))
_PURE = {id(function) for function in (
    abs, all, any, ascii, bin, bool, bytes, chr, complex, dict, divmod, enumerate, float, frozenset, hex,
    int, isinstance, iter, len, list, map, max, min, next, oct, ord, pow, range, repr, reversed, round,
    set, sorted, str, sum, tuple, type, zip,
    *(value for name, value in vars(math).items() if callable(value) and not name.startswith("__")),
)}

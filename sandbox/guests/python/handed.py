"""What of the tests' own cannot cross to another room: functions, mocks and streams, by whatever name."""

import ast

from names import FUNCTIONS, variable

# Calls that give a mock, a function, or what may hold some of those that they are given.
_MOCKS = frozenset((
    "Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock", "PropertyMock",
    "create_autospec", "mock_open"))
_MAKERS = frozenset((
    "partial", "itemgetter", "attrgetter", "methodcaller", "cmp_to_key"))
_STREAMS = frozenset(("StringIO", "BytesIO"))
_HOLDERS = frozenset((
    "list", "tuple", "dict", "set", "iter", "reversed", "enumerate", "zip", "chain", "product",
    "items", "values", "param", "cycle", "defaultdict", "SimpleNamespace"))
_CONTAINERS = _STREAMS | frozenset((
    "list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "OrderedDict", "Queue"))
# Methods by which a value of the tests is changed: `each(words, seen.append)`.
_CHANGE = frozenset(("append", "extend", "add", "update", "appendleft", "insert", "put", "write"))

# What lets coroutines run side by side, and names that tests tell by whether they do.
CONCURRENT = frozenset((
    "gather", "create_task", "ensure_future", "as_completed", "wait", "wait_for", "shield"))
_TIMED = frozenset((
    "time", "perf_counter", "monotonic", "timeout", "TimeoutError", "cancel", "cancelled",
    "CancelledError", "Queue", "Event", "Lock", "Semaphore", "Condition"))


def is_timed(tree):
    """Whether tests ask how coroutines follow each other."""
    return any(
        type(node) is ast.Attribute and node.attr in _TIMED
        or type(node) is ast.Name and node.id in _TIMED for node in ast.walk(tree))


class Carrier:
    """The variables that stand for what cannot cross."""

    def __init__(self, tree, functions):
        self.functions = functions - {node.name for node in ast.walk(tree) if _is_fixture(node)}
        self.known = {}
        bindings = [*_bindings(tree)]
        self.containers = {name for targets, value in bindings for name in targets
                           if type(value) in (ast.List, ast.Dict, ast.Set)
                           or type(value) is ast.Call and _called(value.func) in _CONTAINERS}
        # Twice: a loop may stand before what it goes through.
        for targets, value in bindings * 2:
            what = self.what(value)
            if what:
                self.known.update(dict.fromkeys(targets, what))

    def what(self, node):
        """What cannot cross in an expression; None where nothing is known of it."""
        kind = type(node)
        if kind is ast.Lambda:
            return "a function of the tests"
        if kind is ast.Call:
            return self._made(node)
        if kind is ast.Name and node.id in self.functions:
            return f"{node.id} of the tests"
        known = self.known.get(variable(node))
        if known:
            return known
        if kind is ast.Attribute:
            if node.attr in _CHANGE and variable(node.value) in self.containers:
                return f"{node.attr} of a value of the tests"
            return self.what(node.value) if self.what(node.value) == "a mock" else None
        return self._first(_parts(node))

    def _made(self, node):
        function, name = node.func, _called(node.func)
        if name in _MOCKS:
            return "a mock"
        if name in _MAKERS:
            return "a function of the tests"
        if name in _STREAMS and not (node.args or node.keywords):
            return "a stream of the tests"
        if name not in _HOLDERS and name not in self.functions:
            return None
        inner = [function.value] if name in ("items", "values") and type(function) is ast.Attribute else []
        return self._first([*inner, *node.args, *(part.value for part in node.keywords)])

    def _first(self, nodes):
        return next(filter(None, map(self.what, nodes)), None)


def _called(function):
    return function.id if type(function) is ast.Name else getattr(function, "attr", "")


def _is_fixture(node):
    return isinstance(node, FUNCTIONS) and any(
        "fixture" in ast.dump(part) for part in node.decorator_list)


def _parts(node):
    """The expressions of which an expression holds the values."""
    kind = type(node)
    if kind in (ast.List, ast.Tuple, ast.Set):
        return node.elts
    if kind is ast.Dict:
        return [part for part in (*node.keys, *node.values) if part is not None]
    if kind in (ast.ListComp, ast.SetComp, ast.GeneratorExp):
        return [node.elt]
    if kind is ast.DictComp:
        return [node.key, node.value]
    if kind is ast.IfExp:
        return [node.body, node.orelse]
    return [node.value] if kind in (ast.Starred, ast.NamedExpr, ast.Subscript) else []


def _bindings(tree):
    """Variables and the expressions that give them their values."""
    for node in ast.walk(tree):
        kind = type(node)
        if kind is ast.Assign:
            yield _targets(node.targets), node.value
        elif kind in (ast.AnnAssign, ast.NamedExpr) and node.value is not None:
            yield _targets([node.target]), node.value
        elif kind in (ast.For, ast.comprehension):
            yield _targets([node.target]), node.iter
        elif kind is ast.Call and getattr(node.func, "attr", "") == "parametrize" \
                and len(node.args) > 1:
            yield _named(node.args[0]), node.args[1]


def _targets(targets):
    return [variable(part) for target in targets for part in ast.walk(target) if variable(part)]


def _named(node):
    texts = [part.value for part in ast.walk(node) if type(part) is ast.Constant]
    return [name.strip() for text in texts if type(text) is str for name in text.split(",")]


def results(tree, is_run):
    """Variables that hold what calls of the candidate's code give."""
    return frozenset(
        name for targets, value in _bindings(tree) if is_run(value) for name in targets)

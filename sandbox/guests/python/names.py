"""What the names of tests stand for: their own, the library's, or the candidate's."""

import ast

import library

# Names under which tests import the candidate's program.
SOLUTIONS = frozenset((
    "solution", "candidate", "submission", "main", "answer", "your_module", "program", "my_module",
    "code", "your_solution", "my_solution", "solutions")) - library.STDLIB

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*FUNCTIONS, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

BUILTIN_ATTRIBUTES = frozenset(
    name for kind in (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set,
                      frozenset, range, type(iter([])), type(x for x in ()), BaseException)
    for name in dir(kind))
"""What values of plain types have: no method of a class of the candidate's own."""


class Names:
    """The names of a module."""

    def __init__(self):
        self.bound = set()
        self.free = set()
        self.called = set()
        self.called_by_name = set()
        self.solution = set()
        self.modules = set()
        self.tested = set()


def of(tree):
    """The names that a module binds, and those that it takes from elsewhere."""
    names = Names()
    later = set()
    for node in tree.body:
        now, deferred, stored = _loads(node), set(), set()
        for part in _own_parts(node):
            if isinstance(part, _SCOPES):
                deferred |= _inner(part)
            elif isinstance(part, ast.ClassDef):
                deferred |= _inner(part)
        stored = _stores(node)
        is_compound = isinstance(node, (ast.For, ast.While, ast.With, ast.Try, ast.If,
                                        ast.AsyncFor, ast.AsyncWith))
        names.free |= now - names.bound - (stored if is_compound else set())
        names.bound |= stored
        later |= deferred
    names.free |= later - names.bound
    for node in ast.walk(tree):
        _note(node, names)
    names.tested = _tested(tree, names)
    return names


def _own_parts(node):
    """A statement and its parts, but not what is inside of functions and classes in it."""
    yield node
    if isinstance(node, (*_SCOPES, ast.ClassDef)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _own_parts(child)


def _loads(node):
    """Names that a statement reads as it runs."""
    found = set()
    for part in _own_parts(node):
        if type(part) is ast.Name and type(part.ctx) is not ast.Store:
            found.add(part.id)
        elif isinstance(part, FUNCTIONS):
            for outer in (*part.decorator_list, *part.args.defaults, *part.args.kw_defaults):
                found |= _all_loads(outer) if outer is not None else set()
        elif type(part) is ast.ClassDef:
            for outer in (*part.decorator_list, *part.bases, *(k.value for k in part.keywords)):
                found |= _all_loads(outer)
        elif type(part) is ast.AugAssign and type(part.target) is ast.Name:
            found.add(part.target.id)
    return found - _comprehended(node)


def _all_loads(node):
    return {part.id for part in ast.walk(node) if type(part) is ast.Name
            and type(part.ctx) is ast.Load}


def _comprehended(node):
    """Names that only comprehensions bind."""
    return {part.id for outer in ast.walk(node) if isinstance(outer, _COMPREHENSIONS)
            for generator in outer.generators for part in ast.walk(generator.target)
            if type(part) is ast.Name}


def _inner(scope):
    """Names that a function or a class looks up outside itself."""
    loads, local = set(), set()
    outer = set()
    for part in ast.walk(scope):
        kind = type(part)
        if kind is ast.Name:
            (loads if type(part.ctx) is ast.Load else local).add(part.id)
        elif kind is ast.arg:
            local.add(part.arg)
        elif part is not scope and kind in (*FUNCTIONS, ast.ClassDef):
            local.add(part.name)
        elif kind is ast.ExceptHandler and part.name:
            local.add(part.name)
        elif kind in (ast.Import, ast.ImportFrom):
            local |= {(name.asname or name.name).partition(".")[0] for name in part.names}
        elif kind in (ast.Global, ast.Nonlocal):
            outer |= set(part.names)
    return loads - (local - outer)


def _stores(node):
    """Names that a statement of the module binds there."""
    found = set()
    comprehended = _comprehended(node)
    for part in _own_parts(node):
        kind = type(part)
        if kind is ast.Name and type(part.ctx) is ast.Store and part.id not in comprehended:
            found.add(part.id)
        elif kind in (*FUNCTIONS, ast.ClassDef):
            found.add(part.name)
        elif kind is ast.ExceptHandler and part.name:
            found.add(part.name)
        elif kind in (ast.Import, ast.ImportFrom):
            found |= {(name.asname or name.name).partition(".")[0] for name in part.names}
    return found


def _note(node, names):
    kind = type(node)
    if kind is ast.ImportFrom and node.module in SOLUTIONS:
        names.solution |= {name.asname or name.name for name in node.names}
    elif kind is ast.Import:
        names.modules |= {
            name.asname or name.name for name in node.names if name.name in SOLUTIONS}
    elif kind is ast.Attribute and type(node.value) is ast.Name and node.value.id in names.modules:
        names.solution.add(node.attr)
    elif kind is ast.Call and type(node.func) is ast.Name:
        names.called.add(node.func.id)
        names.called_by_name.add(node.func.id)
    elif kind is ast.Attribute and type(node.value) is ast.Name:
        names.called.add(node.value.id)


def _tested(tree, names):
    """Names of the library that are called as what is tested: `gcd(4, 6) == 2`."""
    imported = {
        (name.asname or name.name).partition(".")[0] for node in ast.walk(tree)
        if type(node) in (ast.Import, ast.ImportFrom) for name in node.names}
    found = set()
    for node in ast.walk(tree):
        if type(node) is ast.Assert:
            found |= _innermost(_left(node.test))
        elif type(node) is ast.Call and type(node.func) is ast.Attribute and node.args \
                and node.func.attr.startswith("assert"):
            found |= _innermost(node.args[0])
    return {name for name in found if library.has(name)} - imported


def _left(test):
    while True:
        if type(test) is ast.Compare:
            test = test.left
        elif type(test) is ast.UnaryOp:
            test = test.operand
        elif type(test) is ast.BoolOp:
            test = test.values[0]
        else:
            return test


def _innermost(node):
    """The name whose call comes first: `zip` in `set(zip(a, b))`."""
    while True:
        kind = type(node)
        if kind is ast.Call and type(node.func) is ast.Name:
            if not (node.args and _calls(node.args[0])):
                return {node.func.id}
            node = node.args[0]
        elif kind is ast.Call:
            # `itertools.islice(count(), 4)`, and `f(x).strip()`.
            inner = node.args and _calls(node.args[0]) and not _calls(node.func)
            node = node.args[0] if inner else node.func
        elif kind is ast.BinOp:
            node = node.left
        elif kind in (ast.Attribute, ast.Subscript):
            node = node.value
        else:
            return set()


def _calls(node):
    """Whether something but a class is called within."""
    return any(
        type(part) is ast.Call and not (
            type(part.func) is ast.Name and looks_like_class(part.func.id))
        for part in ast.walk(node))


def looks_like_class(name):
    """`Stack`, `LRUCache`, `P`; not `MAX_SIZE`."""
    bare = name.lstrip("_")
    return bare[:1].isupper() and (len(bare) == 1 or any(c.islower() for c in bare))


def classes(tree, asked, entry_points):
    """Which of the asked names are classes."""
    found = {name for name in asked if looks_like_class(name)}
    certain, functions, makers = set(), set(), {}
    for node in ast.walk(tree):
        kind = type(node)
        if kind is ast.ClassDef:
            certain |= {base.id for base in node.bases if type(base) is ast.Name}
        elif kind is ast.ExceptHandler and node.type is not None:
            certain |= _all_loads(node.type)
        elif kind is ast.Call and type(node.func) is ast.Name and len(node.args) == 2 \
                and node.func.id in ("isinstance", "issubclass"):
            certain |= _all_loads(node.args[1])
        elif kind is ast.Assign and type(node.value) is ast.Call \
                and type(node.value.func) is ast.Name:
            for target in node.targets:
                if type(target) is ast.Name:
                    makers.setdefault(target.id, set()).add(node.value.func.id)
    for node in ast.walk(tree):
        # `s = stack(); s.push(1)`: what has methods of its own is made by a class.
        if type(node) is ast.Attribute and node.attr not in BUILTIN_ATTRIBUTES \
                and type(node.value) is ast.Name:
            certain |= makers.get(node.value.id, set())
        elif type(node) is ast.Compare:
            # `Find_Min([1, 2]) == 1`: a function with the name of a class.
            sides = [node.left, *node.comparators]
            if any(is_literal(side) for side in sides):
                functions |= {_callee(side) for side in sides}
    found = (found - functions) | certain
    if entry_points:
        # `check` is given its entry point as `candidate`.
        asked = asked | {"candidate"}
        both = {"candidate", entry_points[0]}
        if both & found and not both & (functions - certain):
            found |= both
    return frozenset(found & asked)


def is_literal(node):
    """Whether an expression is written out: no name and no call is in it."""
    return all(isinstance(part, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp,
                                 ast.expr_context, ast.unaryop)) for part in ast.walk(node))


def _callee(node):
    return node.func.id if type(node) is ast.Call and type(node.func) is ast.Name else ""


def is_test_class(node):
    """Whether pytest or unittest would run the tests of a class."""
    bases = {part.attr if type(part) is ast.Attribute else getattr(part, "id", "")
             for part in node.bases}
    has_tests = any(isinstance(part, FUNCTIONS) and part.name.startswith("test")
                    for part in node.body)
    is_case = any(base.endswith("TestCase") for base in bases)
    return has_tests and (is_case or node.name.startswith("Test") or not bases)


def modules(tree):
    """Names of modules that tests import, whole or in part."""
    for node in ast.walk(tree):
        if type(node) is ast.Import:
            yield from (name.name for name in node.names)
            yield from (name.name.partition(".")[0] for name in node.names)
        elif type(node) is ast.ImportFrom and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


_PATCHES = ("setattr", "delattr", "patch", "object")


def patched(tree):
    """Names that tests bind anew in modules, by assignment or by a function that patches."""
    for node in ast.walk(tree):
        kind = type(node)
        if kind is ast.Attribute and type(node.ctx) is not ast.Load:
            yield node.attr
        elif kind is ast.Call:
            name = node.func.id if type(node.func) is ast.Name else getattr(node.func, "attr", "")
            if name in _PATCHES:
                yield from (part.value.rpartition(".")[2] for part in node.args
                            if type(part) is ast.Constant and type(part.value) is str)


def root(node):
    """The expression at which a chain of calls, attributes and items begins."""
    while type(node) in (ast.Call, ast.Attribute, ast.Subscript, ast.Await):
        node = node.func if type(node) is ast.Call else node.value
    return node


def decorated(tree, theirs):
    """Tests that are decorated by what is the candidate's: their full names."""
    for outer in ast.walk(tree):
        if type(outer) in (ast.Module, ast.ClassDef):
            head = f"{outer.name}." if type(outer) is ast.ClassDef else ""
            yield from (head + node.name for node in outer.body
                        if isinstance(node, FUNCTIONS) and node.name.startswith("test")
                        and any(getattr(root(part), "id", None) in theirs
                                for part in node.decorator_list))


def variable(node):
    """`node` or `self.node`, as a variable is called."""
    if type(node) is ast.Name:
        return node.id
    if type(node) is ast.Attribute and type(node.value) is ast.Name \
            and node.value.id in ("self", "cls"):
        return f"{node.value.id}.{node.attr}"
    return None

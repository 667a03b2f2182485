"""Which suites two rooms cannot judge, known from the tests alone.

Between two rooms cross plain values. A test that compares objects of the candidate's own classes,
asks for their identity, hands over functions of its own, reads what was printed or patches what
the program uses needs the candidate in its own room.
"""

import ast
import re

import handed
import library
import names
from names import BUILTIN_ATTRIBUTES, FUNCTIONS, variable

# A text without any of these is judged by two rooms; so are most with them.
_SUSPECT = re.compile(
    r"""\b(?:isinstance|issubclass|type|is|repr|vars|id|hash|inspect|dataclasses|copy|deepcopy
    |pickle|capsys|patch|mock|Mock|seed|stdout|stdin|stderr|environ|warnings|logging|SystemExit
    |typing|redirect_\w+|global|format|getattr|setattr|lambda|partial|itemgetter|attrgetter
    |methodcaller|cmp_to_key|anext|aiter)\b|\.\s*(?:append|extend|add|update|insert|put|write)\s*[,)\]]
    |\.__|\b[A-Z]\w*[a-z]\w*\s*[(.]|\b[A-Z]\s*[(.]|\.\s*[a-z]\w*\s*=[^=]""", re.VERBOSE)

# Functions that work on an object of the other room as they do on any.
_WORKS = frozenset((
    "len", "str", "list", "tuple", "iter", "next", "enumerate", "zip", "map", "filter", "getattr",
    "setattr", "hasattr", "print", "callable", "any", "all"))
_WORKS_WITH_KEY = frozenset(("sorted", "min", "max"))

_LISTS = (ast.List, ast.Tuple, ast.ListComp)
# Parameters by which pytest hands over what was printed, logged or patched.
_FIXTURES = frozenset((
    "capsys", "capfd", "capsysbinary", "capfdbinary", "caplog", "recwarn", "monkeypatch", "mocker"))
# Whatever they are called on, these look at what the program does beside what it returns.
_LOOKS_BESIDE = frozenset((
    "redirect_stdout", "redirect_stderr", "patch", "assertLogs", "assertNoLogs", "assertWarns",
    "assertWarnsRegex", "catch_warnings", "warns", "deprecated_call", "seed", "captured_output"))
_STREAMS = frozenset(("stdout", "stdin", "stderr", "argv", "environ", "displayhook", "excepthook"))
# Modules whose functions look into what they are given.
_LOOKS_INTO = frozenset((
    "inspect", "dataclasses", "copy", "pickle", "weakref", "gc", "dis", "abc", "types", "typing",
    "enum", "marshal", "pprint", "reprlib"))
_DUNDERS = frozenset((
    "__code__", "__annotations__", "__dict__", "__wrapped__", "__defaults__", "__kwdefaults__",
    "__closure__", "__globals__", "__mro__", "__bases__", "__slots__", "__subclasses__", "__call__",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__len__", "__repr__",
    "__str__", "__iter__", "__next__", "__enter__", "__exit__", "__contains__", "__getitem__",
    "__setitem__", "__delitem__", "__add__", "__sub__", "__mul__", "__bool__", "__init__",
    "__abstractmethods__", "__isabstractmethod__", "__post_init__", "__match_args__", "__members__"))
_ENDS = frozenset(("SystemExit", "KeyboardInterrupt", "GeneratorExit"))
_MUTATES = frozenset((
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "add",
    "discard", "setdefault", "popitem", "appendleft", "popleft", "extendleft", "rotate"))
_COMPARES_MEMBERS = ("sort", "index", "remove", "count")
# Assertions of unittest, by what they do with their arguments.
_COMPARES = frozenset((
    "assertEqual", "assertNotEqual", "assertIn", "assertNotIn", "assertLess", "assertLessEqual",
    "assertGreater", "assertGreaterEqual", "assertCountEqual", "assertAlmostEqual", "assertTrue",
    "assertFalse", "assertListEqual", "assertTupleEqual", "assertDictEqual", "assertSetEqual",
    "assertSequenceEqual", "assertEquals", "assertNotAlmostEqual", "assertRegex"))


def is_suspect(test):
    """Whether the text of tests must be parsed before it is known what they ask for."""
    return _SUSPECT.search(test) is not None


def why_shared(tree, made, asked, classes):
    """Why the tests need the candidate in their room; None where they do not."""
    reader = _Reader(tree, asked, classes)
    reader.made = {*made, *(node.name for node in tree.body if type(node) is ast.ClassDef
                            and not names.is_test_class(node))}
    reader.carrier = handed.Carrier(tree, reader.defined - reader.asked - reader.made)
    reader.results = handed.results(tree, reader.is_run)
    reader.scope(tree.body, {})
    return reader.why


class _Reader(ast.NodeVisitor):
    """Finds the first thing that two rooms cannot do."""

    def __init__(self, tree, asked, classes):
        self.asked = asked | {"candidate"}
        self.is_timed = handed.is_timed(tree)
        self.classes = classes
        self.why = None
        self.own = {}
        self.imported = {}
        self.defined = set()
        self.made = set()
        self.carrier, self.results = None, frozenset()
        for node in ast.walk(tree):
            if type(node) is ast.Import:
                self.imported.update({(n.asname or n.name): n.name for n in node.names})
            elif type(node) is ast.ImportFrom and node.module:
                self.imported.update({(n.asname or n.name): node.module for n in node.names})
            elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                self.defined.add(node.name)

    def because(self, node, what):
        if self.why is None:
            self.why = f"line {getattr(node, 'lineno', 0)}: {what}"

    def scope(self, body, outer):
        """Reads the statements of a module or function, whose variables are its own."""
        before, self.own = self.own, {**outer, **self._objects(body)}
        for node in body:
            self.visit(node)
        self.own = before

    def _objects(self, body):
        """Variables that hold objects of the candidate's classes, or lists of them."""
        found = {}
        for node in body:
            for part in ast.walk(node):
                kind = type(part)
                if kind is ast.Attribute and part.attr not in BUILTIN_ATTRIBUTES:
                    # What has attributes of its own is an object of its own.
                    key = variable(part.value)
                    if key and self._is_theirs(key):
                        found[key] = "object"
                elif kind is ast.Assign and (
                        self._makes(part.value) or type(part.value) in _LISTS
                        and self._is_own(part.value)):
                    kept = "object" if type(part.value) is ast.Call else "list"
                    found.update({variable(t): kept for t in part.targets if variable(t)})
                elif kind is ast.NamedExpr and self._makes(part.value):
                    found[part.target.id] = "object"
                elif kind is ast.withitem and part.optional_vars is not None \
                        and self._makes(part.context_expr) and variable(part.optional_vars):
                    found[variable(part.optional_vars)] = "object"
        return found

    def _is_theirs(self, key):
        root = key.partition(".")[0]
        if key in ("self", "cls") or root in self.imported or root in self.defined:
            return False
        return not (library.has(root) and root not in self.asked or root in self.asked
                    or root in ("pytest", "np"))

    def _makes(self, node):
        return type(node) is ast.Call and self._class(node.func)

    def _class(self, node):
        """Whether an expression names a class of the candidate's."""
        if type(node) is ast.Name:
            return node.id in self.classes
        return type(node) is ast.Attribute and node.attr in self.classes \
            and type(node.value) is ast.Name and node.value.id in self.imported

    def _is_own(self, node):
        """Whether an expression is an object of the candidate's, or holds one."""
        kind = type(node)
        if kind in (ast.List, ast.Tuple, ast.Set):
            return any(self._is_own(part) for part in node.elts)
        if kind in (ast.ListComp, ast.SetComp, ast.GeneratorExp):
            return self._is_own(node.elt)
        if kind is ast.Dict:
            return any(self._is_own(part) for part in (*node.keys, *node.values) if part)
        if kind is ast.Starred or kind is ast.Await:
            return self._is_own(node.value)
        if kind is ast.NamedExpr:
            return self._is_own(node.value)
        if kind is ast.BinOp:
            return self._is_own(node.left) or self._is_own(node.right)
        return self._makes(node) or self._class(node) or variable(node) in self.own

    def _is_member(self, node):
        """`Color.RED`"""
        return type(node) is ast.Attribute and self._class(node.value)

    def visit_FunctionDef(self, node):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in every:
            if argument.arg in _FIXTURES:
                self.because(node, f"the fixture {argument.arg}")
        self._decorated(node)
        for part in (*node.decorator_list, *arguments.defaults):
            self.visit(part)
        self.scope(node.body, self.own)

    visit_AsyncFunctionDef = visit_FunctionDef

    def _decorated(self, node):
        if any(self.is_run(part) for part in node.decorator_list):
            self.because(node, f"{node.name} of the tests is handed over")

    def visit_ClassDef(self, node):
        self._decorated(node)
        if any(self._class(base) or variable(base) in self.asked for base in node.bases):
            self.because(node, "a class of the candidate's is derived from")
        shared = {}
        for part in node.body:
            if isinstance(part, FUNCTIONS):
                objects = self._objects(part.body)
                shared.update({key: kept for key, kept in objects.items() if "." in key})
        self.scope(node.body, {**self.own, **shared})

    def visit_Compare(self, node):
        sides = [node.left, *node.comparators]
        for at, operator in enumerate(node.ops):
            left, right = sides[at], sides[at + 1]
            if isinstance(operator, (ast.Is, ast.IsNot)):
                if not (_is_constant(left) or _is_constant(right) or _is_type(left, right)):
                    self.because(node, "identity is asked for")
            elif self._is_own(left) or self._is_own(right):
                self.because(node, "objects of the candidate's are compared")
            elif self._is_member(left) and not names.is_literal(right) \
                    or self._is_member(right) and not names.is_literal(left):
                self.because(node, "members of a class are compared")
        self.generic_visit(node)

    def _truth(self, node):
        if self._is_own(node) and not isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            self.because(node, "the truth of an object of the candidate's")

    def visit_UnaryOp(self, node):
        if self._is_own(node.operand):
            self.because(node, "an operator on an object of the candidate's")
        self.generic_visit(node)

    def visit_BinOp(self, node):
        percent = type(node.op) is ast.Mod and type(node.left) is ast.Constant
        if not percent and (self._is_own(node.left) or self._is_own(node.right)) and not (
                type(node.op) in (ast.Add, ast.Mult)
                and isinstance(node.left, (ast.List, ast.Tuple))):
            self.because(node, "an operator on objects of the candidate's")
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        for part in node.values:
            self._truth(part)
        self.generic_visit(node)

    def _tests(self, node):
        self._truth(node.test)
        self.generic_visit(node)

    visit_If = visit_While = visit_IfExp = _tests

    def visit_Assert(self, node):
        self._truth(node.test)
        self.visit(node.test)

    def visit_With(self, node):
        if any(self._is_own(item.context_expr) or self.is_run(item.context_expr)
               for item in node.items):
            self.because(node, "an object of the candidate's is a context manager")
        self.generic_visit(node)

    visit_AsyncWith = visit_With

    def visit_AsyncFor(self, node):
        self.because(node, "an asynchronous iteration")

    def visit_comprehension(self, node):
        if node.is_async:
            self.because(node.iter, "an asynchronous iteration")
        self.generic_visit(node)

    def visit_Match(self, node):
        for part in ast.walk(node):
            if type(part) is ast.MatchClass and self._class(part.cls):
                self.because(node, "a pattern of a class of the candidate's")
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        if self._is_own(node.target) or self._is_own(node.value):
            self.because(node, "an operator on objects of the candidate's")
        self._stored(node.target)
        self.generic_visit(node)

    def visit_Assign(self, node):
        for target in node.targets:
            self._stored(target)
        self.generic_visit(node)

    def visit_Delete(self, node):
        for target in node.targets:
            self._stored(target)
        self.generic_visit(node)

    def _stored(self, target):
        """Writes to an object of the candidate's, or to what it uses."""
        if type(target) is ast.Subscript:
            base = target.value
            if self._is_own(base) or type(base) is ast.Attribute and self._is_own(base.value) \
                    or variable(base) in self.asked:
                self.because(target, "an object of the candidate's is changed in place")
            if type(base) is ast.Attribute and base.attr in _STREAMS:
                self.because(target, f"{base.attr} is changed")
        elif type(target) is ast.Attribute and type(target.value) is ast.Name:
            root = target.value.id
            if root in self.imported:
                self.because(target, f"{self.imported[root]}.{target.attr} is patched")
        elif type(target) in (ast.Tuple, ast.List):
            for part in target.elts:
                self._stored(part)

    def visit_Subscript(self, node):
        if self._is_own(node.value) and type(node.slice) is ast.Slice:
            self.because(node, "a slice of an object of the candidate's")
        self.generic_visit(node)

    def visit_Dict(self, node):
        if any(self._is_own(key) for key in node.keys if key):
            self.because(node, "an object of the candidate's is a key")
        self.generic_visit(node)

    def visit_Set(self, node):
        if any(self._is_own(part) for part in node.elts):
            self.because(node, "an object of the candidate's is a member of a set")
        self.generic_visit(node)

    def visit_SetComp(self, node):
        if self._is_own(node.elt):
            self.because(node, "an object of the candidate's is a member of a set")
        self.generic_visit(node)

    def visit_FormattedValue(self, node):
        if self._is_own(node.value):
            self.because(node, "an object of the candidate's is formatted")
        self.generic_visit(node)

    def visit_Attribute(self, node):
        if node.attr in _DUNDERS and (variable(node.value) in self.asked or self._is_own(node.value)):
            self.because(node, f"{node.attr} of the candidate's")
        elif node.attr == "__class__" and self._makes(node.value):
            self.because(node, "the class of an object of the candidate's")
        self.generic_visit(node)

    def visit_Name(self, node):
        if node.id in _ENDS:
            self.because(node, f"{node.id} is waited for")

    def visit_Call(self, node):
        function, every = node.func, [*node.args, *(k.value for k in node.keywords)]
        own = [part for part in every if self._is_own(part)]
        name = _called(function)
        self._made_here(node)
        if name in _LOOKS_BESIDE:
            self.because(node, f"{name} looks beside what the program returns")
        elif name in ("isinstance", "issubclass") and len(node.args) == 2:
            if _loads(node.args[1]) & (self.asked | self.classes) or own:
                self.because(node, f"{name} of a class of the candidate's")
        elif self._looks_into(function) and (own or self._mentions(every)):
            self.because(node, f"{name} looks into what is the candidate's")
        elif name in _COMPARES and type(function) is ast.Attribute:
            members = [part for part in node.args[:2] if self._is_member(part)]
            literal = any(names.is_literal(part) for part in node.args[:2])
            if own or members and not literal:
                self.because(node, "objects of the candidate's are compared")
        elif name in ("assertIs", "assertIsNot") and not any(map(_is_constant, node.args[:2])):
            self.because(node, "identity is asked for")
        elif name in ("assertIsInstance", "assertNotIsInstance") and len(node.args) > 1:
            if _loads(node.args[1]) & (self.asked | self.classes):
                self.because(node, "isinstance of a class of the candidate's")
        elif own and type(function) is ast.Name and library.has(name) and name not in self.asked:
            keyed = name in _WORKS_WITH_KEY and any(k.arg == "key" for k in node.keywords)
            if name not in _WORKS and not keyed and not self._are_classes(own):
                self.because(node, f"{name} of an object of the candidate's")
        elif name in ("anext", "aiter"):
            self.because(node, "an asynchronous iteration")
        elif name in handed.CONCURRENT and self.is_timed and any(
                type(part) is ast.Call and self._reaches(part.func)
                for argument in every for part in ast.walk(argument)):
            self.because(node, "coroutines of the candidate's run side by side")
        elif self._reaches(function):
            self._handed_over(node, every)
        if type(function) is ast.Attribute and function.attr in _COMPARES_MEMBERS \
                and self._is_own(function.value) and not self._is_object(function.value):
            self.because(node, f"{function.attr} compares objects of the candidate's")
        if type(function) is ast.Attribute and function.attr in _MUTATES \
                and type(function.value) is ast.Attribute and self._is_own(function.value.value):
            self.because(node, "an attribute of the candidate's is changed in place")
        self.generic_visit(node)

    def _is_object(self, node):
        """Whether it is one object, not a list of them."""
        return self.own.get(variable(node)) == "object" or self._makes(node)

    def _are_classes(self, nodes):
        """Exceptions and classes may be handed to `assertRaises` and its like."""
        return all(self._class(node) for node in nodes)

    def _looks_into(self, function):
        name = _called(function)
        if name in ("repr", "vars", "type", "id", "hash", "dir", "get_type_hints", "signature"):
            return True
        root = function
        while type(root) is ast.Attribute:
            root = root.value
        module = self.imported.get(root.id, "") if type(root) is ast.Name else ""
        return module.partition(".")[0] in _LOOKS_INTO

    def _mentions(self, nodes):
        """Whether a name of the candidate's is meant itself, not what its call returns."""
        return any(
            type(node) is ast.Name and node.id in self.asked
            or type(node) is ast.Attribute and (self._class(node.value) or self._is_own(node.value)
                                                or variable(node.value) in self.asked)
            for node in nodes)

    def is_run(self, node):
        """Whether an expression is code of the candidate's, or what a call of it gives."""
        if type(node) is ast.Call:
            return self._reaches(node.func)
        return type(node) in (ast.Name, ast.Attribute) and self._reaches(node)

    def _reaches(self, function):
        """Whether a call runs code of the candidate's."""
        if type(function) is ast.Call:
            return self._reaches(function.func)
        if variable(function) in self.results:
            return True
        if type(function) is ast.Name:
            return function.id in self.asked or function.id in self.classes
        if type(function) is ast.Attribute:
            return self._is_own(function.value) or self._class(function.value) \
                or function.attr in self.asked and type(function.value) is ast.Name
        return False

    def _handed_over(self, node, every):
        """What the tests define themselves cannot be handed to the other room."""
        for argument in every:
            what = self.carrier.what(argument)
            if what:
                self.because(node, f"{what} is handed over")
        parts = [part for argument in every for part in ast.walk(argument)]
        callees = {id(part.func) for part in parts if type(part) is ast.Call}
        for part in parts:
            if type(part) is ast.Name and part.id in self.defined - self.asked and (
                    id(part) not in callees or self.made):
                self.because(node, f"{part.id} of the tests is handed over")

    def _made_here(self, node):
        if _called(node.func) in self.made - self.classes:
            self.because(node, f"objects of {_called(node.func)}, a class of the tests")


def _called(function):
    if type(function) is ast.Name:
        return function.id
    return function.attr if type(function) is ast.Attribute else ""


def _loads(node):
    return {part.id if type(part) is ast.Name else part.attr for part in ast.walk(node)
            if type(part) in (ast.Name, ast.Attribute)}


def _is_constant(node):
    return type(node) is ast.Constant and (
        node.value is None or node.value is ... or type(node.value) is bool) \
        or type(node) is ast.Name and node.id in ("NotImplemented", "Ellipsis")


def _is_type(left, right):
    """`type(x) is int`"""
    sides = (left, right)
    return any(type(side) is ast.Call and _called(side.func) == "type" for side in sides) \
        and any(type(side) is ast.Name and library.has(side.id) for side in sides)


"""What a suite of tests is, read from its text alone.

Nothing of the candidate is known here. What the tests define, which of their names are the
candidate's, and whether two rooms can judge them follows from their code, so that no candidate can
choose how it is judged.
"""

import ast
import re
import sys
import types

import assertions
import instrument
import isolation
import library
import names as naming
from names import FUNCTIONS
from plain import cut

TESTS = "<tests>"
SETUP = "<setup>"

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Broken(Exception):
    """The tests themselves cannot run."""


class Suite:
    """A suite, ready to be run."""

    prompt = None
    """Compiled code of the prompt, where the tests use what it defines."""
    stubs = frozenset()
    """Names in it that are left to be written."""
    setup = setup_tree = None
    """Code that runs first: compiled, and as it is read."""
    made = ()
    """Classes that it defines."""
    code = None
    """The compiled tests, each of whose assertions is recorded."""
    imports = ()
    """What the tests import of the library: module, name or None, and the name that is bound."""
    asked = frozenset()
    """Names that are the candidate's to define."""
    classes = frozenset()
    """Those of them that are classes."""
    defined = frozenset()
    """Classes that the tests define at their top."""
    theirs = frozenset()
    """All names under which the tests have what is the candidate's."""
    constants = frozenset()
    """Those that are read and never called: they are asked for anew each time."""
    members = {}
    """What the tests mean by names of the library that they did not import."""
    asserts = 0
    """Assertions that are written down."""
    required = ()
    """Lines of assertions that are reached whatever happens, unless something ends the tests."""
    called = frozenset()
    """Those of the tests that the suite calls at its top, where nothing was put into them."""
    tests = ()
    """Names of test functions and classes, in their order."""
    is_shared = False
    """Whether the candidate shares the room of the tests."""
    reached = frozenset()
    """Modules of the library that tests in a shared room name, and what these name."""
    patched = frozenset()
    """Names in such modules that the tests themselves give another meaning."""
    decorated = ()
    """Tests that something of the candidate's decorates."""
    why = None
    """Why two rooms cannot judge the tests; None where they can."""


def read(room, prompt, setup, test, entry_points):
    """The suite in these texts; `room` is `auto`, `separate` or `shared`.

    Raises `Broken` for tests that could judge nobody, whatever the program is.
    """
    suite = Suite()
    bound = _read_prompt(suite, prompt, test, entry_points) | _read_setup(suite, setup)
    if room != "shared" and _read_quickly(suite, test, bound, entry_points):
        return suite
    tree = _parsed(test, TESTS)
    names = naming.of(tree)
    suite.asked = _asked(names, bound, entry_points)
    suite.imports = [*suite.imports, *_imports(tree.body)]
    every = suite.asked | names.solution
    suite.theirs = every | names.modules
    suite.classes = naming.classes(tree, every, entry_points)
    suite.defined = {*suite.made, *(node.name for node in tree.body if type(node) is ast.ClassDef)}
    suite.members = _members(names.free - bound, names.called_by_name)
    suite.constants = suite.asked - names.called - suite.classes - set(entry_points)
    suite.tests = _tests(tree)
    suite.required = [node.lineno for node in tree.body
                      if type(node) is ast.Assert and not _is_failure(node)]
    suite.asserts = sum(type(node) is ast.Assert and not _is_failure(node) for node in ast.walk(tree))
    if foreign := assertions.undefined(tree, suite.asked.difference(entry_points)):
        raise Broken(foreign)
    if not (suite.asserts or assertions.can_fail(tree, bound, suite.theirs)):
        raise Broken(assertions.NOTHING_ASSERTED if every or names.modules else "the suite defines no test")
    if not (every or names.modules):
        raise Broken("the suite names nothing that a program could define")
    suite.why = isolation.why_shared(tree, suite.made, every, suite.classes)
    suite.is_shared = room == "shared" or room == "auto" and suite.why is not None
    if suite.is_shared:
        parts = [tree, *(part for part in (suite.setup_tree,) if part is not None)]
        suite.reached = library.reached(
            {name for part in parts for name in naming.modules(part)}
            | {value.__name__ for value in suite.members.values() if type(value) is types.ModuleType})
        suite.patched = frozenset(name for part in parts for name in naming.patched(part))
        suite.decorated = tuple(naming.decorated(tree, every))
    instrument.rewrite(tree, suite.constants, suite.is_shared)
    suite.code = _compiled(tree, TESTS)
    return suite


def _read_setup(suite, setup):
    """Reads the code that runs first; returns the names that it binds."""
    if not setup:
        return set()
    tree = suite.setup_tree = _parsed(setup, SETUP)
    suite.setup = _compiled(tree, SETUP)
    suite.imports = _imports(tree.body)
    suite.made = tuple(node.name for node in tree.body if type(node) is ast.ClassDef)
    return naming.of(tree).bound


# What a line at the top of a prompt may bind, imports by all that they name.
_BINDS = re.compile(
    r"^(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*[:=]|^(?:from\s+[\w.]+\s+)?import\s+(.+)", re.M)


def _read_prompt(suite, prompt, test, entry_points):
    """Reads a prompt that defines what the tests use: its helpers are theirs, what it leaves to be
    written is the candidate's. A prompt in words defines nothing."""
    named = " ".join(part for match in _BINDS.findall(prompt or "") for part in match)
    used = set(re.findall(r"\w+", named)).intersection(re.findall(r"\w+", test))
    if not used.difference(entry_points):
        return set()
    try:
        tree = ast.parse(prompt)
        suite.prompt = compile(prompt, "<prompt>", "exec", dont_inherit=True)
    except _UNREADABLE:
        return set()
    suite.stubs = {node.name for node in tree.body if _is_stub(node)}
    return naming.of(tree).bound - suite.stubs


def _is_stub(node):
    if type(node) is ast.ClassDef:
        methods = [part for part in node.body if isinstance(part, FUNCTIONS)]
        return bool(methods) and all(_is_stub(part) for part in methods) or _is_empty(node.body)
    return isinstance(node, FUNCTIONS) and _is_empty(node.body)


def _is_empty(body):
    return all(
        type(node) is ast.Pass
        or type(node) is ast.Expr and type(node.value) is ast.Constant
        or type(node) is ast.Return and (
            node.value is None or type(node.value) is ast.Constant and node.value.value is None)
        or type(node) is ast.Raise and "NotImplemented" in ast.unparse(node)
        for node in body
    )


def _parsed(source, file):
    try:
        return ast.parse(source, file)
    except _UNREADABLE as error:
        raise Broken(f"{file} do not parse: {_brief(error)}") from None


def _compiled(tree, file):
    try:
        return compile(tree, file, "exec", dont_inherit=True)
    except _UNREADABLE as error:
        raise Broken(f"{file} do not compile: {_brief(error)}") from None


def _brief(error):
    return cut(f"{type(error).__name__}: {error}")


def _imports(body):
    """Imports of the library that a program run together with these tests would see."""
    found = []
    for node in body:
        if type(node) is ast.Import:
            found += [(name.name, None, name.asname) for name in node.names]
        elif type(node) is ast.ImportFrom and node.module and not node.level:
            found += [(node.module, name.name, name.asname or name.name) for name in node.names]
    return [row for row in found if row[0].partition(".")[0] in library.STDLIB]


def _asked(names, bound, entry_points):
    """Names that are the candidate's: nobody else defines them."""
    free = names.free - bound
    asked = {name for name in free if not library.has(name)}
    # `gcd(4, 6) == 2` tests what bears a name of the library's; of a builtin's, where the tests name
    # nothing else.
    tested = names.tested & free
    is_all = not (asked or entry_points or names.solution)
    asked |= tested if is_all else tested - library.BUILTINS
    return frozenset(asked | set(entry_points))


def _members(free, called):
    """What names of the library stand for: a module, or a member where it is called."""
    found = {}
    for name in free - library.BUILTINS:
        if name in library.STDLIB and name in sys.modules and name not in called:
            found[name] = sys.modules[name]
        elif name in library.MEMBERS:
            found[name] = library.MEMBERS[name]
    return found


def _tests(tree):
    found = []
    for node in tree.body:
        if isinstance(node, FUNCTIONS) and (node.name.startswith("test") or node.name == "check"):
            found.append(node.name)
        elif type(node) is ast.ClassDef and naming.is_test_class(node):
            found.append(node.name)
    return tuple(found)


def _is_failure(node):
    """`assert False`, which says that its place must not be reached."""
    return type(node.test) is ast.Constant and not node.test.value


# The quick way: lines that are assertions of calls, in `check` or at the top.

_RECORDED = "with __assay_test__: "
_NOT_PLAIN = ("class", "try", "except", "finally", "async", "match", "case", "@", "with", "while",
              "lambda", "global", "del", "from", "return", "yield", "raise")
_NOT_PLAIN_ANYWHERE = ('"""', "'''", "\\\n", ";", "\r", "__", ":=")


def _read_quickly(suite, test, bound, entry_points):
    """Reads tests whose lines tell what they are, at half the cost."""
    if any(text in test for text in _NOT_PLAIN_ANYWHERE) or isolation.is_suspect(test) \
            or any(map(naming.looks_like_class, entry_points)) or "candidate()" in test:
        return False
    lines, imports, tests, asserts, required = [], [], [], 0, []
    for number, line in enumerate(test.split("\n"), 1):
        code = line.lstrip()
        if code[:7] in ("assert ", "assert("):
            if len(code) == len(line):
                required.append(number)
            line = line[:len(line) - len(code)] + _RECORDED + code
            asserts += 1
        elif "assert" in code or code.startswith(_NOT_PLAIN):
            return False
        elif code.startswith("def "):
            name = code[4:].partition("(")[0]
            if len(code) < len(line) or name in tests or not name.startswith(("check", "test")):
                return False
            tests.append(name)
        elif line.startswith("import "):
            imports.append(line)
        elif "=" in code and len(code) == len(line) and not line.startswith("METADATA"):
            return False
        lines.append(line)
    if not asserts:
        return False
    try:
        code = compile("\n".join(lines), TESTS, "exec", dont_inherit=True)
        statements = ast.parse("\n".join(imports)).body if imports else []
    except _UNREADABLE:
        return False
    loaded = _loaded(code) - bound - {"METADATA", *tests}
    loaded -= {name for _, _, name in _bound(statements)}
    asked = {name for name in loaded if not library.has(name)} | set(entry_points)
    called, read = _named(test)
    # A name that is read rather than called is a constant, whose value may change.
    if not asked or any(map(assertions.is_foreign, asked)) or called & (loaded - asked - library.BUILTINS) or read & (asked - set(entry_points)):
        return False
    suite.code, suite.asserts, suite.required = code, asserts, required
    suite.members = _members(loaded, called & loaded)
    suite.asked = suite.theirs = frozenset(asked)
    suite.imports = [*suite.imports, *_imports(statements)]
    suite.tests = tests
    suite.called = set(tests).intersection(_CALLED_AT_TOP.findall(test))
    return True


# Compiled once, whatever the names are: compiling a pattern takes longer than all else here.
_NAMED = re.compile(r"(?<![.\w])([^\W\d]\w*)\b(\s*\()?")
_CALLED_AT_TOP = re.compile(r"^(\w+)\(", re.M)


def _named(test):
    """The names in a text, attributes aside: those that are called somewhere, and those that are read."""
    called, read = set(), set()
    for name, bracket in _NAMED.findall(test):
        (called if bracket else read).add(name)
    return called, read


def _bound(statements):
    return [(name.name, None, (name.asname or name.name).partition(".")[0])
            for node in statements for name in node.names]


def _loaded(code):
    """Names that code looks up outside itself, names of attributes among them."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            found |= _loaded(constant)
    return found - {"__assay_test__"}

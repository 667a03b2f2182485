"""What a failed test compared, in words: its input, what was expected, and what the program gave.

Parts whose values cannot be recalled are told as they are written; where that says nothing of the program,
the last call of it is told, and the condition. A test that passes costs nothing, and no verdict depends on
what is found here.
"""

import ast
import re
from _ast_unparse import Unparser

import plain
import proxies
import recall
from proxies import state
from results import is_of_program
from recall import SYMBOLS, TooLarge, Unknown, Unrecorded
from written import class_name, is_stand, written

EXPLAINED_MAX = 20
"""Failures that are explained; evidence shows fewer."""
_SOURCE_CHARS_MAX, _LINES_MAX, _LINES_BEFORE_MAX = 8000, 40, 30
_STEPS_MAX = 10_000
_FILE = "<tests>"


class Explainer:
    """Says of a failed test, by its key in the results and its error: the input, what was expected and
    what was got, each a text or None."""

    def __init__(self, lines, suite, entry_points, recorder):
        self.lines, self.suite, self.recorder = lines, suite, recorder
        self.entry = entry_points[0] if entry_points else None
        self.left = EXPLAINED_MAX

    def __call__(self, key, error):
        self.left -= 1
        record, before, invoke = [*proxies.seen], dict(vars(state)), proxies.invoke
        state.poisoned = None
        try:
            return self._told(key, error, record) if self.left >= 0 else None
        except BaseException:
            return None
        finally:
            # What it compared may be an object whose end the tests wait for.
            self.recorder.last = None
            proxies.invoke = invoke
            vars(state).clear()
            vars(state).update(before)
            proxies.seen.clear()
            proxies.seen.extend(record)

    def _told(self, key, error, record):
        before = state.crossings
        frame, line = _place(key, error)
        if frame is None:
            return None
        statement = _statement(self.lines, line)
        test = _Test(self, frame, line, record)
        claim, negated = _claim(statement)
        if claim is None:
            return test.last(_wanted(statement))
        if not isinstance(error, Exception) or hasattr(error, "_assay_line") or is_of_program(error):
            return test.ended(claim, negated)
        crossings = before - self.recorder.start if type(key) is int else 0
        has_message = type(statement) is ast.Assert and statement.msg is not None
        return test.compared(claim, negated, crossings, has_message)


def _place(key, error):
    """The frame of the tests in which a test failed, and the line of the statement there."""
    found = None, 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            if type(key) is int:
                return trace.tb_frame, key
            found = trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    return found


def _statement(lines, line):
    """The statement that begins at a line; the assertion in it, where it has one alone."""
    text = ""
    for part in lines[line - 1:line - 1 + _LINES_MAX]:
        text = f"{text}\n{part}" if text else part.lstrip()
        if len(text) > _SOURCE_CHARS_MAX:
            return None
        try:
            found = ast.parse(text).body
        except SyntaxError:
            continue
        if len(found) != 1:
            return None
        asserts = [node for node in ast.walk(found[0]) if _asserts(node)]
        return asserts[0] if len(asserts) == 1 else found[0]
    return None


def _asserts(node):
    """Whether a statement is an assertion, of Python or of unittest."""
    return type(node) is ast.Assert or type(node) is ast.Expr and type(node.value) is ast.Call \
        and type(node.value.func) is ast.Attribute and node.value.func.attr.startswith("assert")


_NONE = ast.Constant(None)
_COMPARISONS = {
    "assertEqual": ast.Eq, "assertEquals": ast.Eq, "assertListEqual": ast.Eq, "assertTupleEqual": ast.Eq,
    "assertDictEqual": ast.Eq, "assertSetEqual": ast.Eq, "assertSequenceEqual": ast.Eq,
    "assertMultiLineEqual": ast.Eq, "assertNotEqual": ast.NotEq, "assertIs": ast.Is,
    "assertIsNot": ast.IsNot, "assertIn": ast.In, "assertNotIn": ast.NotIn, "assertLess": ast.Lt,
    "assertLessEqual": ast.LtE, "assertGreater": ast.Gt, "assertGreaterEqual": ast.GtE,
}
_PREDICATES = {"assertAlmostEqual": "isclose", "assertIsInstance": "isinstance",
               "assertCountEqual": "assertCountEqual"}


def _claim(statement):
    """What a statement asserts, as an expression, and whether that is to be false."""
    if type(statement) is ast.Assert:
        return statement.test, False
    call = statement.value if type(statement) is ast.Expr else None
    if type(call) is not ast.Call or type(call.func) is not ast.Attribute or not call.args:
        return None, False
    name, args = call.func.attr, call.args
    if name in ("assertTrue", "assertFalse"):
        return args[0], name == "assertFalse"
    if name in ("assertIsNone", "assertIsNotNone"):
        return ast.Compare(args[0], [ast.Is()], [_NONE]), name == "assertIsNotNone"
    if name in _COMPARISONS and len(args) >= 2:
        return ast.Compare(args[0], [_COMPARISONS[name]()], [args[1]]), False
    if name in _PREDICATES and len(args) >= 2:
        return ast.Call(ast.Name(_PREDICATES[name], ast.Load()), args[:2], []), False
    return None, False


def _wanted(statement):
    """What a statement waits for that does not assert: an exception, as it is written."""
    calls = []
    if type(statement) in (ast.With, ast.AsyncWith):
        calls = [item.context_expr for item in statement.items]
    elif type(statement) is ast.Expr:
        calls = [statement.value]
    for call in calls:
        if type(call) is ast.Call and call.args and _name(call) in (
                "raises", "assertRaises", "assertRaisesRegex"):
            return f"{ast.unparse(call.args[0])} to be raised"
    return None


def _name(call):
    return getattr(call.func, "attr", None) or getattr(call.func, "id", None)


class _Test:
    """A test that failed, with what is known of it."""

    def __init__(self, explainer, frame, line, record):
        self.explainer, self.suite, self.recorder = explainer, explainer.suite, explainer.recorder
        self.frame, self.line, self.record = frame, line, record
        self.recall = recall.Recall((frame.f_locals, frame.f_globals), self.suite,
                                    self.recorder.constant, _STEPS_MAX)
        self.value = self.recall.value
        self.theirs = {}

    def compared(self, claim, negated, crossings, has_message):
        """What an assertion compared. Its crossings are the latest, and so many at least; where constants
        were read, or it began another assertion, as many as it takes to ask for them again. Its message
        may have made some."""
        for length in range(crossings, len(self.record) + 1):
            self.recall.replay(self.record[len(self.record) - length:])
            try:
                told = self._condition(claim, negated)
            except Unrecorded as missing:
                if type(missing) is TooLarge and length == max(crossings, 1) and self._is_call(claim):
                    return *self.ended(claim, negated)[:2], "a value too large to show"
                continue
            except Exception:
                break
            if has_message or self.recall.is_through():
                return told
        return self.last(f"that {self.text(claim)}")

    def ended(self, claim, negated):
        """What an assertion asked for in which the program raised, or was stopped."""
        while type(claim) is ast.UnaryOp and type(claim.op) is ast.Not:
            claim, negated = claim.operand, not negated
        if type(claim) is ast.Compare and len(claim.ops) == 1:
            sides = _Sides(self, claim.left, SYMBOLS[type(claim.ops[0])], claim.comparators[0], negated)
            try:
                expected = self._read(sides.expected)
            except Unrecorded:
                expected = _NOTHING()
            return self.text(sides.got), sides.expected_of(expected), None
        if type(claim) is ast.Call and not self._is_special(claim):
            return self.text(claim), _TRUTHS[negated], None
        return self.last(f"that {self.text(claim)}")

    def _is_call(self, claim):
        """Whether what an assertion looks at is what a call of the candidate returned."""
        if type(claim) is ast.Compare and len(claim.ops) == 1:
            claim = _Sides(self, claim.left, "==", claim.comparators[0], False).got
        return type(claim) is ast.Call and self.is_theirs(claim.func)

    def last(self, expected):
        """The last call of the candidate, and what it returned."""
        call, got = _last_call(self.record, self.frame, self.name_of)
        return call, expected, got

    def _condition(self, node, negated):
        """What a condition compared that does not hold (`negated`: that holds); raises `Unknown`."""
        kind = type(node)
        given = self.recorder.last
        if kind is ast.UnaryOp and type(node.op) is ast.Not:
            return self._condition(node.operand, not negated)
        if kind is ast.Compare and len(node.ops) == 1:
            symbol = SYMBOLS[type(node.ops[0])]
            return self._comparison(node.left, symbol, node.comparators[0], negated)
        if kind is ast.BoolOp:
            return self._parts(node, negated)
        if kind is ast.Compare and not negated and given is None:
            return self._chain(node)
        if kind is ast.Call and not negated and self._is_special(node):
            return self._special(node)
        got = given[1] if given is not None and given[0] == "truth" else self.value(node)
        if recall.is_data(got) and bool(got) != negated:
            raise Unrecorded
        return self._input(node), _TRUTHS[negated], written(got)

    def _parts(self, node, negated):
        """The part of `and` that does not hold; all parts of `or`, where they ask for one value."""
        is_one = (type(node.op) is ast.And) != negated
        if self.recorder.last is not None:
            parts = [part for part in node.values if self._is_last(part)]
            if not is_one or len(parts) != 1:
                raise Unknown
            return self._condition(parts[0], negated)
        if is_one:
            for part in node.values:
                if recall.is_true(self.value(part)) == negated:
                    return self._condition(part, negated)
            raise Unrecorded
        told = [self._condition(part, negated) for part in node.values]
        if len({(row[0], row[2]) for row in told}) > 1:
            raise Unknown
        return told[0][0], " or ".join(row[1] for row in told), told[0][2]

    def _is_last(self, part):
        """Whether a part of a condition may be what the recorder compared last."""
        while type(part) is ast.UnaryOp and type(part.op) is ast.Not:
            part = part.operand
        symbol, *values = self.recorder.last
        if type(part) is not ast.Compare:
            return symbol == "truth" and type(part) is not ast.BoolOp
        if len(part.ops) > 1 or SYMBOLS[type(part.ops[0])] != symbol:
            return False
        sides = [self._read(node) for node in (part.left, part.comparators[0])]
        return all(type(side) is _NOTHING or written(side) == written(value)
                   for side, value in zip(sides, values))

    def _chain(self, node):
        sides = [node.left, *node.comparators]
        for at, operation in enumerate(node.ops):
            symbol = SYMBOLS[type(operation)]
            if not recall.holds(symbol, self.value(sides[at]), self.value(sides[at + 1])):
                return self._comparison(sides[at], symbol, sides[at + 1], False)
        raise Unrecorded

    def _comparison(self, left, symbol, right, negated):
        sides = _Sides(self, left, symbol, right, negated)
        given = self.recorder.last
        if given is not None and given[0] == symbol:
            values = given[1:]
        else:
            near = _near(left, symbol, right) if not negated else None
            if near is not None:
                return self._two(*near, f"{{}} within {self.text(right)}")
            values = self._both(sides)
            if _NOTHING not in map(type, values) and not _is_about(right) and all(
                    map(recall.is_data, values)) and recall.holds(symbol, *values) != negated:
                raise Unrecorded
        got, expected = reversed(values) if sides.is_swapped else values
        return self._input(sides.got), sides.expected_of(expected), written(got)

    def _is_special(self, call):
        name = _name(call)
        return len(call.args) >= 2 and (
            name in _ABOUT or name in ("isinstance", "assertCountEqual")) \
            or name in ("all", "any") and type(call.args[0]) is ast.GeneratorExp

    def _special(self, call):
        name = _name(call)
        if name in _ABOUT:
            return self._two(*call.args[:2], "about {}")
        if name == "assertCountEqual":
            return self._two(*call.args[:2], "the members of {}, in any order")
        if name == "isinstance":
            got = self.value(call.args[0])
            kind = "" if is_stand(got) else f", of type {class_name(got)}"
            return self._input(call.args[0]), \
                f"an instance of {ast.unparse(call.args[1])}", f"{written(got)}{kind}"
        raise Unknown

    def _two(self, left, right, words):
        """Two values that are to be near each other."""
        sides = _Sides(self, left, "==", right, False)
        values = self._both(sides)
        got, expected = reversed(values) if sides.is_swapped else values
        return self._input(sides.got), words.format(sides.expected_of(expected)), written(got)

    def _both(self, sides):
        """The values of two sides, in their order; that of the expected one may be nothing."""
        values = [self._read(node) for node in (sides.left, sides.right)]
        if type(values[sides.is_swapped]) is _NOTHING:
            raise Unknown
        return values

    def _read(self, node):
        try:
            return self.value(node)
        except Unrecorded:
            raise
        except Exception:
            return _NOTHING()

    def is_theirs(self, node):
        """Whether an expression asks the candidate for something."""
        if node not in self.theirs:
            self.theirs[node] = any(
                type(part) is ast.Name and self._is_of_program(part.id) for part in ast.walk(node))
        return self.theirs[node]

    def _is_of_program(self, name):
        if name in self.suite.theirs or name == "candidate":
            return True
        return any(is_stand(scope.get(name)) for scope in self.recall.scopes[:2])

    def _input(self, node):
        """The expression that was judged; of a variable, what it was assigned."""
        if self.is_theirs(node):
            return self.text(node)
        names = {part.id for part in ast.walk(node) if type(part) is ast.Name}
        return _Words(self, {name: self._origin(name) or name for name in names}).visit(node)

    def _origin(self, name):
        assigned = re.compile(rf"\s*{name}\s*=\s*([^=\s].*)")
        before = self.explainer.lines[max(self.line - 1 - _LINES_BEFORE_MAX, 0):self.line - 1]
        match = next(filter(None, map(assigned.fullmatch, reversed(before))), None)
        if match is None:
            return None
        try:
            node = ast.parse(match[1], mode="eval").body
        except SyntaxError:
            return None
        if not self.is_theirs(node):
            return None
        return self.text(node) if self._came_of(node, name) else ast.unparse(node)

    def _came_of(self, node, name):
        """Whether the record says that an expression had the value of a variable, so that the variables
        in it have, too, the values that they have now."""
        for start in reversed(range(len(self.record))):
            self.recall.replay(self.record[start:])
            try:
                return written(self.value(node)) == written(self.recall.found(name))
            except Exception:
                continue
        return False

    def text(self, node):
        """An expression, with values in the place of variables."""
        return _Words(self).visit(node)

    def name_of(self, name):
        """The name of what the tests call `candidate`."""
        return self.explainer.entry if name == "candidate" and self.explainer.entry else name

    def shown(self, name):
        """What stands for a name in a text: its value, where that is plain."""
        for scope in self.recall.scopes[:2]:
            if name in scope and name not in self.suite.constants:
                value = scope[name]
                return written(value) if recall.is_data(value) else self.name_of(name)
        return self.name_of(name)


class _NOTHING:
    """The value of what cannot be recalled."""


class _Sides:
    """Which side of a comparison is the program's, and what is expected of it."""

    def __init__(self, test, left, symbol, right, negated):
        self.test, self.left, self.right = test, left, right
        is_left, is_right = test.is_theirs(left), test.is_theirs(right)
        self.is_swapped = is_right and not is_left or is_left == is_right and _is_wanted(left) \
            and not _is_wanted(right)
        self.symbol = _OPPOSITE[symbol] if negated else symbol
        self.got, self.expected = left, right
        if self.is_swapped:
            self.got, self.expected = right, left
            self.symbol = _MIRRORED.get(self.symbol, self.symbol)

    def expected_of(self, value):
        """What is expected, in words."""
        if _is_about(self.expected):
            text = f"about {self.test.text(self.expected.args[0])}"
        elif type(value) is _NOTHING:
            text = self.test.text(self.expected)
        else:
            text = written(value)
        return _EXPECTED[self.symbol].format(text)


def _is_wanted(node):
    """Whether an expression looks like what is expected: it is written out, or its name says so."""
    if type(node) is ast.Name:
        return re.search(r"expect|want|correct|answer|target|truth|gold", node.id) is not None
    return type(node) in (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp)


def _is_about(node):
    return type(node) is ast.Call and _name(node) == "approx" and node.args


def _near(left, symbol, right):
    """The two numbers of `abs(f(x) - y) < 1e-6`."""
    if symbol not in ("<", "<=") or type(left) is not ast.Call or _name(left) not in ("abs", "fabs") \
            or len(left.args) != 1:
        return None
    gap = left.args[0]
    if type(gap) is ast.BinOp and type(gap.op) is ast.Sub:
        return gap.left, gap.right
    return None


_ABOUT = ("isclose", "allclose", "approx_equal", "is_close")
_TRUTHS = {False: "a true value", True: "a false value"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "in": "holds", "not in": "lacks"}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "is": "is not",
             "is not": "is", "in": "not in", "not in": "in"}
_EXPECTED = {
    "==": "{}", "is": "{}", "!=": "a value other than {}", "is not": "a value other than {}",
    "<": "less than {}", "<=": "at most {}", ">": "more than {}", ">=": "at least {}",
    "in": "a member of {}", "not in": "no member of {}", "holds": "a value that holds {}",
    "lacks": "a value without {}",
}


class _Words(Unparser):
    """Writes an expression with values in the place of variables."""

    def __init__(self, test=None, words=()):
        super().__init__()
        self.test, self.words = test, dict(words)

    def visit_Name(self, node):
        if node.id not in self.words and self.test is not None:
            self.words[node.id] = self.test.shown(node.id)
        self.write(self.words.get(node.id, node.id))

    def visit_Starred(self, node):
        name = node.value.id if type(node.value) is ast.Name and self.test is not None else None
        items = self.test.recall.scopes[0].get(name) if name else None
        if type(items) is list or type(items) is tuple:
            self.write(", ".join(map(written, items)))
        else:
            super().visit_Starred(node)

    def visit_Call(self, node):
        if len(node.args) == 1 and not node.keywords and type(node.args[0]) is ast.GeneratorExp:
            # It brings its own parentheses.
            self.traverse(node.func)
            self.traverse(node.args[0])
        else:
            super().visit_Call(node)

    def _comprehension(self, node):
        before, self.words = self.words, {**self.words, **{
            part.id: part.id for inner in node.generators for part in ast.walk(inner.target)
            if type(part) is ast.Name}}
        getattr(super(), f"visit_{type(node).__name__}")(node)
        self.words = before

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def _last_call(record, frame, name_of):
    """The last call of the candidate, as text, and what it returned."""
    if not record or not record[-1][0]:
        return None, None
    _, verb, is_marked, arguments = plain.loads(record[-1][0])
    if verb != "call":
        return None, None
    if is_marked:
        arguments = plain.unmarked(arguments, plain.KINDS)
    target, args, kwargs = arguments[:3]
    words = [*map(written, args), *(f"{name}={written(value)}" for name, value in kwargs.items())]
    names = [name_of(name) for name, value in frame.f_globals.items()
             if is_stand(value) and value._assay_number == target]
    names += _attributes(record, target)
    call = f"{names[0] if names else 'a function'}({', '.join(words)})"
    status, *rest = plain.loads(record[-1][1])
    if status != 0:
        return call, None
    return call, written(proxies.received(rest[1]) if rest[0] else rest[1])


def _attributes(record, number):
    """Names under which an object was asked for that another one has."""
    for message, reply in record:
        _, verb, _, arguments = plain.loads(message) if message else (None, None, None, None)
        value = plain.loads(reply)[-1] if verb == "get" else None
        if type(value) is tuple and value[:3] == (plain.MARK, "h", number):
            yield arguments[1]

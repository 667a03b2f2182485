"""One room for tests and candidate, for suites that two cannot judge.

It is weaker: what runs in one interpreter can reach all of it. What can be held is held. The tests
are read before the candidate is loaded, compare values of plain types by code of ours, have builtins
of their own, and see when the library or the interpreter's hooks were patched.
"""

import builtins
import gc
import operator
import sys
from collections import deque
from contextlib import contextmanager
from types import MappingProxyType
from unittest.mock import ANY, NonCallableMock, _Call, _CallList

import judge
import patches
import plain
import pytest_run
import pytest_shim
import results
import solver
from marshal import loads
from names import looks_like_class
from proxies import state
from written import written

# What any tests are made of. What they import themselves is held as well.
_HELD = ("builtins", "collections", "contextlib", "copy", "functools", "io", "itertools", "json",
         "math", "operator", "re", "unittest", "unittest.case", "unittest.mock")
_OURS = {
    "the tests' results": results.Results, "the tests' recorder": results.Recorder,
    "the tests' recorder that compares": None, "capsys": pytest_run._Captured,
    "monkeypatch": pytest_run.MonkeyPatch, "pytest.approx": pytest_shim.approx,
    "pytest.raises": pytest_shim._Raises, "pytest.mark": pytest_shim._Marks,
    "marks of pytest": pytest_shim._Mark, "applied marks of pytest": pytest_shim._Applied,
    "fixtures of pytest": pytest_shim.Fixture,
}
# What finds the values of the tests wherever they are.
_SEARCHES = ("get_objects", "get_referrers", "get_referents")


def _known_types():
    """Types of the library: no candidate has been loaded yet."""
    found, waiting = set(), [object]
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found.add(kind)
            waiting += type.__subclasses__(kind)
    # What equals everything is made to.
    return frozenset(kind for kind in found if not kind.__module__.startswith("unittest"))


_TYPES = set()
_held = patches.Held(())


def note_types():
    """Remembers the types of the library, and what it is made of; called once, before the
    snapshot."""
    global _held
    _TYPES.update(_known_types())
    _held = patches.Held(_HELD)
    for name, kind in _OURS.items():
        _held.add(name, kind or _Comparer)


def shared(preamble, source, has_common_imports, *arguments):
    """Loads the candidate and runs the tests that were read before."""
    suite, own_builtins = judge.read_suite(), dict(vars(builtins))
    held = _held, patches.Held(suite.reached.difference(_HELD))
    with unsearched(name for name in _SEARCHES if name not in arguments[0]):
        return _shared(suite, own_builtins, held, (preamble, source, has_common_imports), arguments)


def held():
    """The state of what any tests are made of."""
    return _held


@contextmanager
def unsearched(names=_SEARCHES):
    """What searches the memory of the room finds nothing, and is told."""
    searches = {name: getattr(gc, name) for name in names}
    for name in searches:
        setattr(gc, name, _searched)
    try:
        yield
    finally:
        vars(gc).update(searches)


def _searched(*_):
    if state.poisoned is None:
        state.poisoned = "the program searches the memory of the tests"
    return []


def _shared(suite, own_builtins, held, program, arguments):
    loaded = solver.load(*program)
    if loads(loaded)[0] != 0:
        return loaded
    program = solver.namespace()

    def find(wanted, imports):
        solver.bring(imports)
        return {name: program[name] for name in wanted if name in program}

    options = judge.Options(*arguments)
    options.builtins, options.solution = own_builtins, sys.modules[solver.NAME]
    options.recorder = _Comparer
    _refuse_patches(held, suite.patched)
    reply = judge.judged(suite, options, find, is_shared=True)
    _refuse_patches(held, suite.patched)
    _refuse_changes(options)
    if state.poisoned is None:
        return reply
    status, rows, error, broken, _, crossings = loads(reply)
    return plain.dumps((status, rows, error, broken, state.poisoned, crossings), 2)


def _refuse_patches(held, patched):
    """A program that patches what tests are made of is not judged by it."""
    for part in held:
        replaced = part.replaced(patched)
        if replaced is not None and state.poisoned is None:
            state.poisoned = f"the program patches {replaced}"
    hooks = sys.gettrace() or sys.getprofile() or any(
        sys.monitoring.get_tool(tool) for tool in range(6))
    if hooks and state.poisoned is None:
        state.poisoned = "the program traces the interpreter"


def _refuse_changes(options):
    """Tests that are not what they were when they were defined judge nobody."""
    changed = [name for name, function, code in options.defined if function.__code__ is not code]
    if sys.modules["__main__"].__dict__.get(judge.RECORDER) is not options.made:
        changed.append("the recorder")
    if changed and state.poisoned is None:
        state.poisoned = f"the program changes {changed[0]} of the tests"


class _Comparer(results.Recorder):
    """Compares for the tests: objects of classes that they do not ask for have no say."""

    any = type(ANY)()
    """What the tests have in the place of `unittest.mock.ANY`, which any program can return."""

    def _is_trusted(self, value):
        kind = type(value)
        return kind in _TYPES or kind in self.kinds or self._is_own(value) or self._is_asked(value)

    def _is_own(self, value):
        """Whether it compares as the tests say: by code of theirs, or as their `ANY`."""
        own = getattr(getattr(type(value), "__eq__", None), "__globals__", None)
        return value is self.any or type(own) is dict and own.get(judge.RECORDER) is self

    @property
    def kinds(self):
        """Classes that the tests define themselves, or the prompt of the task."""
        defined = [self.namespace[name] for name in self.defined if name in self.namespace]
        return [value for value in (*self.of_prompt, *defined) if isinstance(value, type)]

    def alone(self, value):
        if not (self._is_trusted(value) or isinstance(value, type)):
            name = type(value).__name__
            raise AssertionError(f"an object of class {name} of the candidate's cannot judge itself")
        return value

    def mock(self, value, name):
        """A mock that is about to judge what it was called with, by a method of the library's."""
        if not isinstance(value, NonCallableMock):
            return value
        kinds = type(value).__mro__
        own = kinds[:next(at for at, kind in enumerate(kinds) if _is_of_mock(kind))]
        if name in vars(value) or any(name in vars(kind) for kind in own):
            raise AssertionError(f"the program replaces {name} of a mock")
        if name in _COMPARE_CALLS:
            awaited = getattr(value, "await_args_list", ())
            awaited = awaited if type(awaited) is _CallList else ()
            for made in (*value.mock_calls, *awaited):
                if not self._is_plain(tuple(made)):
                    raise AssertionError("a mock is called with what equals what it likes")
        return value

    def _is_plain(self, value):
        """Whether no object within compares by code of the program's that nobody asked for."""
        kind = type(value)
        if kind in (list, tuple, set, frozenset):
            return all(map(self._is_plain, value))
        if kind is dict:
            return all(map(self._is_plain, value)) and all(map(self._is_plain, value.values()))
        return self._is_harmless(value)

    def _is_harmless(self, value):
        """The same of what holds no other objects."""
        return self._is_trusted(value) or type(value).__eq__ is object.__eq__ \
            or isinstance(value, (type, NonCallableMock))

    def truth(self, value):
        """The truth of a value, which is to be true."""
        truth = self._truth(value)
        self.last = None if truth else ("truth", value)
        return truth

    def untruth(self, value):
        """The same of a value which is to be false."""
        truth = self._truth(value)
        self.last = ("truth", value) if truth else None
        return truth

    def _truth(self, value):
        if self._is_trusted(value):
            return bool(value)
        return bool(self._plain(value))

    def compare(self, operation, left, right):
        """One comparison, which is to hold."""
        is_so = self._compared(operation, left, right)
        self.last = None if is_so else (operation, left, right)
        return is_so

    def contrast(self, operation, left, right):
        """One comparison, which is not to hold."""
        is_so = self._compared(operation, left, right)
        self.last = (operation, left, right) if is_so else None
        return is_so

    def _compared(self, operation, left, right):
        if operation in _IDENTITIES:
            return _IDENTITIES[operation](left, right)
        if operation == "==":
            return self._equal(left, right)
        if operation == "!=":
            return not self._equal(left, right)
        if operation in ("in", "not in"):
            return self._holds(right, left) == (operation == "in")
        if self._is_foreign(left) and self._is_foreign(right):
            other = _OPPOSITES.get(operation)
            return bool(_ORDERS[operation](left, right)) and not (other and _is(_ORDERS[other], left, right))
        return bool(_ORDERS[operation](self._plain(left), self._plain(right)))

    def sides(self, operation, left, right, *rest):
        """The arguments of `assertEqual` and its like, once they have been compared."""
        pair = ([*left], [*right]) if operation == "sequence" else (left, right)
        operation = "==" if operation == "sequence" else operation
        if not self.compare(operation, *pair):
            raise AssertionError(f"not {written(left)} {operation} {written(right)}")
        return (left, right, *rest)

    def _plain(self, value):
        """The value itself, or the plain one in an object of a class derived from a plain type."""
        if self._is_trusted(value):
            return value
        base = plain.of_base(value)
        if not base:
            name = type(value).__name__
            raise AssertionError(f"an object of class {name} of the candidate's stands for a value")
        return base[0]

    def _equal(self, left, right):
        if left is right:
            return left == left if type(left) in plain.ATOMS else True
        if self._is_asked(left) or self._is_asked(right):
            return self._by_class(left, right)
        if _Call in (type(left), type(right)):
            return self._same_call(left, right)
        if not (self._is_trusted(left) and self._is_trusted(right)):
            if self._is_foreign(left) and self._is_foreign(right):
                # Neither is a value of the tests: what one class says of its own objects.
                return bool(left == right) and not self._is_universal(left)
            left, right = self._valued(left), self._valued(right)
        kinds = type(left), type(right)
        if kinds[0] in plain.ATOMS and kinds[1] in plain.ATOMS:
            return left == right
        if kinds in ((list, list), (tuple, tuple)):
            return len(left) == len(right) and all(map(self._same, left, right))
        if kinds == (dict, dict):
            return len(left) == len(right) and all(
                key in right and self._same(value, right[key]) for key, value in left.items())
        self.fair(left)
        self.fair(right)
        return bool(left == right)

    def _valued(self, value):
        """The value, or the plain one in it; an object that equals itself alone is one, too."""
        return value if type(value).__eq__ is object.__eq__ else self._plain(value)

    def _is_foreign(self, value):
        """Whether an object is of a class of the program's that nobody asked for, and of no plain type."""
        return not (self._is_trusted(value) or plain.of_base(value))

    def _is_universal(self, value):
        """Whether an object equals what nobody made for it."""
        return any(_is(operator.eq, value, kind()) for kind in (object, type("", (), {})))

    def fair(self, value):
        """The value, if nothing in it compares by code of the program's that nobody asked for."""
        for part in within(value):
            if not self._is_harmless(part) or self._is_asked(part) and self._is_universal(part):
                name = type(part).__name__
                raise AssertionError(f"an object of class {name} of the candidate's cannot judge itself")
        return value

    def found(self, *parts):
        """A comparison, or a chain of them, on which the tests may go on: what it says, but that what holds must
        hold as in an assertion."""
        count = len(parts) // 2
        for at in range(count):
            is_so = self._found(parts[at], *parts[count + at:count + at + 2])
            if not is_so:
                break
        return is_so

    def _found(self, operation, left, right):
        kinds = type(left), type(right)
        is_so = _OPERATIONS[operation](left, right)
        if kinds[0] in plain.ATOMS and kinds[1] in plain.ATOMS or self._is_own(left) or self._is_own(right):
            return is_so
        is_asked = self._is_asked(left) or self._is_asked(right)
        if type(is_so) not in (bool, int, float) and not (self._is_foreign(left) or self._is_foreign(right)):
            # It builds something, such as a query.
            return is_so
        if operation in ("in", "not in"):
            # What gives its items once was asked already.
            is_list = kinds[1] in (list, tuple) or is_asked and not hasattr(kinds[1], "__next__")
            return self._compared(operation, left, right) if is_list and is_so == (operation == "in") else is_so
        if operation in ("==", "!="):
            is_equal = bool(is_so) == (operation == "==")
            return self._compared(operation, left, right) if is_equal else is_so
        is_known = self._is_trusted(left) and self._is_trusted(right) and not is_asked
        return is_so if is_known else self._compared(operation, left, right)

    def near(self, left, right, *rest):
        """The arguments of `assertAlmostEqual`, whose difference must be theirs."""
        left, right = self.fair(self._valued(left)), self.fair(self._valued(right))
        try:
            self.difference(left, right)
        except TypeError:
            pass
        return (left, right, *rest)

    def difference(self, left, right):
        """The difference of two values, which must change with the number that one of them is."""
        if not (type(left) in plain.ATOMS and type(right) in plain.ATOMS):
            for own, other, is_left in ((left, right, True), (right, left, False)):
                if type(own) not in plain.ATOMS and type(other) in (int, float):
                    pairs = [(own, number) if is_left else (number, own) for number in (other, other + _STEP)]
                    found = [one - two for one, two in pairs]
                    if all(type(one) in plain.ATOMS for one in found) and found[0] == found[1]:
                        raise AssertionError("an object differs alike from whatever it is compared with")
        return left - right

    def _same(self, left, right):
        """Equality as containers have it, for which an object is itself: also one that is not a number."""
        return left is right or self._equal(left, right)

    def _same_call(self, left, right):
        """Equality of calls as mocks record them, or of a tuple that stands for one; that of their
        arguments is ours."""
        if not all(type(side) in (_Call, tuple) for side in (left, right)):
            return False
        (own, named), (others, other) = _arguments(left), _arguments(right)
        return self._equal(own, others) and self._equal(named, other) and bool(left == right)

    def _is_asked(self, value):
        """Whether a value is of a class of the candidate's that the tests ask for."""
        kind = type(value)
        if kind in _TYPES or kind in self.kinds:
            return False
        return kind.__name__ in self.classes or any(
            looks_like_class(name) for name, bound in self.namespace.items() if bound is kind)

    def _by_class(self, left, right):
        """Equality as a class of the candidate's has it, which must tell a value from others."""
        own, other = (left, right) if self._is_asked(left) else (right, left)
        is_so, amount = False, 0
        for value in decoys(other):
            if value is other:
                is_so = bool(left == right)
                amount += is_so
            else:
                amount += _is(operator.eq, *((own, value) if own is left else (value, own)))
        if is_so and amount > 1:
            name = type(own).__name__
            raise AssertionError(f"an object of class {name} equals whatever it is compared with")
        return is_so

    def _holds(self, container, item):
        if type(container) is _CallList and type(item) is list:
            return any(self._equal(list(container[at:at + len(item)]), item)
                       for at in range(len(container) - len(item) + 1))
        if type(container) in (list, tuple, set, frozenset, dict, _CallList):
            return any(self._same(part, item) for part in container)
        container = self._plain(container)
        if self._is_asked(container) and _is(operator.contains, container, object()):
            name = type(container).__name__
            raise AssertionError(f"an object of class {name} holds whatever it is asked for")
        return item in container


def within(value):
    """An object, and those that it holds, where it compares by what it holds."""
    waiting, seen = [value], {}
    while waiting and len(seen) < _LOOKED_AT_MAX:
        value = waiting.pop()
        kind = type(value)
        if id(value) in seen or kind in plain.ATOMS:
            continue
        seen[id(value)] = value
        yield value
        if kind.__eq__ is object.__eq__ or isinstance(value, (type, NonCallableMock)):
            continue
        for base, parts in _PARTS.items():
            if issubclass(kind, base):
                waiting += [part for part in parts(value) if type(part) not in plain.ATOMS]
        names = getattr(value, "__dict__", None)
        waiting += names.values() if type(names) is dict else ()
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ())
            waiting += [getattr(value, name) for name in ((slots,) if type(slots) is str else slots)
                        if hasattr(value, name)]


_LOOKED_AT_MAX = 20_000
_PARTS = {
    list: list.__iter__, tuple: tuple.__iter__, set: set.__iter__, frozenset: frozenset.__iter__,
    dict: lambda value: (*dict.keys(value), *dict.values(value)), deque: deque.__iter__,
    MappingProxyType: lambda value: value.values(), type({}.values()): iter, type({}.items()): iter}


def _is_of_mock(kind):
    return kind.__module__ == "unittest.mock" and kind in _MOCKS


_MOCKS = frozenset(
    kind for kind in vars(sys.modules["unittest.mock"]).values() if isinstance(kind, type))
_COMPARE_CALLS = frozenset((
    "assert_called_with", "assert_called_once_with", "assert_any_call", "assert_has_calls",
    "assert_awaited_with", "assert_awaited_once_with", "assert_any_await", "assert_has_awaits"))


def _arguments(call):
    """Those by position and by name, of a call in any of the forms that `mock` knows."""
    parts = [part for part in tuple(call) if type(part) is not str]
    own = next((part for part in parts if type(part) is tuple), ())
    return own, next((part for part in parts if type(part) is dict), {})


def _is(operation, left, right):
    """What an operation says, where it says anything."""
    try:
        return bool(operation(left, right))
    except Exception:
        return False


def decoys(value):
    """The value among others of its kind, at a place that hangs on it."""
    kind = type(value)
    if kind in (int, float) and value - value == 0 and value + _STEP != value:
        at = hash(value) % 4
        return [value if step == at else value + _STEP * (step - at) for step in range(4)]
    others = [object()]
    if kind is bool:
        others.append(not value)
    elif kind is str:
        others += [value + "?", value[1:]] if value else ["?"]
    elif kind is bytes:
        others += [value + b"?", value[1:]] if value else [b"?"]
    elif kind in (list, tuple):
        others.append(value + kind([_STEP]))
    elif kind in (set, frozenset):
        others.append(value | {_STEP})
    elif kind is dict:
        others.append({**value, _STEP: None})
    elif value is None:
        others.append(_STEP)
    at = sum(written(value).encode()) % (len(others) + 1)
    return [*others[:at], value, *others[at:]]


# So far that neither rounding nor a modulus takes one number for another.
_STEP = 1009
_OPPOSITES = {"<": ">", ">": "<"}
_IDENTITIES = {"is": lambda left, right: left is right, "is not": lambda left, right: left is not right}
_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_OPERATIONS = {**_ORDERS, "==": operator.eq, "!=": operator.ne,
               "in": lambda item, held: item in held, "not in": lambda item, held: item not in held}

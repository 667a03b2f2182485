"""Room B's side of what lives in room A: stand-ins without a value of their own.

A stand-in forwards calls, attributes, items and steps of an iteration. It has no equality, hash,
order or truth: what judges the candidate must be data of this room.
"""

import builtins
import collections
import decimal

import plain
from names import BUILTIN_ATTRIBUTES
from plain import MARK, Uncrossable, cut, loads, marked, pack, unmarked
from wit_world import invoke

_NEVER = ("StopIteration", "StopAsyncIteration", "GeneratorExit", "SystemExit",
          "KeyboardInterrupt", "BaseException", "BaseExceptionGroup")
_ERRORS = {
    name: value for name, value in sorted(vars(builtins).items())
    if isinstance(value, type) and issubclass(value, Exception) and name not in _NEVER
}


class Poisoned(BaseException):
    """The judged room broke a rule; nothing that follows can be a pass."""


class Unsupported(BaseException):
    """The tests ask for something that cannot cross; that is no fault of the candidate."""


class State:
    """What this room has seen."""

    crossings = 0
    constants = 0
    poisoned = None
    unsupported = None
    copies_back = False
    allows_nan = False
    awaits = False
    classes = frozenset()
    errors = {}


state = State()

# The latest crossings: what was asked, and the reply. Two empty texts where these are large.
SEEN_MAX, SEEN_BYTES_MAX = 32, 16_384
seen = collections.deque(maxlen=SEEN_MAX)
_TOO_LARGE = b"", b""


def poison(why):
    """Ends all hope of a pass."""
    if state.poisoned is None:
        state.poisoned = cut(why)
    raise Poisoned(why)


def ask(verb, *arguments):
    """One crossing: the reply's value, or the exception that the candidate raised."""
    if state.poisoned is not None:
        raise Poisoned(state.poisoned)
    state.crossings += 1
    message = pack(("do", verb), arguments, _keep)
    reply = invoke(message)
    seen.append((message, reply) if len(message) + len(reply) <= SEEN_BYTES_MAX else _TOO_LARGE)
    reply = loads(reply)
    status = reply[0]
    if status == 0:
        return received(reply[2]) if reply[1] else reply[2]
    if status == 2:
        raise _error(*reply[1:])
    if status == 3:
        raise StopIteration
    poison(reply[1])


def received(value):
    """The value that a reply with marks stands for."""
    try:
        return unmarked(value, _KINDS)
    except Poisoned:
        raise
    except Exception as error:
        poison(f"a reply cannot be read: {type(error).__name__}: {error}")


def _error(names, text, args, line, number, cause):
    error = _made_error(names, text, args, number)
    error._assay_line = line
    if cause is not None:
        error.__cause__ = _made_error(cause[0], cause[1], [cause[1]], None)
    return error


def _made_error(names, text, args, number):
    if any(name in _NEVER[:3] for name in names):
        return RuntimeError(f"the candidate raised {names[0]}: {text}")
    for name in names:
        kind = state.errors.get(name) or _ERRORS.get(name)
        if kind is not None:
            try:
                return _raised(kind, names[0], text, args, number)
            except Exception:
                break
    return RuntimeError(f"{names[0]}: {text}" if names else text)


def _raised(kind, name, text, args, number):
    """An exception as it was raised: its text, and the attributes that its class gave it."""
    if number is None or kind.__name__ == name and name in _ERRORS:
        return kind(*args)
    own = _raised_kinds.get((kind, name))
    if own is None:
        own = _raised_kinds[kind, name] = type(name, (kind,), {
            "__init__": lambda self, *_: None, "__str__": lambda self: self._assay_text,
            "__getattr__": _forwarded})
    made = own.__new__(own, *args)
    made.args = tuple(args)
    made._assay_text, made._assay_number = text, number
    return made


_raised_kinds = {}


def _forwarded(self, attribute):
    """An attribute that only the candidate's room has."""
    is_builtin = attribute in BUILTIN_ATTRIBUTES and type(self).__name__ not in state.classes
    if attribute.startswith("__") or is_builtin or "_assay_number" not in vars(self):
        raise AttributeError(attribute)
    return ask("get", self._assay_number, attribute)


def _opaque(self, *_):
    raise TypeError(f"{self!r} is an object of the candidate's room, which cannot be compared")


def _equal(self, other):
    return False if other is None else _opaque(self)


def _unequal(self, other):
    return True if other is None else _opaque(self)


class Stand:
    """An object of the candidate's room. That it is not None is all that is known of it."""

    __slots__ = ("_assay_number", "_assay_name", "__weakref__")

    def __init__(self, number, name):
        object.__setattr__(self, "_assay_number", number)
        object.__setattr__(self, "_assay_name", name)

    __hash__ = None
    __eq__, __ne__ = _equal, _unequal
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _opaque

    def __getattr__(self, name):
        if name.startswith("__") and name not in ("__name__", "__doc__", "__qualname__"):
            raise AttributeError(name)
        if name in BUILTIN_ATTRIBUTES and not self._may(name):
            raise AttributeError(
                f"{name}: an object of class {self._assay_name} of the candidate's stands where a "
                "value of a builtin type is asked for")
        return ask("get", self._assay_number, name)

    def _may(self, name):
        """Whether the tests ask for an object of this class, whose methods may be called so."""
        return self._assay_name in state.classes

    def __setattr__(self, name, value):
        ask("set", self._assay_number, name, value)

    def __getitem__(self, key):
        return ask("item", self._assay_number, key)

    def __len__(self):
        return ask("len", self._assay_number)

    def __str__(self):
        return _text(ask("str", self._assay_number))

    def __repr__(self):
        return f"<{self._assay_name} of the candidate>"


class Call(Stand):
    """A function, class or method of the candidate's room."""

    __slots__ = ()

    def _may(self, name):
        return True

    def __call__(self, *args, **kwargs):
        return called(self._assay_number, args, kwargs)


class Iterable(Stand):
    """Something of the candidate's room that can be gone through."""

    __slots__ = ()

    def __iter__(self):
        return ask("iter", self._assay_number)


class CallIterable(Call, Iterable):
    """Something of the candidate's room that can be called and gone through."""

    __slots__ = ()

    _may = Stand._may


class Iterator(Stand):
    """An iterator of the candidate's room, taken step by step."""

    __slots__ = ()

    def __iter__(self):
        return self

    def __next__(self):
        return ask("next", self._assay_number)

    def _may(self, name):
        return name in ("send", "throw", "close") or super()._may(name)


class Awaitable(Stand):
    """A coroutine of the candidate's room, run there to its end at the first step."""

    __slots__ = ()

    def __await__(self):
        return ask("await", self._assay_number)
        yield

    def __hash__(self):
        # `asyncio.gather` keeps what it waits for in a dictionary.
        if not state.awaits:
            raise TypeError(f"unhashable: {self!r}")
        return object.__hash__(self)

    def send(self, value):
        if not state.awaits:
            raise AttributeError("send")
        raise StopIteration(ask("await", self._assay_number))

    def throw(self, kind, value=None, trace=None):
        raise kind if value is None else value

    def close(self):
        pass


def called(target, args, kwargs):
    """Calls a function of the candidate's room by name or number."""
    value = ask("call", target, args, kwargs, state.copies_back)
    if not state.copies_back:
        return value
    if type(value) is not tuple or len(value) != 2 or type(value[1]) is not tuple:
        poison("a reply lacks the arguments that were asked back")
    value, after = value
    for old, new in zip(args, after):
        _copy_back(old, new)
    return value


def _copy_back(old, new):
    if type(old) is not type(new):
        return
    if type(old) is list or type(old) is bytearray:
        old[:] = new
    elif type(old) is dict or type(old) is set:
        old.clear()
        old.update(new)


def _text(value):
    if type(value) is not str:
        poison("a text of the candidate's room is no text")
    return value


def _stand(kinds, number, flags, name):
    if flags & plain.ITERATOR:
        return Iterator(number, name)
    if flags & plain.AWAITABLE:
        return Awaitable(number, name)
    if flags & plain.CALLABLE:
        return (CallIterable if flags & plain.ITERABLE else Call)(number, name)
    return (Iterable if flags & plain.ITERABLE else Stand)(number, name)


def _error_class(kinds, number, name, bases):
    base = next((_ERRORS[b] for b in bases if b in _ERRORS), RuntimeError)
    if any(b in _NEVER[:3] for b in bases):
        base = RuntimeError
    if name not in state.errors:
        def new(*args, **kwargs):
            return called(number, args, kwargs)
        state.errors[name] = type(name, (base,), {"_assay_number": number})
    return state.errors[name]


_derived = {}


def derived():
    """Classes that stand for those of the candidate's that are derived from plain types."""
    return _derived.values()


def _derived_value(kinds, number, name, value):
    value = unmarked(value, kinds)
    base = type(value)
    kind = _derived.get((base, name))
    if kind is None:
        kind = _derived[base, name] = type(name, (base,), {"__getattr__": _forwarded})
    made = kind(value)
    made._assay_number = number
    return made


def _decimal(kinds, text):
    value = decimal.Decimal(text)
    if value.is_nan() and not state.allows_nan:
        poison("a result is not a number")
    return value


_KINDS = plain.KINDS | {
    "D": _decimal, "h": _stand, "x": _error_class, "s": _derived_value,
}


# What can be gone through there is more than that.
_NO_ITERATORS = frozenset(("_io", "io", "unittest.mock"))


def _keep(value, depth):
    number = getattr(value, "_assay_number", None)
    if number is not None and type(number) is int:
        return (MARK, "h", number)
    name = plain.named(value)
    if name is not None:
        return (MARK, "m", *name)
    if hasattr(type(value), "__next__") and type(value).__module__ not in _NO_ITERATORS:
        return (MARK, "i", _drained(value, depth))
    base = plain.of_base(value)
    if base:
        return marked(base[0], _keep, depth)
    what = f"the tests hand a {type(value).__name__} to the candidate, which cannot cross"
    if state.unsupported is None:
        state.unsupported = what
    raise Unsupported(what)


def _drained(value, depth):
    items = []
    for item in value:
        items.append(marked(item, _keep, depth))
        if len(items) > plain.ITEMS_MAX:
            raise Uncrossable("an iterator among the arguments does not end")
    return items

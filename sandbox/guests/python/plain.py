"""What crosses between rooms: plain data as `marshal` version 2, and marks for the rest.

A value that is plain through and through is sent as it is. Any other is sent with marks: a tuple
whose first member is the Ellipsis, then a letter that says what the rest stands for. The host
reads all bytes before the other room does, so neither room needs to trust the other's.
"""

import array
import builtins
import collections
import datetime
import decimal
import fractions
import io
import ipaddress
import pathlib
import re
import sys
import types
import uuid
from marshal import dumps, loads

MARK = Ellipsis
DEPTH_MAX = 150
ITEMS_MAX = 1_000_000

CALLABLE, ITERATOR, ITERABLE, CLASS, AWAITABLE = 1, 2, 4, 8, 16

ATOMS = frozenset([type(None), bool, int, float, complex, str, bytes])
PLAIN = ATOMS | {list, tuple, dict, set, frozenset}
BUILTIN_TYPES = {
    value: name
    for name, value in sorted(vars(builtins).items())
    if isinstance(value, type) and name not in ("__loader__",)
}
# Values of the library that their text says wholly.
BY_TEXT = {kind.__name__: kind for kind in (
    pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, uuid.UUID,
    ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network)}
BUILTIN_NAMES = {name: value for value, name in BUILTIN_TYPES.items()}


# What has a buffer, such as a bytearray, is written like bytes: a length of 4 bytes follows.
_MAY_BE_BYTES = re.compile(rb"s[\s\S]{3}\0").search


class Uncrossable(Exception):
    """A value that no rule lets cross."""


def pack(head, value, keep):
    """The bytes of a message: the head, 0 or 1 (with marks), and the value at its end."""
    if type(value) in PLAIN:
        try:
            message = dumps((*head, 0, value), 2, allow_code=False)
            if _MAY_BE_BYTES(message) is None:
                return message
        except ValueError:
            pass
    return dumps((*head, 1, marked(value, keep, DEPTH_MAX)), 2, allow_code=False)


def marked(value, keep, depth):
    """The value with marks; `keep` gives the mark of what has no rule."""
    kind = type(value)
    if kind in ATOMS:
        return value
    if depth == 0:
        raise Uncrossable("a value is nested too deeply to cross")
    rule = _RULES.get(kind)
    if rule is not None:
        return rule(value, keep, depth - 1)
    if isinstance(value, type) and value in BUILTIN_TYPES:
        return (MARK, "b", BUILTIN_TYPES[value])
    return keep(value, depth - 1)


def of_base(value):
    """The plain value inside an instance of a class derived from a plain type, in a list."""
    for base in type(value).__mro__:
        read = _BASES.get(base)
        if read is not None:
            return [read(value)]
    return []


def unmarked(value, kinds):
    """The value that marks stand for; `kinds` has a function for each letter."""
    kind = type(value)
    if kind is list:
        return [unmarked(item, kinds) for item in value]
    if kind is dict:
        return {key: unmarked(item, kinds) for key, item in value.items()}
    if kind is not tuple:
        return value
    if value and value[0] is MARK:
        return kinds[value[1]](kinds, *value[2:])
    return tuple([unmarked(item, kinds) for item in value])


def _list(value, keep, depth):
    return [marked(item, keep, depth) for item in value]


def _tuple(value, keep, depth):
    items = [marked(item, keep, depth) for item in value]
    return (MARK, "t", items) if value and value[0] is MARK else tuple(items)


def _dict(value, keep, depth):
    if not _is_plain([*value]):
        return keep(value, depth)
    return {key: marked(item, keep, depth) for key, item in value.items()}


def _hashed(value, keep, depth):
    return value if _is_plain([*value]) else keep(value, depth)


def _is_plain(value):
    try:
        dumps(value, 2, allow_code=False)
    except ValueError:
        return False
    return True


def _pairs(letter):
    def rule(value, keep, depth):
        if not _is_plain([*value]):
            return keep(value, depth)
        return (MARK, letter, [(key, marked(item, keep, depth)) for key, item in value.items()])
    return rule


def _deque(value, keep, depth):
    return (MARK, "q", _list(value, keep, depth), value.maxlen)


def _date(value, keep, depth):
    return (MARK, "d", "date", [value.year, value.month, value.day])


def _time(value, keep, depth):
    return _timed("time", value, [], keep, depth)


def _datetime(value, keep, depth):
    return _timed("datetime", value, [value.year, value.month, value.day], keep, depth)


def _timed(name, value, parts, keep, depth):
    zone = value.tzinfo
    if not (zone is None or type(zone) is datetime.timezone):
        return keep(value, depth)
    parts = [*parts, value.hour, value.minute, value.second, value.microsecond]
    return (MARK, "d", name, parts if zone is None else [*parts, _zone(zone, keep, depth)])


def _zone(value, keep, depth):
    delta, *name = value.__getinitargs__()
    return (MARK, "z", [delta.days, delta.seconds, delta.microseconds], *(name or [None]))


def _default(value, keep, depth):
    factory = value.default_factory
    if not _is_plain([*value]) or factory is not None and factory not in BUILTIN_TYPES:
        return _dict(value, keep, depth)
    pairs = [(key, marked(item, keep, depth)) for key, item in value.items()]
    return (MARK, "F", BUILTIN_TYPES.get(factory), pairs)


def _by_text(value, keep, depth):
    return (MARK, "S", type(value).__name__, str(value))


def _delta(value, keep, depth):
    return (MARK, "d", "timedelta", [value.days, value.seconds, value.microseconds])


def _values(value, keep, depth):
    return (MARK, "V", [marked(item, keep, depth) for item in value])


_RULES = {
    list: _list,
    tuple: _tuple,
    dict: _dict,
    set: _hashed,
    frozenset: _hashed,
    type(Ellipsis): lambda value, keep, depth: (MARK, "e"),
    range: lambda value, keep, depth: (MARK, "r", value.start, value.stop, value.step),
    bytearray: lambda value, keep, depth: (MARK, "y", bytes(value)),
    decimal.Decimal: lambda value, keep, depth: (MARK, "D", str(value)),
    fractions.Fraction: lambda value, keep, depth: (
        MARK, "Q", value.numerator, value.denominator),
    collections.deque: _deque,
    collections.Counter: _pairs("C"),
    collections.OrderedDict: _pairs("O"),
    collections.defaultdict: _default,
    io.StringIO: lambda value, keep, depth: (MARK, "T", value.getvalue(), value.tell()),
    io.BytesIO: lambda value, keep, depth: (MARK, "B", value.getvalue(), value.tell()),
    array.array: lambda value, keep, depth: (MARK, "A", value.typecode, value.tolist()),
    **dict.fromkeys(BY_TEXT.values(), lambda *rest: _by_text(*rest)),
    types.MappingProxyType: _dict,
    datetime.date: _date,
    datetime.time: _time,
    datetime.datetime: _datetime,
    datetime.timedelta: _delta,
    datetime.timezone: _zone,
    type({}.keys()): lambda value, keep, depth: _keys(value, keep, depth),
    type({}.values()): _values,
    type({}.items()): lambda value, keep, depth: _items(value, keep, depth),
}


RULED = tuple(_RULES)
"""Types of the library that cross as they are."""


def _keys(value, keep, depth):
    items = [*value]
    return (MARK, "K", items) if _is_plain(items) else keep(value, depth)


def _items(value, keep, depth):
    items = [*value]
    if not _is_plain([key for key, _ in items]):
        return keep(value, depth)
    return (MARK, "I", [(key, marked(item, keep, depth)) for key, item in items])


_BASES = {
    int: int.__pos__,
    float: float.__pos__,
    complex: complex.__pos__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    list: lambda value: list.__getitem__(value, slice(None)),
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    dict: lambda value: {key: dict.__getitem__(value, key) for key in dict.__iter__(value)},
    set: lambda value: {*set.__iter__(value)},
    frozenset: lambda value: frozenset({*frozenset.__iter__(value)}),
    collections.deque: lambda value: collections.deque(collections.deque.__iter__(value)),
}


def _made_pairs(make):
    def build(kinds, items):
        return make({key: unmarked(item, kinds) for key, item in items})
    return build


def _made_default(kinds, factory, items):
    factory = None if factory is None else BUILTIN_NAMES[factory]
    made = ((key, unmarked(item, kinds)) for key, item in items)
    return collections.defaultdict(factory, made)


def _made_date(kinds, name, parts):
    if name not in ("date", "time", "datetime", "timedelta"):
        raise Uncrossable("no such mark")
    return getattr(datetime, name)(*[unmarked(part, kinds) for part in parts])


def _made_stream(make):
    def build(kinds, content, at):
        stream = make(content)
        stream.seek(at)
        return stream
    return build


def _made_zone(kinds, delta, name):
    delta = datetime.timedelta(*delta)
    return datetime.timezone(delta) if name is None else datetime.timezone(delta, name)


# Letters that both rooms read alike.
KINDS = {
    "t": lambda kinds, items: tuple([unmarked(item, kinds) for item in items]),
    "e": lambda kinds: Ellipsis,
    "b": lambda kinds, name: BUILTIN_NAMES[name],
    "r": lambda kinds, start, stop, step: range(start, stop, step),
    "y": lambda kinds, value: bytearray(value),
    "D": lambda kinds, text: decimal.Decimal(text),
    "Q": lambda kinds, above, below: fractions.Fraction(above, below),
    "q": lambda kinds, items, length: collections.deque(
        [unmarked(item, kinds) for item in items], length),
    "C": _made_pairs(collections.Counter),
    "O": _made_pairs(collections.OrderedDict),
    "d": _made_date,
    "T": _made_stream(io.StringIO),
    "B": _made_stream(io.BytesIO),
    "F": _made_default,
    "A": lambda kinds, code, items: array.array(code, items),
    "S": lambda kinds, name, text: BY_TEXT[name](text),
    "z": _made_zone,
    "K": lambda kinds, items: dict.fromkeys(items).keys(),
    "V": lambda kinds, items: dict(enumerate([unmarked(item, kinds) for item in items])).values(),
    "I": lambda kinds, items: {key: unmarked(item, kinds) for key, item in items}.items(),
}


def named(value):
    """Module and name under which the standard library has this very object, or None."""
    module = getattr(value, "__module__", None) or "builtins"
    name = getattr(value, "__qualname__", None)
    if type(module) is not str or type(name) is not str or module == "__main__":
        return None
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is value else None


def by_name(kinds, module, name):
    """The object of the standard library under this name."""
    found = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part)
    return found


def cut(text, length=500):
    """The text, no longer than it helps a reader."""
    return text if len(text) <= length else text[:length] + "..."

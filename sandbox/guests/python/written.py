"""Values as evidence shows them: as Python writes them, and never longer than helps a reader.

In a shared room a value may be of a class of the candidate's, so nothing of the value's own is called:
whatever is not plain through and through is named by its class.
"""

import collections
import datetime
import decimal
import fractions

from proxies import Stand

CHARS_MAX = 200
_DEPTH_MAX = 20
_BITS_MAX = 2000

_MRO = type.__dict__["__mro__"].__get__
_NAME = type.__dict__["__name__"].__get__


class _Full(Exception):
    """Enough is written."""


def written(value, chars_max=CHARS_MAX):
    """The value on one line, cut."""
    writer = _Writer(chars_max)
    try:
        writer.value(value, 0)
    except _Full:
        return "".join(writer.parts)[:chars_max] + "…"
    return "".join(writer.parts)


def base_of(value):
    """The plain type that a value is of, or is derived from; None for anything else."""
    for kind in _MRO(type(value)):
        for base in _WRITERS:
            if base is kind:
                return base
    return None


def is_stand(value):
    """Whether a value stands for an object of the other room. `isinstance` would ask the value."""
    return any(kind is Stand for kind in _MRO(type(value)))


def class_name(value):
    """The name of a value's class."""
    return _NAME(type(value))


class _Writer:
    def __init__(self, room):
        self.room = room
        self.parts = []

    def put(self, text):
        self.parts.append(text)
        self.room -= len(text)
        if self.room < 0:
            raise _Full

    def value(self, value, depth):
        kind, base = type(value), base_of(value)
        if base is None:
            self.put(_opaque(value, kind))
        elif depth > _DEPTH_MAX:
            self.put("...")
        elif kind is base:
            _WRITERS[base](self, value, depth)
        else:
            self.put(f"{_NAME(kind)}(")
            _WRITERS[base](self, value, depth)
            self.put(")")

    def items(self, ends, items, depth, write=None):
        self.put(ends[0])
        for index, item in enumerate(items):
            if index:
                self.put(", ")
            (write or self.value)(item, depth + 1)
        self.put(ends[1])

    def pair(self, pair, depth):
        self.value(pair[0], depth)
        self.put(": ")
        self.value(pair[1], depth)


def _opaque(value, kind):
    if is_stand(value):
        return f"<{object.__getattribute__(value, '_assay_name')} object>"
    for base in _MRO(kind):
        if base is type:
            return f"<class {_NAME(value)}>"
    return f"<{_NAME(kind)} object>"


def _int(writer, value, depth):
    bits = int.bit_length(value)
    writer.put(int.__repr__(value) if bits <= _BITS_MAX else f"<integer of {bits} bits>")


def _str(writer, value, depth):
    writer.put(str.__repr__(str.__getitem__(value, slice(writer.room + 1))))


def _bytes(writer, value, depth):
    writer.put(bytes.__repr__(bytes.__getitem__(value, slice(writer.room + 1))))


def _tuple(writer, value, depth):
    ends = ("(", ",)" if tuple.__len__(value) == 1 else ")")
    writer.items(ends, tuple.__iter__(value), depth)


def _set(writer, value, depth):
    if set.__len__(value):
        writer.items("{}", set.__iter__(value), depth)
    else:
        writer.put("set()")


def _by_repr(base):
    return lambda writer, value, depth: writer.put(base.__repr__(value))


def _fraction(writer, value, depth):
    above, below = (part.__get__(value) for part in _FRACTION)
    writer.put("Fraction(")
    writer.value(above, depth)
    writer.put(", ")
    writer.value(below, depth)
    writer.put(")")


_FRACTION = fractions.Fraction._numerator, fractions.Fraction._denominator


def _by_time(base):
    zone = base.tzinfo.__get__

    def write(writer, value, depth):
        known = zone(value) is None or type(zone(value)) is datetime.timezone
        writer.put(base.__repr__(value) if known else f"<{base.__name__} object>")
    return write


_WRITERS = {
    type(None): _by_repr(type(None)),
    type(...): lambda writer, value, depth: writer.put("..."),
    bool: _by_repr(bool),
    int: _int,
    float: _by_repr(float),
    complex: _by_repr(complex),
    str: _str,
    bytes: _bytes,
    range: _by_repr(range),
    list: lambda writer, value, depth: writer.items("[]", list.__iter__(value), depth),
    tuple: _tuple,
    dict: lambda writer, value, depth: writer.items("{}", dict.items(value), depth, writer.pair),
    set: _set,
    frozenset: lambda writer, value, depth: writer.items(
        ("frozenset({", "})"), frozenset.__iter__(value), depth),
    collections.deque: lambda writer, value, depth: writer.items(
        ("deque([", "])"), collections.deque.__iter__(value), depth),
    bytearray: lambda writer, value, depth: writer.put(
        f"bytearray({bytes(bytearray.__getitem__(value, slice(writer.room + 1)))!r})"),
    fractions.Fraction: _fraction,
    decimal.Decimal: _by_repr(decimal.Decimal),
    datetime.datetime: _by_time(datetime.datetime),
    datetime.date: _by_repr(datetime.date),
    datetime.time: _by_time(datetime.time),
    datetime.timedelta: _by_repr(datetime.timedelta),
}

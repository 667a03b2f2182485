"""Programs are written for 64 bits, and the guest has 32: no length is above 2^31 - 1."""

import _collections_abc
import bisect
import csv
import functools
import importlib.util
import random
import sys
import types

from compression._common import _streams

_LENGTH_MAX = sys.maxsize


def install():
    """Installs all of it; called once, before the snapshot."""
    # These give it to functions written in C, which take no more, or count on its width.
    for module in (_collections_abc, _streams):
        module.sys = types.SimpleNamespace(maxsize=_LENGTH_MAX)
    # Most programs that use it want a number above all others.
    sys.maxsize = (1 << 63) - 1
    _bounded()
    _bisect()
    random.len = _length


def _bounded():
    """What people give `sys.maxsize` to where they want no bound."""
    set_limit, lru_cache = csv.field_size_limit, functools.lru_cache

    @functools.wraps(set_limit)
    def field_size_limit(*limit):
        return set_limit(*map(_least, limit))

    @functools.wraps(lru_cache)
    def bounded(maxsize=128, typed=False):
        return lru_cache(_least(maxsize), typed)

    csv.field_size_limit, functools.lru_cache = field_size_limit, bounded


def _least(number):
    return min(number, _LENGTH_MAX) if type(number) is int else number


def _length(values, /):
    """The length of a range has no limit."""
    try:
        return len(values)
    except OverflowError:
        if type(values) is not range:
            return type(values).__len__(values)
        return (values[-1] - values[0]) // values.step + 1


def _bisect():
    """A search of a range, or below a bound, that is beyond 32 bits."""
    spec = importlib.util.find_spec("bisect")
    slow = importlib.util.module_from_spec(spec)
    fast = sys.modules.pop("_bisect")
    sys.modules["_bisect"] = None
    spec.loader.exec_module(slow)
    sys.modules["_bisect"] = fast
    slow.len = _length

    def wide(quick, slowly):
        @functools.wraps(slowly)
        def search(a, x, lo=0, hi=None, *, key=None):
            try:
                return quick(a, x, lo, hi, key=key)
            except OverflowError:
                return slowly(a, x, lo, hi, key=key)

        return search

    bisect.bisect_left = wide(fast.bisect_left, slow.bisect_left)
    bisect.bisect_right = bisect.bisect = wide(fast.bisect_right, slow.bisect_right)

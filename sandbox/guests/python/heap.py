"""Where a run's objects lie.

A page that a run writes to is copied for it and set back after it, so what a run writes should lie
together. Importing the whole library leaves thousands of gaps in the heap, and the allocator fills
gaps first. So room is set aside before the library is loaded; the gaps are filled for good; and
the room is given back just before the snapshot, for the runs to fill side by side.

A run must also not write to objects of the snapshot where it only uses them: `note` tells the
builder where they lie, and the builder makes them immortal, so that nobody counts their users.
"""

import gc
import marshal
import sys
import types

_SIZES = [*range(1 << 20, 1 << 16, -(1 << 16)), *range(1 << 16, 1 << 12, -(1 << 10)),
          *range(1 << 12, 512, -64), *range(512, 8, -8)]
_FRESH_BYTES = 6 << 20
_HEAD_BYTES = 17
_TINY = 20_000

# The room of all runs, and before it the room of our own code: it is given back first.
_ROOMS = (4 << 20, 1 << 20)

# What the builder looks for.
_MARK = bytes(range(200, 232))

_OBJECTS_MAX = 232_000
_MEMORY_BYTES = 1 << 26

kept = []
rooms = []


def reserve():
    """Sets room aside for what comes last; to be called before anything else is loaded."""
    kept.append([None] * _OBJECTS_MAX)
    kept.append(_MARK + id(kept[0]).to_bytes(4, "little"))
    rooms.extend(bytes(size) for size in _ROOMS)


def release():
    """Gives the next room back, and leaves the allocator no other place for small objects."""
    room = rooms.pop()
    start, end = id(room), id(room) + len(room)
    del room
    for size in (8000, 2000, 200, 40):
        for _ in range(10_000):
            block = bytes(size)
            if start <= id(block) < end:
                break
            kept.append(block)


def settle():
    """Fills all gaps."""
    # The list must not grow while gaps are filled: it would leave gaps of its own.
    slots = [None] * 8_000
    end = id(bytes(_FRESH_BYTES))
    at = 0
    for size in _SIZES:
        length = max(size - _HEAD_BYTES, 1)
        while at < len(slots):
            block = bytes(length + 1)
            if id(block) >= end:
                break
            slots[at] = block
            at += 1
    kept.append(slots)
    # No object is as small as the smallest gaps; the arrays of these are.
    kept.append([bytearray(8) for _ in range(_TINY)])


def traced(work):
    """Does some work, and returns the code that it ran by its address."""
    ran = {}

    def note(frame, event, argument):
        ran[id(frame.f_code)] = frame.f_code

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return ran


def gather(modules, ran):
    """Puts the code of functions side by side: those of modules, and those of the library that ran.
    Python writes into code as it runs."""
    functions = [f for module in modules for f in _functions(vars(module), module.__name__)]
    known = set(map(id, functions))
    functions += [f for f in gc.get_objects() if type(f) is types.FunctionType
                  and id(f.__code__) in ran and id(f) not in known]
    codes = marshal.loads(marshal.dumps([function.__code__ for function in functions]))
    for function, code in zip(functions, codes):
        function.__code__ = code


def _functions(namespace, module):
    for value in namespace.values():
        value = getattr(value, "__func__", value)
        if getattr(value, "__module__", None) != module:
            continue
        if type(value) is types.FunctionType:
            yield value
        elif type(value) is type:
            yield from _functions(vars(value), module)


def note():
    """Keeps all objects for good, in a list that the builder finds."""
    objects, at = kept[0], 0
    seen = bytearray(_MEMORY_BYTES >> 5)  # A bit for each word.
    todo = gc.get_objects()
    while todo:
        one = todo.pop()
        place, bit = id(one) >> 5, 1 << (id(one) >> 2 & 7)
        if seen[place] & bit or one is todo or one is seen or one is rooms:
            continue
        seen[place] |= bit
        objects[at] = one
        at += 1
        todo += gc.get_referents(one)
        if type(one) is types.CodeType:
            todo += [one.co_consts, one.co_names, one.co_varnames, one.co_freevars,
                     one.co_cellvars, one.co_filename, one.co_name, one.co_qualname,
                     one.co_linetable, one.co_exceptiontable]

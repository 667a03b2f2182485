"""Gives the interpreter of a guest's snapshot a larger stack for its calls in C, in place.

A guest of `componentize-py` has 1 MiB for what C keeps in memory during calls: the cached function
`functools.cache` makes calls itself 2,500 deep in it, and 15,000 deep on a machine. The new stack lies behind
what the snapshot holds, and the thread state of CPython 3.14 is told of it.
"""

import struct

from snapshot import Memory, Strange, modules, number, sections

STACK_BYTES = 8 << 20
# Calls are refused this far from the end, and end the process at half of it: below lies what the snapshot
# holds.
MARGIN_BYTES = 128 << 10

_PAGE_BYTES = 1 << 16
_OLD_TOP = 1 << 20
# What CPython makes of it: `c_stack_top`, `c_stack_soft_limit`, `c_stack_hard_limit`.
_OLD_LIMITS = struct.pack("<3I", _OLD_TOP, 16 << 10, 8 << 10)
_MEMORY, _GLOBAL, _EXPORT = 5, 6, 7
_TOPS = (b"__stack_pointer", b"__stack_high")
_I32_CONST = 0x41


def deepen(wasm):
    """Writes into `wasm`, a bytearray."""
    for start, end in modules(wasm, 0, len(wasm)):
        parts = {section: at for section, at, _ in sections(wasm, start, end)}
        if _MEMORY in parts:
            return _deepen(wasm, parts, Memory(wasm, start, end))
    raise Strange("no core module has a memory")


def _deepen(wasm, parts, memory):
    pages_at = parts[_MEMORY] + 2  # behind the count and the flags
    pages, _ = number(wasm, pages_at)
    pages += STACK_BYTES // _PAGE_BYTES
    top = pages * _PAGE_BYTES
    low = top - STACK_BYTES
    _replace(wasm, pages_at, pages)
    exports = _exports(wasm, parts[_EXPORT])
    constants = _constants(wasm, parts[_GLOBAL])
    for name in _TOPS:
        at = constants[exports[name]]
        if number(wasm, at)[0] != _OLD_TOP:
            raise Strange(f"{name.decode()} is elsewhere")
        _replace(wasm, at, top)
    limits = memory.bytes.find(_OLD_LIMITS)
    if limits < 0 or memory.bytes.find(_OLD_LIMITS, limits + 1) >= 0:
        raise Strange("no thread state, or several, has the limits of the stack")
    for at, word in zip(range(limits, limits + 12, 4), (top, low + MARGIN_BYTES, low + MARGIN_BYTES // 2)):
        (source,) = memory.sources([at])
        struct.pack_into("<I", wasm, source, word)


def _exports(wasm, at):
    """The index of each global that is exported."""
    found = {}
    count, at = number(wasm, at)
    for _ in range(count):
        size, at = number(wasm, at)
        name, kind = bytes(wasm[at:at + size]), wasm[at + size]
        index, at = number(wasm, at + size + 1)
        if kind == 3:
            found[name] = index
    return found


def _constants(wasm, at):
    """Where the constant of each global lies; all are `i32.const`."""
    found = []
    count, at = number(wasm, at)
    for _ in range(count):
        if wasm[at + 2] != _I32_CONST:
            break
        found.append(at + 3)
        at = number(wasm, at + 3)[1] + 1  # `end`
    return found


def _replace(wasm, at, value):
    """Puts a LEB128 number in the place of another that has as many bytes."""
    size = number(wasm, at)[1] - at
    if value >> (7 * size - 1):
        raise Strange(f"{value} has more than {size} bytes")
    for index in range(size):
        more = 0x80 if index + 1 < size else 0
        wasm[at + index] = value >> (7 * index) & 0x7F | more

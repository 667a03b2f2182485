"""Makes the objects of a guest's snapshot immortal, in place.

The guest holds a list of its objects (`heap.note`) and a mark that tells where the list lies. The
layout of a list and of an object's head is that of CPython 3.12 and later on 32 bits.
"""

import struct

MARK = bytes(range(200, 232))

_IMMORTAL = 5 << 28  # _Py_IMMORTAL_INITIAL_REFCNT
_IMMORTAL_FROM = 1 << 29
_CORE_MODULE, _COMPONENT, _DATA = 1, 4, 11
_HEADER_BYTES = 8


class Strange(Exception):
    """The guest is not built as this module expects."""


def make_immortal(wasm):
    """Writes into `wasm`, a bytearray; returns how many objects were changed."""
    for start, end in modules(wasm, 0, len(wasm)):
        memory = Memory(wasm, start, end)
        for objects in memory.lists():
            return sum(memory.make_immortal(at) for at in objects)
    raise Strange("no core module holds the list of its objects")


class Memory:
    """What a core module puts into its memory, with the way back to the bytes of the file."""

    def __init__(self, wasm, start, end):
        self.wasm = wasm
        segments = list(_segments(wasm, start, end))
        self.bytes = bytearray(max((at + size for at, size, _ in segments), default=0))
        self.segments = sorted(segments)
        for at, size, source in segments:
            self.bytes[at:at + size] = wasm[source:source + size]

    def lists(self):
        """The objects of each list that a mark names; the mark alone also lies in code."""
        mark = self.bytes.find(MARK)
        while mark >= 0:
            at = self._word(mark + len(MARK))
            count, items = self._word(at + 8), self._word(at + 12)
            if 1000 < count and items + 4 * count <= len(self.bytes):
                found = struct.unpack_from(f"<{count}I", self.bytes, items)
                yield self.sources(sorted(set(found)))
            mark = self.bytes.find(MARK, mark + 1)

    def _word(self, at):
        return struct.unpack_from("<I", self.bytes, at)[0] if at + 4 <= len(self.bytes) else 0

    def sources(self, addresses):
        """Where the word at each address lies in the file; a word across two segments is left out."""
        segments = iter(self.segments)
        at, size, source = next(segments)
        for address in addresses:
            while at + size <= address:
                at, size, source = next(segments)
            if at <= address and address + 4 <= at + size:
                yield source + address - at

    def make_immortal(self, source):
        """Whether the object at this place of the file had its users counted."""
        count = struct.unpack_from("<I", self.wasm, source)[0]
        if not 0 < count < _IMMORTAL_FROM:
            return False
        struct.pack_into("<I", self.wasm, source, _IMMORTAL)
        return True


def modules(wasm, start, end):
    """Where each core module begins and ends."""
    for section, at, to in sections(wasm, start, end):
        if section == _CORE_MODULE:
            yield at, to
        elif section == _COMPONENT:
            yield from modules(wasm, at, to)


def sections(wasm, start, end):
    """The number of each section, where it begins, and where it ends."""
    at = start + _HEADER_BYTES
    while at < end:
        section = wasm[at]
        size, at = number(wasm, at + 1)
        yield section, at, at + size
        at += size


def _segments(wasm, start, end):
    """Address, size and place in the file of each active data segment."""
    for section, at, _ in sections(wasm, start, end):
        if section != _DATA:
            continue
        count, at = number(wasm, at)
        for _ in range(count):
            flags, at = number(wasm, at)
            if flags == 1:
                address = None
            elif flags == 0 and wasm[at] == 0x41:
                address, at = number(wasm, at + 1)
                at += 1
            else:
                break  # A module of the linker's, whose addresses are globals.
            size, at = number(wasm, at)
            if address is not None:
                yield address, size, at
            at += size


def number(wasm, at):
    """A LEB128 number; addresses are signed ones below 2^31, which read the same."""
    value = shift = 0
    while True:
        byte = wasm[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
